import type { SchemaPrefix } from "../sql/statement.ts";

/**
 * An instance is a claimable row like a hook. `ref` is ours, and names it in the other tables, which have no key but their own.
 * Finished and paused instances have no `available_at`, so the queue never reads them. Tables begin with some space like that
 * of hooks, for the same reason.
 */
export function workflows(schema: SchemaPrefix): string {
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
