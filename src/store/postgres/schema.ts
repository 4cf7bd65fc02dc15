import type { Migration } from "../migration.ts";
import type { SchemaPrefix } from "./sql/statement.ts";

/** The tables of Perdure in PostgreSQL. Released migrations are never changed; new ones are added at the end. */
export function schemaMigrations(schema: SchemaPrefix): Migration[] {
  return [
    { owner: "perdure", number: 1, name: "hooks", breaking: true, sql: hooks(schema) },
    { owner: "perdure", number: 2, name: "workflows", breaking: false, sql: workflows(schema) },
    { owner: "perdure", number: 3, name: "subjects", breaking: false, sql: subjects(schema) },
  ];
}

/**
 * `available_at` alone drives the queue: when the row is due, the end of its lease while it is claimed, null when it is finished.
 * Texts that we compare are in the "C" collation, whose order is that of bytes. `json` keeps what `jsonb` refuses. No foreign
 * keys and few indexes: every one of them is paid for by every hook. A claim writes a second version of each row, so pages
 * and the primary key's leaves are left with room for it. For the collation of hook_due see IN_QUEUE_ORDER.
 *
 * The table takes up some space from the beginning and keeps it when the queue is worked off. It will be full again; giving space
 * back locks it; and a table of a few pages looks cheap to read whole, by plans that stay when it has a million rows.
 */
function hooks(schema: SchemaPrefix): string {
  return `create table ${schema}hook (
  available_at bigint,
  created_at bigint not null,
  triggered_at bigint not null,
  last_attempt_at bigint,
  finished_at bigint,
  purge_at bigint,
  next_at bigint,
  attempts integer not null,
  triggers integer not null default 1,
  next_triggers integer not null default 0,
  class smallint not null,
  recoveries smallint not null default 0,
  own_id boolean not null default false,
  namespace text collate "C" not null,
  id text collate "C" not null,
  name text collate "C" not null,
  key text collate "C",
  lock text collate "C",
  last_trigger text collate "C",
  payload json not null,
  retries json,
  trace json,
  next_payload json,
  next_retries json,
  next_trace json,
  error json,
  constraint hook_pkey primary key (namespace, id) with (fillfactor = 50)
) with (
  fillfactor = 70,
  vacuum_truncate = false,
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0.2,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 0
);
insert into ${schema}hook (namespace, id, name, payload, created_at, triggered_at, attempts, class)
select '', number, '', 'null', 0, 0, 0, 0 from generate_series(1, 2000) as number;
delete from ${schema}hook;
create index hook_due on ${schema}hook (namespace collate "POSIX", class, available_at, id) where available_at is not null;
create unique index hook_key on ${schema}hook (namespace, name, key) where key is not null and available_at is not null;
create index hook_failed on ${schema}hook (namespace, id) where available_at is null and error is not null;
create index hook_completed on ${schema}hook (namespace, purge_at) where available_at is null and error is null;
`;
}

/**
 * An instance is a claimable row like a hook. `ref` is ours, and names it in the other tables, which have no key but their own.
 * Finished and paused instances have no `available_at`, so the queue never reads them. Tables begin with some space like that
 * of hooks, for the same reason.
 */
function workflows(schema: SchemaPrefix): string {
  return `create table ${schema}instance (
  available_at bigint,
  created_at bigint not null,
  started_at bigint,
  finished_at bigint,
  run integer not null default 1,
  wakes integer not null default 0,
  recoveries integer not null default 0,
  recovered_position integer not null default 0,
  class smallint not null,
  paused boolean not null default false,
  ref text collate "C" not null,
  namespace text collate "C" not null,
  name text collate "C" not null,
  id text collate "C" not null,
  parent text collate "C",
  lock text collate "C",
  outcome text collate "C",
  params json not null,
  output json,
  error json,
  constraint instance_pkey primary key (ref) with (fillfactor = 50)
) with (
  fillfactor = 70,
  vacuum_truncate = false,
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0.2,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 0
);
insert into ${schema}instance (created_at, class, ref, namespace, name, id, params)
select 0, 0, number, '', '', number, 'null' from generate_series(1, 2000) as number;
delete from ${schema}instance;
create unique index instance_id on ${schema}instance (namespace, name, id);
create index instance_due on ${schema}instance (namespace collate "POSIX", class, available_at, ref) where available_at is not null;

create table ${schema}journal (
  at bigint not null,
  due_at bigint,
  run integer not null,
  position integer not null,
  count integer not null,
  attempt integer not null,
  event integer,
  parent text,
  ref text collate "C" not null,
  kind text collate "C" not null,
  type text collate "C" not null,
  name text collate "C" not null,
  value json,
  constraint journal_pkey primary key (ref, run, position)
) with (
  vacuum_truncate = false,
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 0
);
insert into ${schema}journal (at, run, position, count, attempt, ref, kind, type, name)
select 0, 0, 0, 0, 0, number, '', '', '' from generate_series(1, 4000) as number;
delete from ${schema}journal;

create table ${schema}event (
  at bigint not null,
  run integer not null,
  sequence integer not null,
  ref text collate "C" not null,
  id text collate "C" not null,
  type text collate "C" not null,
  payload json not null,
  constraint event_pkey primary key (ref, run, id)
) with (
  vacuum_truncate = false,
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 0
);
insert into ${schema}event (at, run, sequence, ref, id, type, payload)
select 0, 0, 0, number, '', '', 'null' from generate_series(1, 4000) as number;
delete from ${schema}event;

create table ${schema}past_run (
  started_at bigint,
  finished_at bigint,
  run integer not null,
  ref text collate "C" not null,
  status text collate "C" not null,
  output json,
  error json,
  constraint past_run_pkey primary key (ref, run)
);
`;
}

/**
 * `available_at` alone decides what can be claimed: the due time while nobody has it, the end of the lease while somebody does,
 * null when it rests or is retired. The revision alone fences. The table begins with some space like that of hooks, for the
 * same reason.
 */
function subjects(schema: SchemaPrefix): string {
  return `create table ${schema}subject (
  available_at bigint,
  due_at bigint,
  last_success_at bigint,
  last_failure_at bigint,
  created_at bigint not null,
  updated_at bigint not null,
  revision bigint not null default 1,
  attempts integer not null default 0,
  failures integer not null default 0,
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
) with (
  fillfactor = 70,
  vacuum_truncate = false,
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0.2,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 0
);
insert into ${schema}subject (profile, dispatcher_id, subject_key, cursor, meta, created_at, updated_at)
select '', '', number, 'null', 'null', 0, 0 from generate_series(1, 2000) as number;
delete from ${schema}subject;
create index subject_due on ${schema}subject (profile collate "POSIX", dispatcher_id, available_at, subject_key)
where available_at is not null;
create index subject_group_due on ${schema}subject (profile collate "POSIX", dispatcher_id, group_key, available_at, subject_key)
where available_at is not null and group_key is not null;
`;
}
