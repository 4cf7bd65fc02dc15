import { type Mutation, rewriting } from "./rewriting.ts";

const PURGE = /^delete from perdure_instance where ref in/;
const FINISH = /^update perdure_instance set\s+class = 0, available_at = null, recoveries = 0, outcome/;
const RESTART = /^update perdure_instance set\s+run = run \+ 1/;
const DELETE_LABEL = /^delete from perdure_label/;
const MARK_DELETED = /^insert into perdure_deleted_instance/;
const DELETE_EVENTS = /^delete from perdure_event where ref/;

/** Protections of what is kept, and of what goes with it. */
export const RETENTION_MUTATIONS: readonly Mutation[] = [
  rewriting("purging takes what isn't finished", [[PURGE, "purge_at <= ?2", "(purge_at <= ?2 or outcome is null)"]]),
  rewriting("what is restarted is purged all the same", [[RESTART, "purge_at = null,", ""]], {
    seed: 41,
    profile: { retentionMs: 60_000, programs: ["child", "exact"] },
  }),
  rewriting("what is complete is kept like what has failed", [
    [FINISH, "case ?1 when 'complete' then success_retention else error_retention end", "error_retention"],
  ]),
  rewriting("labels stay when their instance goes", [[DELETE_LABEL, "and ref = ?", "and ref = ? and false"]]),
  rewriting("no process sweeps up after a purge", [[MARK_DELETED, "values (?)", "select ? where false"]]),
  rewriting("events stay when their instance goes", [[DELETE_EVENTS, /ref = \?1?/, "$& and false"]]),
];
