/**
 * Lines of instances whose workflows limit how many run at a time, or start in some time, and the starts that count. The indexes
 * of instances have only those with such limits, while they run or stand in line.
 */
export const LINES = `create table perdure_line (
  kind integer not null,
  key text not null,
  namespace text not null,
  name text not null,
  available_at integer,
  blocked integer not null default 0,
  primary key (kind, key)
) strict, without rowid;
create index perdure_line_due on perdure_line (namespace, available_at) where available_at is not null;
create table perdure_start (
  key text not null,
  at integer not null,
  ref text not null,
  run integer not null,
  primary key (key, at, ref, run)
) strict, without rowid;
create index perdure_instance_slots on perdure_instance (slot_key, class, available_at) where slot_key is not null and class >= 2;
create index perdure_instance_starts on perdure_instance (rate_key, class, available_at)
where rate_key is not null and slot_key is null and class >= 5;
`;
