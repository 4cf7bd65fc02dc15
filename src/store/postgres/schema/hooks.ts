import type { SchemaPrefix } from "../sql/statement.ts";

/**
 * `available_at` alone drives the queue: when the row is due, the end of its lease while it is claimed, null when it is finished.
 * Texts that we compare are in the "C" collation, whose order is that of bytes. `json` keeps what `jsonb` refuses. No foreign
 * keys and few indexes: every one of them is paid for by every hook. A claim writes a second version of each row, so pages
 * and the primary key's leaves are left with room for it. For the collation of hook_due see IN_QUEUE_ORDER.
 *
 * The table takes up some space from the beginning and keeps it when the queue is worked off. It will be full again; giving space
 * back locks it; and a table of a few pages looks cheap to read whole, by plans that stay when it has a million rows.
 */
export function hooks(schema: SchemaPrefix): string {
  return `create table ${schema}hook (
  available_at bigint,
  created_at bigint not null,
  triggered_at bigint not null,
  last_attempt_at bigint,
  finished_at bigint,
  purge_at bigint,
  next_at bigint,
  attempts integer not null,
  triggers integer not null default 1,
  next_triggers integer not null default 0,
  class smallint not null,
  recoveries smallint not null default 0,
  own_id boolean not null default false,
  namespace text collate "C" not null,
  id text collate "C" not null,
  name text collate "C" not null,
  key text collate "C",
  lock text collate "C",
  last_trigger text collate "C",
  payload json not null,
  retries json,
  trace json,
  next_payload json,
  next_retries json,
  next_trace json,
  error json,
  constraint hook_pkey primary key (namespace, id) with (fillfactor = 50)
) with (
  fillfactor = 70,
  vacuum_truncate = false,
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0.2,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 0
);
insert into ${schema}hook (namespace, id, name, payload, created_at, triggered_at, attempts, class)
select '', number, '', 'null', 0, 0, 0, 0 from generate_series(1, 2000) as number;
delete from ${schema}hook;
create index hook_due on ${schema}hook (namespace collate "POSIX", class, available_at, id) where available_at is not null;
create unique index hook_key on ${schema}hook (namespace, name, key) where key is not null and available_at is not null;
create index hook_failed on ${schema}hook (namespace, id) where available_at is null and error is not null;
create index hook_completed on ${schema}hook (namespace, purge_at) where available_at is null and error is null;
`;
}
