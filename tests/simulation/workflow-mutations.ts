import type { InstanceCommit, InstanceHistory } from "../../src/store/instances/instance-records.ts";
import type { InstanceStatements } from "../../src/store/instances/instance-statements.ts";
import { type Mutation, overriding, rewriting } from "./rewriting.ts";

const INSERT_ENTRY = /^insert into perdure_journal/;
const INSERT_EVENT = /^insert into perdure_event/;
const PARK =
  /^update perdure_instance set\s+class = case when slot_key is null then 0 else 5 end,\s+available_at = case when paused/;
const RELEASE = /^update perdure_instance set\s+lock = null, class = case when recoveries/;
const COUNT_RECOVERY = /^update perdure_instance set\s+recoveries = case when/;
const REACQUIRE = /^update perdure_instance set lock = \?1, class = 2, available_at = \?2/;
const FIND_DUE = /^select .* as due_at\s+from perdure_instance/s;
const RENEW = /^update perdure_instance set available_at = \?\s+where ref = \? and run = \? and lock = \?/;
const PAUSE = /^update perdure_instance set\s+paused = 1/;
const RESUME = /^update perdure_instance set\s+paused = 0/;
const TERMINATE = /^update perdure_instance set\s+outcome = 'terminated'/;
const RESTART = /^update perdure_instance set\s+run = run \+ 1/;
const WAKE = /^update perdure_instance set\s+wakes = wakes \+ 1/;
const INSERT = /^insert into perdure_instance/;
const COUNT_HELD = /^select count\(\*\) as held from perdure_instance/;
const COUNT_STARTS = /^select count\(\*\) as starts/;
const FREE_SLOT = /^update perdure_line set blocked = 0, available_at = \? where kind = 0/;
const JOIN_LINE = /^insert into perdure_line/;
const FINISH = /^update perdure_instance set\s+class = 0, available_at = null, recoveries = 0, outcome/;

const FIND_EXCEPTIONS = /^with owner\(lock, run\)/;

/** Protections of workflows. */
export const WORKFLOW_MUTATIONS: readonly Mutation[] = [
  { name: "commits ignore the fencing token", options: { wrapEngine: withoutFence }, seed: 38 },
  rewriting("a position that is taken is written over", [
    [INSERT_ENTRY, "insert into", "insert or replace into"],
    [INSERT_ENTRY, "on conflict (ref, run, position) do nothing", ""],
  ]),
  rewriting("commits of a batch ignore the fencing token", [[FIND_EXCEPTIONS, "instance.lock = owner.lock and", ""]]),
  rewriting("commits of a batch free no slots", [[FIND_EXCEPTIONS, "and instance.slot_key is null", ""]]),
  rewriting("parking overlooks what came in", [[PARK, "when wakes = ?", "when wakes = ? or true"]]),
  rewriting("parking forgets that it is paused", [[PARK, "case when paused then null when", "case when"]]),
  rewriting("giving back forgets that it is paused", [[RELEASE, "case when paused then null else ? end", "?"]]),
  rewriting("recoveries of instances don't count", [[COUNT_RECOVERY, "recoveries + 1", "recoveries"]]),
  rewriting("recoveries of instances count although something was done", [
    [COUNT_RECOVERY, "> recovered_position then 1", "> recovered_position then recoveries + 1"],
  ]),
  rewriting("an instance that has an owner can be claimed again", [
    [REACQUIRE, "lock = ?5 and class <> 2", "(lock = ?5 or true) and (class <> 2 or true)"],
  ]),
  rewriting("what is paused can be taken again", [[REACQUIRE, "and not paused", ""]], {
    seed: 19,
    profile: { programs: ["late"] },
  }),
  rewriting("claiming instances ignores leases", [[FIND_DUE, "available_at <= ?", "(available_at <= ? or class = 2)"]]),
  rewriting("claiming instances ignores the time", [[FIND_DUE, "available_at <= ?", "(available_at <= ? or true)"]]),
  rewriting("renewing instances ignores the owner", [[RENEW, "and lock = ?", "and (lock = ? or true)"]], {
    seed: 39,
    profile: { leaseMs: 6000, faultRate: 0.3, sameMachine: false },
  }),
  rewriting("pausing leaves it due", [[PAUSE, /available_at = case when .* end/, "available_at = available_at"]]),
  rewriting("resuming doesn't wake", [
    [
      RESUME,
      /available_at = case when (.*) when class = 6 then .* else \?1 end/,
      "available_at = iif($1, coalesce(?1, 0) * 0 + available_at, null)",
    ],
  ]),
  rewriting("terminating leaves it to its owner", [[TERMINATE, "lock = null, class = 0, available_at = null,", ""]]),
  rewriting("restarting goes on with the old run", [[RESTART, "run = run + 1,", ""]]),
  rewriting("events don't wake what waits", [
    [WAKE, /available_at = case .* end/, "available_at = available_at + 0 * ?"],
  ]),
  rewriting("events aren't counted", [[WAKE, "wakes = wakes + 1", "wakes = wakes"]]),
  rewriting("an event of the same id is stored again", [
    [INSERT_EVENT, "values (?, ?, ?", "values (?, ?, ? || random()"],
  ]),
  rewriting("an instance of the same id is created again", [
    [
      INSERT,
      "on conflict do nothing",
      "on conflict (namespace, name, id) do update set ref = excluded.ref, lock = null",
    ],
  ]),
  rewriting("finished instances stay due", [[FINISH, "available_at = null", "available_at = available_at"]]),
  rewriting("slots are given away although all are taken", [[COUNT_HELD, "count(*)", "0 * count(*)"]]),
  rewriting("starts don't count", [[COUNT_STARTS, "count(*)", "0 * count(*)"]]),
  rewriting("freeing a slot tells no one in line", [[FREE_SLOT, "where kind = 0", "where kind = 9"]]),
  rewriting("joining a line tells no worker", [[JOIN_LINE, "where not blocked", "where false"]]),
  rewriting("what was parked is claimed past its line", [
    [PARK, "case when slot_key is null then 0 else 5 end", "case when slot_key is null then 0 else 0 end"],
  ]),
  { name: "stored endings come in any order", options: { wrapInstances: inAnyOrder } },
  { name: "steps begin before the commit is acknowledged", options: { wrapInstances: acknowledgedEarly } },
  { name: "owners don't hear of pauses", options: { wrapInstances: withoutPauses } },
  { name: "events that come while it runs are overlooked", options: { wrapInstances: withoutNews }, seed: 48 },
];

/** Every commit has the token of the instance's present owner. */
function withoutFence(
  statements: InstanceStatements,
  read: (text: string) => Record<string, unknown>[],
): InstanceStatements {
  const withOwner = (commit: InstanceCommit): InstanceCommit => {
    const [row] = read(`select lock from perdure_instance where ref = '${commit.ref}'`);
    return { ...commit, lock: (row?.lock ?? commit.lock) as string };
  };
  return overriding(statements, {
    commit: (commits, sending) => statements.commit(commits.map(withOwner), sending),
  });
}

function inAnyOrder(statements: InstanceStatements): InstanceStatements {
  const reverse = (history: InstanceHistory): InstanceHistory => {
    const { entries } = history;
    return {
      ...history,
      entries: entries.map((entry) => ({ ...entry, position: entries.length + 1 - entry.position })),
    };
  };
  return overriding(statements, { load: async (runs) => (await statements.load(runs)).map(reverse) });
}

function acknowledgedEarly(statements: InstanceStatements): InstanceStatements {
  return overriding(statements, {
    commit: async (commits, sending) => {
      const written = statements.commit(commits, sending);
      if (commits.some(({ outcome }) => outcome.kind !== "running")) return written;
      written.catch(() => {});
      return commits.map(() => ({ result: "written", at: 0, wakes: 0, paused: false }));
    },
  });
}

function withoutPauses(statements: InstanceStatements): InstanceStatements {
  return overriding(statements, {
    commit: async (commits, sending) =>
      (await statements.commit(commits, sending)).map((result) =>
        result.result === "written" ? { ...result, paused: false } : result,
      ),
    claim: async (request) => (await statements.claim(request)).map((instance) => ({ ...instance, paused: false })),
    renew: async (leases, leaseMs) =>
      (await statements.renew(leases, leaseMs)).map((renewed) => ({ ...renewed, paused: false })),
  });
}

/** Nothing new since it was claimed. */
function withoutNews(statements: InstanceStatements): InstanceStatements {
  return overriding(statements, {
    loadEvents: async (requests) =>
      (await statements.loadEvents(requests)).map((loaded) => ({ ...loaded, events: [] })),
  });
}
