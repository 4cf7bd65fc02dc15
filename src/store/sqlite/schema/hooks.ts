/**
 * `available_at` alone drives the queue: when the row is due, the end of its lease while it is claimed, null when it is
 * finished. Rows lie in the order of their ids, which is that of time.
 */
export const HOOKS = `create table perdure_hook (
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
`;
