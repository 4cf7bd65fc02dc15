/**
 * `available_at` alone decides what can be claimed: the due time while nobody has it, the end of the lease while somebody
 * does, null when it rests or is retired. The revision alone fences.
 */
export const SUBJECTS = `create table perdure_subject (
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
`;
