import { inCatalogOrder, type SchemaPrefix } from "../sql/statement.ts";

const STATUS_COLUMNS = ["namespace", "name", "status", "ref"];
const OUTCOME_COLUMNS = ["namespace", "name", "outcome"];

/**
 * What people look for instances by, and what becomes of those that nobody needs any more. An instance's status follows from its
 * queue columns until it is finished: the first condition that holds tells it. A row of class 2 without an owner was given back
 * after a recovery, and waits to be taken over. The index of statuses serves lists, and counts what isn't finished. That of outcomes
 * counts what is: its entries are alike, so PostgreSQL keeps them in a few bytes each. Both are in a collation of their own, the
 * order of bytes by another name: an index serves only comparisons in its own, so they are never taken for anything else, of which
 * they would be read whole. Only labelled instances have labels, and only those that are to be purged are in the index for it.
 * Tables begin with some space like that of hooks; that of instances is written anew with the column.
 */
export function catalog(schema: SchemaPrefix): string {
  const inOrder = (columns: readonly string[]) =>
    columns.map((column) => `${column} ${inCatalogOrder(schema)}`).join(", ");
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
insert into ${schema}instance (created_at, class, ref, namespace, name, id, params)
select 0, 0, number, '', '', number, 'null' from generate_series(1, 2000) as number;
delete from ${schema}instance where namespace = '' and name = '';
create collation ${schema}catalog from "C";
create index instance_status on ${schema}instance (${inOrder(STATUS_COLUMNS)}, created_at, finished_at);
create index instance_outcome on ${schema}instance (${inOrder(OUTCOME_COLUMNS)}) where outcome is not null;
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
) with (vacuum_truncate = false);
insert into ${schema}deleted_instance (due_at, final, ref) select 0, true, number from generate_series(1, 4000) as number;
delete from ${schema}deleted_instance;
create index deleted_instance_due on ${schema}deleted_instance (due_at);
`;
}
