import { MOST_SWEPT } from "../../workers/worker-records.ts";

/** Writes that a worker lives. Index: the primary key. */
export const BEAT_WORKER = `
insert into perdure_worker (id, host, pid, version, hook_slots, workflow_slots, work, started_at, seen_at)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)
on conflict (id) do update set seen_at = excluded.seen_at`;

/** Deletes workers that have been silent for long. Indexes: perdure_worker_seen, then the primary key. */
export const SWEEP_WORKERS = `
delete from perdure_worker where id in (
  select id from perdure_worker where seen_at < ?1 order by seen_at limit ${MOST_SWEPT}
)`;

/** Deletes a worker that has stopped. Index: the primary key. */
export const REMOVE_WORKER = `
delete from perdure_worker where id = ?1`;

/** The workers of a namespace. Index: perdure_worker_seen, backwards. */
export const LIST_WORKERS = `
select worker.*, ?1 - worker.seen_at as silent_ms from perdure_worker as worker indexed by perdure_worker_seen
where worker.seen_at >= 0 and exists (select 1 from json_each(worker.work) as namespace where namespace.key = ?2)
order by worker.seen_at desc, worker.id limit ?3`;
