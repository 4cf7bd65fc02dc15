import type { Migration } from "../migration.ts";
import { WorkClass } from "../queue/work-class.ts";

/** The migrations that a database has applied. It exists before the first of them. */
export const MIGRATIONS_TABLE = `create table if not exists perdure_migration (
  owner text not null,
  number integer not null,
  name text not null,
  breaking integer not null,
  applied_at integer not null,
  primary key (owner, number)
) strict, without rowid;
`;

/**
 * The tables of Perdure in SQLite, on Node and in a Durable Object, in the order: hooks, instances and their dependents,
 * limits, schedules, subjects, requests, jobs, workers.
 *
 * A table with large values has row numbers (no `without rowid`). Without row numbers, a table is one b-tree in the order of
 * its primary key, and SQLite reads a whole row, with all its overflow pages, to compare its key with another. With row
 * numbers, it compares keys in indexes that hold nothing else. Small columns come before large ones, because SQLite reads a row
 * from its beginning. Times are milliseconds since 1970.
 */
const TABLES: readonly string[] = [
  // A hook, with the four queue columns of a claimable row (class, available_at, lock, recoveries). `available_at` alone
  // decides what is due: it is the due time of a pending hook, the end of the lease of a claimed one, and null once the hook is
  // finished. The
  // `next_` columns hold a trigger that arrived while the hook of its key was running. `latest_at` is how long debounced triggers may
  // postpone the hook at most, see `keyedTimes`. `confirmed` tells whether the owner has written that the attempt begins, and
  // `in_doubt` that an earlier owner was lost that may have begun, and whose loss isn't counted yet. `line_key` and `rate_key`
  // are the keys of its limits, see `HookLine`; most hooks have none.
  `create table perdure_hook (
  namespace text not null,
  id text not null,
  name text not null,
  key text,
  class integer not null,
  available_at integer,
  lock text,
  attempts integer not null,
  recoveries integer not null default 0,
  confirmed integer not null default 0,
  in_doubt integer not null default 0,
  own_id integer not null default 0,
  triggers integer not null default 1,
  created_at integer not null,
  triggered_at integer not null,
  last_trigger text,
  last_attempt_at integer,
  finished_at integer,
  purge_at integer,
  latest_at integer,
  next_at integer,
  next_triggers integer not null default 0,
  line_key text,
  rate_key text,
  retries text,
  trace text,
  next_retries text,
  next_trace text,
  error text,
  payload text not null check (json_valid(payload)),
  next_payload text,
  primary key (namespace, id)
) strict`,
  // The queue: claims, expired leases, and when the next hook is due. It has no finished hooks.
  "create index perdure_hook_due on perdure_hook (namespace, class, available_at, id) where available_at is not null",
  // Hooks with limits that hold a slot or stand in line, by key.
  `create index perdure_hook_line on perdure_hook (namespace, line_key, class, available_at, id)
where line_key is not null and available_at is not null and class >= ${WorkClass.leased}`,
  // At most one pending or running hook has a key.
  "create unique index perdure_hook_key on perdure_hook (namespace, name, key) where key is not null and available_at is not null",
  // Lists of dead letters.
  "create index perdure_hook_failed on perdure_hook (namespace, id) where available_at is null and error is not null",
  // Completed hooks whose retention is over.
  "create index perdure_hook_completed on perdure_hook (namespace, purge_at, id) where available_at is null and error is null",

  // An instance of a workflow, a claimable row like a hook. Its status follows from the queue columns until it has an outcome:
  // the first condition that holds decides. `version` is that of the workflow, 0 without. A row of the leased class without a
  // lock was given back after a recovery, and waits to be taken over. The columns from `success_retention` to `labels` are the
  // traits that only some instances have.
  // `timeout` is how long a run may take, and `deadline` when the present one must have ended.
  // `waiters` are the runs that wait for its end, see `StoredWaiter`: null for most, and once it is finished.
  `create table perdure_instance (
  ref text not null primary key,
  namespace text not null,
  name text not null,
  id text not null,
  version integer not null default 0,
  run integer not null default 1,
  class integer not null,
  available_at integer,
  lock text,
  recoveries integer not null default 0,
  confirmed integer not null default 0,
  recovered_position integer not null default 0,
  wakes integer not null default 0,
  paused integer not null default 0,
  paused_by text,
  outcome text,
  parent text,
  created_at integer not null,
  started_at integer,
  finished_at integer,
  purge_at integer,
  rolling_back text,
  success_retention integer,
  error_retention integer,
  timeout integer,
  deadline integer,
  priority integer not null default 0,
  slot_key text,
  rate_key text,
  schedule text,
  trace text,
  labels text,
  waiters text,
  rollback text,
  error text check (error is null or json_valid(error)),
  params text not null check (json_valid(params)),
  output text check (output is null or json_valid(output)),
  status text generated always as (
    case when outcome is not null then outcome
      when paused and class = ${WorkClass.leased} and lock is not null then 'waitingForPause'
      when paused then 'paused'
      when rolling_back is not null then 'rollingBack'
      when class = ${WorkClass.leased} and lock is not null then 'running'
      when error is not null then 'diverged'
      when started_at is null then 'queued'
      else 'waiting' end
  ) virtual
) strict`,
  // The id that a caller uses; also finds the names of all workflows that have instances.
  "create unique index perdure_instance_id on perdure_instance (namespace, name, id)",
  // The queue: claims, expired leases, and when the next instance is due. It has no paused or finished instances.
  "create index perdure_instance_due on perdure_instance (namespace, class, available_at, ref) where available_at is not null",
  // Lists and counts read these two alone. An owner's instance is in neither, so one that is born claimed and runs to its end
  // enters one of them once. Those that owners hold are in perdure_instance_due, and no more than there are slots.
  `create index perdure_instance_waiting on perdure_instance (namespace, name, status, ref, created_at)
where outcome is null and (class <> ${WorkClass.leased} or lock is null)`,
  `create index perdure_instance_finished on perdure_instance (namespace, name, outcome, ref, created_at, finished_at)
where outcome is not null`,
  // Finished instances whose retention is over.
  "create index perdure_instance_purge on perdure_instance (namespace, purge_at, ref) where purge_at is not null",
  // Unfinished instances with a timeout, by their deadlines. Most instances have none, and aren't in it.
  `create index perdure_instance_deadline on perdure_instance (namespace, deadline, ref)
where deadline is not null and outcome is null and rolling_back is null`,
  // Instances that hold a slot or wait in line for one.
  `create index perdure_instance_slots on perdure_instance (slot_key, class, available_at, ref)
where slot_key is not null and class >= ${WorkClass.leased}`,
  // Instances that have a rate but no slot, and wait in line for their start.
  `create index perdure_instance_starts on perdure_instance (rate_key, class, available_at, ref)
where rate_key is not null and slot_key is null and class >= ${WorkClass.lineContinuing}`,

  // The journal of each run, read in the order of positions. It has no other index: every step of every workflow writes here.
  // `began` is a step's index in the start order, where the order of first entries doesn't tell.
  `create table perdure_journal (
  ref text not null,
  run integer not null,
  position integer not null,
  kind text not null,
  type text not null,
  name text not null,
  count integer not null,
  attempt integer not null,
  due_at integer,
  event integer,
  parent text,
  at integer not null,
  began integer,
  value text check (value is null or json_valid(value)),
  primary key (ref, run, position)
) strict`,
  // Events that were sent to a run. The key is the event's id, so that an event that is sent again is stored once.
  `create table perdure_event (
  ref text not null,
  run integer not null,
  id text not null,
  sequence integer not null,
  type text not null,
  at integer not null,
  payload text not null check (json_valid(payload)),
  primary key (ref, run, id)
) strict`,
  // How earlier runs of a restarted instance ended.
  `create table perdure_past_run (
  ref text not null,
  run integer not null,
  version integer not null default 0,
  status text not null,
  started_at integer,
  finished_at integer,
  rollback text,
  error text,
  output text,
  primary key (ref, run)
) strict`,
  // Chunks of the streams that steps give.
  `create table perdure_stream_chunk (
  ref text not null,
  stream text not null,
  number integer not null,
  run integer not null,
  data blob not null,
  primary key (ref, stream, number)
) strict`,
  // Labels of instances, in the order in which lists search them. Most instances have none.
  `create table perdure_label (
  namespace text not null,
  name text not null,
  key text not null,
  value text not null,
  ref text not null,
  primary key (namespace, name, key, value, ref)
) strict, without rowid`,
  // Deleted instances whose dependents (journal, events, earlier runs, chunks) are still to be deleted.
  `create table perdure_deleted_instance (
  ref text not null primary key
) strict, without rowid`,

  // A line of instances that share a limit, see `Line`. `available_at` is when a worker should admit from it.
  `create table perdure_line (
  kind integer not null,
  key text not null,
  namespace text not null,
  name text not null,
  available_at integer,
  blocked integer not null default 0,
  primary key (kind, key)
) strict, without rowid`,
  // Lines that are due, and when the next one is.
  "create index perdure_line_due on perdure_line (namespace, available_at) where available_at is not null",
  // Starts that count against a rate.
  `create table perdure_start (
  key text not null,
  at integer not null,
  ref text not null,
  run integer not null,
  primary key (key, at, ref, run)
) strict, without rowid`,

  // Schedules: few rows, read together. They have no owner: the process that moves a row on from its due time has fired it.
  `create table perdure_schedule (
  namespace text not null,
  workflow text not null,
  name text not null,
  cron text not null,
  timezone text not null,
  due_at integer,
  last_at integer,
  paused integer not null default 0,
  confirmed_at integer not null,
  primary key (namespace, workflow, name, cron, timezone)
) strict, without rowid`,

  // A subject. `available_at` alone decides what can be claimed: it is the due time while the subject has no owner, the end of
  // the lease while it has one, and null when it rests or is retired. The revision alone fences.
  `create table perdure_subject (
  profile text not null,
  dispatcher_id text not null,
  subject_key text not null,
  group_key text,
  status text not null default 'idle',
  revision integer not null default 1,
  available_at integer,
  due_at integer,
  lease_owner text,
  attempts integer not null default 0,
  failures integer not null default 0,
  timeouts integer not null default 0,
  last_started_at integer,
  last_success_at integer,
  last_failure_at integer,
  created_at integer not null,
  updated_at integer not null,
  last_change text,
  error text check (error is null or json_valid(error)),
  cursor text not null check (json_valid(cursor)),
  meta text not null check (json_valid(meta)),
  primary key (profile, dispatcher_id, subject_key)
) strict`,
  // Claims, expired leases, and when the next subject is due.
  `create index perdure_subject_due on perdure_subject (profile, dispatcher_id, available_at, subject_key)
where available_at is not null`,
  // Claims that share their limit among groups.
  `create index perdure_subject_group_due on perdure_subject (profile, dispatcher_id, group_key, available_at, subject_key)
where available_at is not null and group_key is not null`,

  // Requests with an idempotency key, see `RequestStatements`.
  `create table perdure_request (
  namespace text not null,
  key text not null,
  fingerprint text not null,
  expires_at integer not null,
  target text not null,
  answer text,
  primary key (namespace, key)
) strict, without rowid`,
  // Requests that have expired.
  "create index perdure_request_expiry on perdure_request (expires_at)",

  // Jobs, see `JobStatements`. `available_at` is when a job can be claimed: the end of its lease; null when it has ended.
  `create table perdure_job (
  namespace text not null,
  id text not null,
  available_at integer,
  started_at integer not null,
  ended_at integer,
  cancelled integer not null default 0,
  lock text,
  actor text,
  request text not null check (json_valid(request)),
  progress text not null check (json_valid(progress)),
  primary key (namespace, id)
) strict`,
  // Jobs that ended long ago.
  "create index perdure_job_ended on perdure_job (namespace, ended_at) where ended_at is not null",

  // Workers that live, or have died not long ago, see `WorkerInsert`. In a Durable Object there are none.
  `create table perdure_worker (
  id text not null primary key,
  host text not null,
  pid integer,
  version text not null,
  hook_slots integer not null,
  workflow_slots integer not null,
  started_at integer not null,
  seen_at integer not null,
  work text not null check (json_valid(work))
) strict, without rowid`,
  // Workers in the order in which they were last seen.
  "create index perdure_worker_seen on perdure_worker (seen_at)",
];

/**
 * Released migrations are never edited: databases have applied them as they are. A change of the schema is a new migration at
 * the end.
 */
export const schemaMigrations: readonly Migration[] = [
  { owner: "perdure", number: 1, name: "tables", breaking: true, sql: `${TABLES.join(";\n")};\n` },
];
