import type { Migration } from "../migration.ts";

/** The tables of Perdure in SQLite. Released migrations are never changed; new ones are added at the end. */
export const schemaMigrations: readonly Migration[] = [
  {
    owner: "perdure",
    number: 1,
    name: "hooks",
    breaking: true,
    // `available_at` alone drives the queue: when the row is due, the end of its lease while it is claimed, null when it is
    // finished. Rows lie in the order of their ids, which is that of time.
    sql: `create table perdure_hook (
  namespace text not null,
  id text not null,
  name text not null,
  key text,
  class integer not null,
  available_at integer,
  lock text,
  attempts integer not null,
  recoveries integer not null default 0,
  own_id integer not null default 0,
  triggers integer not null default 1,
  created_at integer not null,
  triggered_at integer not null,
  last_trigger text,
  last_attempt_at integer,
  finished_at integer,
  purge_at integer,
  payload text not null check (json_valid(payload)),
  retries text,
  trace text,
  next_at integer,
  next_payload text,
  next_retries text,
  next_trace text,
  next_triggers integer not null default 0,
  error text,
  primary key (namespace, id)
) strict, without rowid;
create index perdure_hook_due on perdure_hook (namespace, class, available_at) where available_at is not null;
create unique index perdure_hook_key on perdure_hook (namespace, name, key) where key is not null and available_at is not null;
create index perdure_hook_failed on perdure_hook (namespace, id) where available_at is null and error is not null;
create index perdure_hook_completed on perdure_hook (namespace, purge_at) where available_at is null and error is null;
`,
  },
  {
    owner: "perdure",
    number: 2,
    name: "workflows",
    breaking: false,
    // An instance is a claimable row like a hook; its journal lies in the order in which it is read. Few indexes: every step of
    // every workflow writes here.
    sql: `create table perdure_instance (
  ref text not null primary key,
  namespace text not null,
  name text not null,
  id text not null,
  run integer not null default 1,
  class integer not null,
  available_at integer,
  lock text,
  recoveries integer not null default 0,
  recovered_position integer not null default 0,
  wakes integer not null default 0,
  paused integer not null default 0,
  outcome text,
  parent text,
  created_at integer not null,
  started_at integer,
  finished_at integer,
  params text not null check (json_valid(params)),
  output text check (output is null or json_valid(output)),
  error text check (error is null or json_valid(error))
) strict, without rowid;
create unique index perdure_instance_id on perdure_instance (namespace, name, id);
create index perdure_instance_due on perdure_instance (namespace, class, available_at) where available_at is not null;
create table perdure_journal (
  ref text not null,
  run integer not null,
  position integer not null,
  kind text not null,
  type text not null,
  name text not null,
  count integer not null,
  attempt integer not null,
  value text check (value is null or json_valid(value)),
  due_at integer,
  event integer,
  parent text,
  at integer not null,
  primary key (ref, run, position)
) strict, without rowid;
create table perdure_event (
  ref text not null,
  run integer not null,
  id text not null,
  sequence integer not null,
  type text not null,
  payload text not null check (json_valid(payload)),
  at integer not null,
  primary key (ref, run, id)
) strict, without rowid;
create table perdure_past_run (
  ref text not null,
  run integer not null,
  status text not null,
  output text,
  error text,
  started_at integer,
  finished_at integer,
  primary key (ref, run)
) strict, without rowid;
`,
  },
  {
    owner: "perdure",
    number: 3,
    name: "subjects",
    breaking: false,
    // `available_at` alone decides what can be claimed: the due time while nobody has it, the end of the lease while somebody
    // does, null when it rests or is retired. The revision alone fences.
    sql: `create table perdure_subject (
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
  last_success_at integer,
  last_failure_at integer,
  created_at integer not null,
  updated_at integer not null,
  last_change text,
  cursor text not null check (json_valid(cursor)),
  meta text not null check (json_valid(meta)),
  error text check (error is null or json_valid(error)),
  primary key (profile, dispatcher_id, subject_key)
) strict, without rowid;
create index perdure_subject_due on perdure_subject (profile, dispatcher_id, available_at, subject_key) where available_at is not null;
create index perdure_subject_group_due on perdure_subject (profile, dispatcher_id, group_key, available_at, subject_key)
where available_at is not null and group_key is not null;
`,
  },
];

/** SQL that prepares a database for the first migration. */
export const MIGRATIONS_TABLE = `create table if not exists perdure_migration (
  owner text not null,
  number integer not null,
  name text not null,
  breaking integer not null,
  applied_at integer not null,
  primary key (owner, number)
) strict, without rowid;
`;
