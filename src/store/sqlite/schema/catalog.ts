/**
 * What people look for instances by, and what becomes of those that nobody needs any more. An instance's status follows from its
 * queue columns until it is finished: the first condition that holds tells it. A row of class 2 without an owner was given back
 * after a recovery, and waits to be taken over. SQLite can't read a column that it computes from an index alone, so the index has the
 * outcome: it answers lists and counts of finished instances by itself, and is written when one is created and when it ends. Only
 * labelled instances have labels, and only those that are to be purged are in the index for it.
 */
export const CATALOG = `alter table perdure_instance add column purge_at integer;
alter table perdure_instance add column status text generated always as (
  case when outcome is not null then outcome
    when paused and class = 2 and lock is not null then 'waitingForPause'
    when paused then 'paused'
    when rolling_back is not null then 'rollingBack'
    when class = 2 and lock is not null then 'running'
    when started_at is null then 'queued'
    else 'waiting' end
) virtual;
create index perdure_instance_outcome on perdure_instance (namespace, name, outcome, ref, created_at, finished_at);
create index perdure_instance_purge on perdure_instance (namespace, purge_at) where purge_at is not null;
create table perdure_label (
  namespace text not null,
  name text not null,
  key text not null,
  value text not null,
  ref text not null,
  primary key (namespace, name, key, value, ref)
) strict, without rowid;
create table perdure_deleted_instance (
  ref text not null primary key
) strict, without rowid;
`;
