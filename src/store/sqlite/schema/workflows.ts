/**
 * An instance is a claimable row like a hook; its journal lies in the order in which it is read. Few indexes: every step
 * of every workflow writes here.
 */
export const WORKFLOWS = `create table perdure_instance (
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
`;
