import { WorkClass } from "../../queue/work-class.ts";
import { IN_QUEUE_ORDER, inCatalogOrder, type SchemaPrefix, WAITS } from "../sql/statement.ts";
import { QUEUE_STORAGE, reserveSpace } from "./storage.ts";

/**
 * Hooks and relays. `available_at` alone drives the queue: when the row is due, the end of its lease while it is claimed, null
 * when it is finished. `lock` is the owner's token. `confirmed` says whether the present owner has written that it begins;
 * owners do that after a takeover and on the last attempt, where it must be known whether a lost owner had begun. `in_doubt`
 * says that an earlier owner was lost that may have begun, and whose loss isn't counted yet. The columns `next_…` are a trigger
 * that arrived for the key while the hook ran. `latest_at` is how far debounced triggers may put off a waiting hook with a key;
 * null is not at all (see `keyedTimes`). Relays whose order matters share a
 * `relay_group`, and have a `relay_order`. `line_key` and `rate_key` are the keys of its limits, see `HookLine`; most hooks have none.
 *
 * hook_pkey finds hooks by id: it serves renewals, settlements, operators' reads and changes, pages in the order of ids, and
 * the conflicts of inserts. Its leaves have room for the second version of each row.
 */
export function hook(schema: SchemaPrefix): string[] {
  const table = `${schema}hook`;
  return [
    `create table ${table} (
  available_at bigint,
  created_at bigint not null,
  triggered_at bigint not null,
  last_attempt_at bigint,
  finished_at bigint,
  purge_at bigint,
  next_at bigint,
  latest_at bigint,
  relay_order bigint,
  attempts integer not null,
  triggers integer not null default 1,
  next_triggers integer not null default 0,
  class smallint not null,
  recoveries smallint not null default 0,
  own_id boolean not null default false,
  confirmed boolean not null default false,
  in_doubt boolean not null default false,
  namespace text collate "C" not null,
  id text collate "C" not null,
  name text collate "C" not null,
  key text collate "C",
  lock text collate "C",
  last_trigger text collate "C",
  relay_group text collate "C",
  line_key text collate "C",
  rate_key text collate "C",
  payload json not null,
  retries json,
  trace json,
  next_payload json,
  next_retries json,
  next_trace json,
  error json,
  constraint hook_pkey primary key (namespace, id) with (fillfactor = 50)
) ${QUEUE_STORAGE}`,
    ...reserveSpace(table, 8000, {
      namespace: "''",
      id: "number",
      name: "''",
      payload: "'null'",
      created_at: "0",
      triggered_at: "0",
      attempts: "0",
      class: "0",
    }),
    // The queue, lane by lane: claims, the next wake-up, and the leases of a lane. For its collation see IN_QUEUE_ORDER.
    `create index hook_due on ${table} (namespace ${IN_QUEUE_ORDER}, class, available_at, id) where available_at is not null`,
    // Hooks with limits that hold a slot or stand in line, by key.
    `create index hook_line on ${table} (line_key, class, available_at, id)
where line_key is not null and available_at is not null and class >= ${WorkClass.leased}`,
    // At most one pending or running hook per key: triggers with keys, cancelling by key, redrives.
    `create unique index hook_key on ${table} (namespace, name, key) where key is not null and available_at is not null`,
    // Relays that must be done in the order in which they were written.
    `create sequence ${schema}relay_order`,
    `create index hook_relay on ${table} (namespace, relay_group, relay_order) where relay_group is not null`,
    // Lists of dead letters.
    `create index hook_failed on ${table} (namespace, id) where available_at is null and error is not null`,
    // Purges of completed hooks, and lists of them.
    `create index hook_completed on ${table} (namespace, purge_at) where available_at is null and error is null`,
  ];
}

/**
 * Instances of workflows: claimable rows like hooks. `ref` is Perdure's own name for an instance, is never reused, and names it
 * in the other tables. `version` is that of the workflow, 0 without. Finished and paused instances have no `available_at`, so
 * the queue never reads them. `rolling_back` is the outcome that the instance has after its rollback, and `rollback` what
 * became of the rollback. The columns of
 * `InstanceTraits` are null or 0 for most instances. `timeout` is how long a run may take, and `deadline` when the present one must
 * have ended. `waiters` are the runs that wait for its end, see `StoredWaiter`: null for
 * most, and once it is finished.
 *
 * `status` follows from the other columns: the first condition that holds decides it. An unfinished instance has an error if it is
 * rolled back because of it, or if it is held because its code has diverged from its history; a claim clears the latter. A
 * leased row without a token was released after a recovery and waits to be taken over.
 *
 * instance_pkey finds instances by ref: it serves commits, renewals, loading and reacquiring.
 */
export function instance(schema: SchemaPrefix): string[] {
  const table = `${schema}instance`;
  const inOrder = (...columns: string[]) => columns.map((column) => `${column} ${inCatalogOrder(schema)}`).join(", ");
  const held = `class = ${WorkClass.leased} and lock is not null`;
  return [
    `create table ${table} (
  available_at bigint,
  created_at bigint not null,
  started_at bigint,
  finished_at bigint,
  purge_at bigint,
  success_retention bigint,
  error_retention bigint,
  timeout bigint,
  deadline bigint,
  run integer not null default 1,
  wakes integer not null default 0,
  recoveries integer not null default 0,
  recovered_position integer not null default 0,
  version integer not null default 0,
  class smallint not null,
  priority smallint not null default 0,
  paused boolean not null default false,
  confirmed boolean not null default false,
  ref text collate "C" not null,
  namespace text collate "C" not null,
  name text collate "C" not null,
  id text collate "C" not null,
  parent text collate "C",
  lock text collate "C",
  paused_by text collate "C",
  outcome text collate "C",
  rolling_back text collate "C",
  slot_key text collate "C",
  rate_key text collate "C",
  status text collate "C" generated always as (
    case when outcome is not null then outcome
      when paused and ${held} then 'waitingForPause'
      when paused then 'paused'
      when rolling_back is not null then 'rollingBack'
      when ${held} then 'running'
      when error is not null then 'diverged'
      when started_at is null then 'queued'
      else 'waiting' end
  ) stored,
  params json not null,
  output json,
  error json,
  rollback json,
  schedule json,
  trace text,
  labels json,
  waiters jsonb,
  constraint instance_pkey primary key (ref) with (fillfactor = 50)
) ${QUEUE_STORAGE}`,
    ...reserveSpace(table, 2000, {
      created_at: "0",
      class: "0",
      ref: "number",
      namespace: "''",
      name: "''",
      id: "number",
      params: "'null'",
    }),
    // Instances by the names that callers give them: creates, events, operators' changes, and the list of workflows in use.
    `create unique index instance_id on ${table} (namespace, name, id)`,
    // The queue, lane by lane, as hook_due.
    `create index instance_due on ${table} (namespace ${IN_QUEUE_ORDER}, class, available_at, ref) where available_at is not null`,
    // A collation that orders by bytes, as "C" does, under another name. An index serves only comparisons in its own
    // collation, so PostgreSQL never reads the two indexes below from end to end for another statement.
    `create collation ${schema}catalog from "C"`,
    // Lists and counts. An owner's instance is in neither index, so one that is born claimed and runs to its end enters one of
    // them once. Lists find those that owners hold in instance_due: they are no more than there are slots.
    `create index instance_waiting on ${table} (${inOrder("namespace", "name", "status", "ref")}, created_at) where ${WAITS}`,
    `create index instance_finished on ${table} (${inOrder("namespace", "name", "outcome", "ref")}, created_at, finished_at)
where outcome is not null`,
    // Purges.
    `create index instance_purge on ${table} (namespace, purge_at) where purge_at is not null`,
    // Unfinished instances with a timeout, by their deadlines. Most instances have none, and aren't in it.
    `create index instance_deadline on ${table} (namespace, deadline, ref)
where deadline is not null and outcome is null and rolling_back is null`,
    // Lines of instances that share slots: those that hold one, and those that wait for one, in order.
    `create index instance_slots on ${table} (slot_key, class, available_at, ref)
where slot_key is not null and class >= ${WorkClass.leased}`,
    // Lines of instances that share only a rate of starts: those that wait to start, in order.
    `create index instance_starts on ${table} (rate_key, class, available_at, ref)
where rate_key is not null and slot_key is null and class >= ${WorkClass.lineContinuing}`,
  ];
}

/**
 * Subjects. `available_at` alone decides which can be claimed: the due time while it has no owner, the end of the lease while
 * it has one, null when it rests or is retired. Only the revision fences. `timeouts` counts the leases that have run out in a
 * row. subject_pkey serves owners' changes, syncing, and pages in the order of keys.
 */
export function subject(schema: SchemaPrefix): string[] {
  const table = `${schema}subject`;
  const queue = `profile ${IN_QUEUE_ORDER}, dispatcher_id`;
  return [
    `create table ${table} (
  available_at bigint,
  due_at bigint,
  last_started_at bigint,
  last_success_at bigint,
  last_failure_at bigint,
  created_at bigint not null,
  updated_at bigint not null,
  revision bigint not null default 1,
  attempts integer not null default 0,
  failures integer not null default 0,
  timeouts integer not null default 0,
  profile text collate "C" not null,
  dispatcher_id text collate "C" not null,
  subject_key text collate "C" not null,
  group_key text collate "C",
  status text collate "C" not null default 'idle',
  lease_owner text collate "C",
  last_change text collate "C",
  cursor json not null,
  meta json not null,
  error json,
  constraint subject_pkey primary key (profile, dispatcher_id, subject_key)
) ${QUEUE_STORAGE}`,
    ...reserveSpace(table, 2000, {
      profile: "''",
      dispatcher_id: "''",
      subject_key: "number",
      cursor: "'null'",
      meta: "'null'",
      created_at: "0",
      updated_at: "0",
    }),
    // Claims of the subjects that have been due longest, and the next wake-up.
    `create index subject_due on ${table} (${queue}, available_at, subject_key) where available_at is not null`,
    // Claims that take from each group in turn.
    `create index subject_group_due on ${table} (${queue}, group_key, available_at, subject_key)
where available_at is not null and group_key is not null`,
  ];
}
