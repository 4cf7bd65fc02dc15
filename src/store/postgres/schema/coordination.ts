import { IN_QUEUE_ORDER, type SchemaPrefix } from "../sql/statement.ts";
import { reserveSpace } from "./storage.ts";

/**
 * Lines of instances that share a limit: how many run at a time, or how many start in some time. `available_at` is when a
 * worker should look at the line; a blocked line waits for a slot. line_pkey serves joining, locking and settling a line.
 */
export function line(schema: SchemaPrefix): string[] {
  const table = `${schema}line`;
  return [
    `create table ${table} (
  available_at bigint,
  kind smallint not null,
  blocked boolean not null default false,
  key text collate "C" not null,
  namespace text collate "C" not null,
  name text collate "C" not null,
  constraint line_pkey primary key (kind, key)
) with (
  fillfactor = 50,
  vacuum_truncate = false,
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
)`,
    ...reserveSpace(table, 4000, { kind: "0", key: "number", namespace: "''", name: "''" }),
    // The lines to look at next, and when.
    `create index line_due on ${table} (namespace, available_at, key) include (name, kind) where available_at is not null`,
  ];
}

/** Starts that count towards a rate. start_pkey serves counting those of a key, latest first, and deleting old ones. */
export function start(schema: SchemaPrefix): string[] {
  const table = `${schema}start`;
  return [
    `create table ${table} (
  at bigint not null,
  run integer not null,
  key text collate "C" not null,
  ref text collate "C" not null,
  constraint start_pkey primary key (key, at, ref, run)
) with (vacuum_truncate = false, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0)`,
    ...reserveSpace(table, 4000, { at: "0", run: "0", key: "repeat('x', 200)", ref: "number" }),
  ];
}

/**
 * Few rows, which are read all at once. No worker owns a schedule: the one that moves it on from the time at which it was due
 * has fired it. schedule_pkey serves every statement.
 */
export function schedule(schema: SchemaPrefix): string[] {
  return [
    `create table ${schema}schedule (
  due_at bigint,
  last_at bigint,
  confirmed_at bigint not null,
  paused boolean not null default false,
  namespace text collate "C" not null,
  workflow text collate "C" not null,
  name text collate "C" not null,
  cron text collate "C" not null,
  timezone text collate "C" not null,
  constraint schedule_pkey primary key (namespace, workflow, name, cron, timezone)
)`,
  ];
}

/** HTTP requests that may be sent again: see `RequestStatements`. request_pkey finds them. */
export function request(schema: SchemaPrefix): string[] {
  const table = `${schema}request`;
  return [
    `create table ${table} (
  expires_at bigint not null,
  namespace text collate "C" not null,
  key text collate "C" not null,
  fingerprint text collate "C" not null,
  target text not null,
  answer text,
  constraint request_pkey primary key (namespace, key)
)`,
    // Deleting expired requests.
    `create index request_expiry on ${table} (expires_at)`,
  ];
}

/** Jobs: see `JobStatements`. job_pkey serves owners and operators. */
export function job(schema: SchemaPrefix): string[] {
  const table = `${schema}job`;
  return [
    `create table ${table} (
  available_at bigint,
  started_at bigint not null,
  ended_at bigint,
  cancelled boolean not null default false,
  namespace text collate "C" not null,
  id text collate "C" not null,
  lock text collate "C",
  actor text,
  request text not null,
  progress text not null,
  constraint job_pkey primary key (namespace, id)
)`,
    // Jobs that ended long ago.
    `create index job_ended on ${table} (namespace ${IN_QUEUE_ORDER}, ended_at) where ended_at is not null`,
  ];
}

/** Workers that live, or have died not long ago: see `WorkerInsert`. worker_pkey serves heartbeats. */
export function worker(schema: SchemaPrefix): string[] {
  const table = `${schema}worker`;
  return [
    `create table ${table} (
  started_at bigint not null,
  seen_at bigint not null,
  pid integer,
  hook_slots integer not null,
  workflow_slots integer not null,
  id text collate "C" not null,
  host text not null,
  version text not null,
  work json not null,
  constraint worker_pkey primary key (id)
)`,
    // Listing workers, and deleting those that have been silent for long.
    `create index worker_seen on ${table} (seen_at)`,
  ];
}
