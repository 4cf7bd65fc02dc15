import type { SchemaPrefix } from "../sql/statement.ts";

/**
 * `available_at` alone decides what can be claimed: the due time while nobody has it, the end of the lease while somebody does,
 * null when it rests or is retired. The revision alone fences. The table begins with some space like that of hooks, for the
 * same reason.
 */
export function subjects(schema: SchemaPrefix): string {
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
