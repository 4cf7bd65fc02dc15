import type { SchemaPrefix } from "../sql/statement.ts";

/**
 * What people look for instances by, and what becomes of those that nobody needs any more. An instance's status follows from its
 * queue columns until it is finished: the first condition that holds tells it. A row of class 2 without an owner was given back
 * after a recovery, and waits to be taken over. The index of statuses answers lists and counts by itself, and has a collation of its own, so that nothing
 * else is looked up in it. Only labelled instances have labels, and only those that are to be purged are in the index for it.
 */
export function catalog(schema: SchemaPrefix): string {
  return `alter table ${schema}instance
  add column purge_at bigint,
  add column status text collate "C" generated always as (
    case when outcome is not null then outcome
      when paused and class = 2 and lock is not null then 'waitingForPause'
      when paused then 'paused'
      when rolling_back is not null then 'rollingBack'
      when class = 2 and lock is not null then 'running'
      when started_at is null then 'queued'
      else 'waiting' end
  ) stored;
create index instance_status on ${schema}instance (namespace collate "POSIX", name, status, ref collate "POSIX", created_at, finished_at);
create index instance_purge on ${schema}instance (namespace, purge_at) where purge_at is not null;

create table ${schema}label (
  namespace text collate "C" not null,
  name text collate "C" not null,
  key text collate "C" not null,
  value text collate "C" not null,
  ref text collate "C" not null,
  constraint label_pkey primary key (namespace, name, key, value, ref)
) with (vacuum_truncate = false);
insert into ${schema}label (namespace, name, key, value, ref)
select '', '', '', '', number from generate_series(1, 4000) as number;
delete from ${schema}label;

create table ${schema}deleted_instance (
  due_at bigint not null,
  final boolean not null,
  ref text collate "C" not null,
  constraint deleted_instance_pkey primary key (ref)
);
create index deleted_instance_due on ${schema}deleted_instance (due_at);
`;
}
