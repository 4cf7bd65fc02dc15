import type { Client } from "pg";
import { NO_TRAITS } from "../../../../src/store/instances/instance-records.ts";
import type { ScheduleKey } from "../../../../src/store/schedules/schedule-records.ts";
import type { ScheduleStatements } from "../../../../src/store/schedules/schedule-statements.ts";
import type { StreamStatements } from "../../../../src/store/streams/stream-statements.ts";
import { ALL_ROWS, type PlannedStatement, type PlannedTables } from "./misled-plans.ts";
import { recordInstanceStatements, recordScheduleStatements, recordStreamStatements } from "./recorded-statements.ts";

/** Finished instances: many are kept, some are to be purged, and some deleted ones still have dependents. */

const PURGED = 200;
const purged = Array.from({ length: PURGED }, (_, index) => `purged-${String(index + 1).padStart(6, "0")}`);
const one = { namespace: "app", name: "checkout", id: "id-kept-000001" };

const keys = Array.from(
  { length: 20 },
  (_, index): ScheduleKey => ({
    namespace: "app",
    workflow: "checkout",
    name: `schedule-${index + 1}`,
    cron: "* * * * *",
    timezone: "UTC",
  }),
);
const timings = keys.map((key) => ({ ...key, dueAt: 1 }));
const key = keys[0] as ScheduleKey;

const schedules = (use: (statements: ScheduleStatements) => Promise<unknown>) => () => recordScheduleStatements(use);

const streams = (use: (statements: StreamStatements) => Promise<unknown>) => () => recordStreamStatements(use);
const LEASE = { ref: "kept-000001", run: 1, lock: "lock-1" };
const CHUNK = { stream: "new", number: 1, data: new Uint8Array() };

const SCHEDULE = ["schedule_pkey"];
const DEPENDENTS = ["event_pkey", "journal_pkey", "past_run_pkey", "stream_chunk_pkey"];

const STATEMENTS: PlannedStatement[] = [
  [
    "purge instances and sweep up their dependents",
    () =>
      recordInstanceStatements((instances) => instances.purge("app", PURGED), {
        purge_instances: () => [{ count: PURGED }],
        find_deleted_instances: () => purged.map((ref) => ({ ref })),
      }),
    ["deleted_instance_due", "deleted_instance_pkey", "instance_purge", "label_pkey", ...DEPENDENTS],
  ],
  [
    "delete an instance",
    () => recordInstanceStatements((instances) => instances.delete(one)),
    ["instance_id", "label_pkey", ...DEPENDENTS],
  ],
  ["insert schedules", schedules((statements) => statements.insert(timings)), SCHEDULE],
  ["confirm schedules", schedules((statements) => statements.confirm(keys)), SCHEDULE],
  ["retire schedules", schedules((statements) => statements.retire(keys, 1)), SCHEDULE],
  ["resume schedules", schedules((statements) => statements.resume(timings)), SCHEDULE],
  [
    "fire a schedule",
    schedules((statements) =>
      statements.fire({
        ...key,
        dueAt: 1,
        nextAt: 2,
        lastAt: 1,
        instance: {
          ...one,
          id: "new",
          ref: "new",
          params: "{}",
          version: 0,
          parent: null,
          traits: NO_TRAITS,
          lease: null,
        },
      }),
    ),
    SCHEDULE,
  ],
  ["list schedules", schedules((statements) => statements.list(["app"])), SCHEDULE, ALL_ROWS],
  [
    "pause schedules",
    schedules((statements) => statements.pause({ namespace: "app", workflow: "checkout", name: null })),
    SCHEDULE,
    ALL_ROWS,
  ],
  ["write a chunk", streams((statements) => statements.write(LEASE, CHUNK)), ["instance_pkey"]],
  ["read a chunk", streams((statements) => statements.read(LEASE.ref, "stream", 1)), ["stream_chunk_pkey"]],
  [
    "wipe streams",
    streams((statements) => statements.wipe({ ref: LEASE.ref, from: "a", below: "z", except: null, lease: LEASE })),
    ["instance_pkey", "stream_chunk_pkey"],
  ],
  ["wipe streams of runs", streams((statements) => statements.wipeRuns(LEASE.ref, 2)), ["stream_chunk_pkey"]],
];

const TABLES = [
  "instance",
  "journal",
  "event",
  "past_run",
  "stream_chunk",
  "label",
  "line",
  "deleted_instance",
  "schedule",
];

export const CATALOG: PlannedTables = {
  tables: TABLES.map((table) => `perdure.${table}`),
  fill: (client, size) => fill(client, { few: 50, some: 1000, many: 50_000 }[size]),
  statements: STATEMENTS,
  mostRows: PURGED * 6,
};

/** All of them are finished and have two labels and something in each table. */
async function fill(client: Client, many: number): Promise<void> {
  await client.query(
    `insert into perdure.instance
      (ref, namespace, name, id, params, created_at, started_at, finished_at, class, outcome, purge_at, labels)
    select ref, 'app', 'checkout', 'id-' || ref, '{}', 0, 0, 0, 0, 'complete',
      case kind when 'purged' then number else 4000000000000 + number end, '{"tenant":"a","region":"b"}'
    from (values ('kept', $1::int), ('purged', $2::int)) as kinds(kind, count),
      generate_series(1, count) as number, lateral (select kind || '-' || lpad(number::text, 6, '0') as ref) as made`,
    [many, PURGED],
  );
  for (const insert of [
    `journal (ref, run, position, kind, type, name, count, attempt, at) select ref, 1, 1, 'completed', 'do', 'charge', 1, 1, 0`,
    `event (ref, run, id, sequence, type, payload, at) select ref, 1, 'event', 1, 'go', '{}', 0`,
    `past_run (ref, run, status) select ref, 1, 'complete'`,
    `stream_chunk (ref, run, stream, number, data) select ref, 1, 'stream', 1, ''`,
    `label (namespace, name, key, value, ref) select namespace, name, 'tenant', 'a', ref`,
    `label (namespace, name, key, value, ref) select namespace, name, 'region', 'b', ref`,
    `line (kind, key, namespace, name) select 0, 'key-' || ref, namespace, name`,
    `deleted_instance (ref, due_at, final) select 'gone-' || ref, 4000000000000, true`,
  ])
    await client.query(`insert into perdure.${insert} from perdure.instance`);
  await client.query(
    `insert into perdure.deleted_instance (ref, due_at, final) select ref, 1, true from unnest($1::text[]) as gone(ref)`,
    [purged],
  );
  await client.query(
    `insert into perdure.schedule (namespace, workflow, name, cron, timezone, due_at, confirmed_at)
    select namespace, 'checkout', 'schedule-' || number, '* * * * *', 'UTC', 1, 0
    from (values ('app', 100), ('other', $1::int / 10)) as kinds(namespace, count), generate_series(1, count) as number`,
    [many],
  );
}
