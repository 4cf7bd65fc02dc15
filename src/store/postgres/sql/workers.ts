import { MOST_SWEPT } from "../../workers/worker-records.ts";
import { nextWakeOf, type QueueTable } from "./queue.ts";
import { foundRows, NOW, type SchemaPrefix, type Statement } from "./statement.ts";

/** The upsert of a worker, whose columns are parameters from the given one on. */
function upsert(schema: SchemaPrefix, first: number): string {
  const [id, host, pid, version, hooks, workflows, work] = Array.from({ length: 7 }, (_, index) => `$${first + index}`);
  return `insert into ${schema}worker as worker (id, host, pid, version, hook_slots, workflow_slots, work, started_at, seen_at)
values (${id}::text, ${host}::text, ${pid}::int, ${version}::text, ${hooks}::int, ${workflows}::int, ${work}::json, ${NOW}, ${NOW})
on conflict (id) do update set seen_at = excluded.seen_at`;
}

/** Writes that a worker lives. Index: worker_pkey. */
export function beatWorker(schema: SchemaPrefix): Statement {
  return { name: "beat_worker", text: upsert(schema, 2) };
}

/** `nextWake`, and the heartbeat of the worker that asks. Indexes: worker_pkey; hook_due or instance_due as there. */
export function nextWakeWithBeat(table: QueueTable, unclaimed: boolean): (schema: SchemaPrefix) => Statement {
  return (schema) => ({
    name: `next_${table}_wake${unclaimed ? "_and_names" : ""}_with_beat`,
    planOnce: true,
    text: `with beat as (${upsert(schema, unclaimed ? 9 : 7)})${nextWakeOf(schema, table, unclaimed ? 7 : undefined)}`,
  });
}

/** Deletes workers that have been silent for long. Index: worker_seen. */
export function sweepWorkers(schema: SchemaPrefix): Statement {
  const silent = `
  select worker.ctid from ${schema}worker as worker where worker.seen_at < ${NOW} - $2::bigint
  order by worker.seen_at limit ${MOST_SWEPT} for update skip locked`;
  return {
    name: "sweep_workers",
    text: `delete from ${schema}worker as worker using ${foundRows(silent)} as found where worker.ctid = found.ctid`,
  };
}

/** Deletes a worker that has stopped. Index: worker_pkey. */
export function removeWorker(schema: SchemaPrefix): Statement {
  return { name: "remove_worker", text: `delete from ${schema}worker as worker where worker.id = $1` };
}

/** The workers of a namespace. Index: worker_seen, backwards. */
export function listWorkers(schema: SchemaPrefix): Statement {
  return {
    name: "list_workers",
    text: `
select worker.*, ${NOW} - worker.seen_at as silent_ms from ${schema}worker as worker
where worker.work -> $2::text is not null
order by worker.seen_at desc limit $3`,
  };
}
