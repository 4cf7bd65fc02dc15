import type { SchemaPrefix } from "../sql/statement.ts";

/**
 * Lines of instances whose workflows limit how many run at a time, or start in some time, and the starts that count. The indexes
 * of instances have only those with such limits, while they run or stand in line. Tables begin with some space like that of hooks.
 */
export function lines(schema: SchemaPrefix): string {
  return `create table ${schema}line (
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
);
insert into ${schema}line (kind, key, namespace, name) select 0, number, '', '' from generate_series(1, 4000) as number;
delete from ${schema}line;
create index line_due on ${schema}line (namespace, available_at, key) include (name, kind) where available_at is not null;
create table ${schema}start (
  at bigint not null,
  run integer not null,
  key text collate "C" not null,
  ref text collate "C" not null,
  constraint start_pkey primary key (key, at, ref, run)
) with (vacuum_truncate = false, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
insert into ${schema}start (at, run, key, ref) select 0, 0, repeat('x', 200), number from generate_series(1, 4000) as number;
delete from ${schema}start;
create index instance_slots on ${schema}instance (slot_key, class, available_at, ref) where slot_key is not null and class >= 2;
create index instance_starts on ${schema}instance (rate_key, class, available_at, ref)
where rate_key is not null and slot_key is null and class >= 5;
`;
}
