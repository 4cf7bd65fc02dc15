import type { SchemaPrefix } from "../../sql/statement.ts";
import { CALLED_AT, callersFunction, helperFunction } from "./sql-function.ts";

/** Commits that carry a notification wait for each other. Workers look again 100 ms after each notification. */
const NOTIFY_INTERVAL_MS = 50;

/**
 * Wakes workers after the commit of a transaction that has called these functions. Such a transaction has a row in `wake` until
 * it commits. A deferred trigger removes the row and sends a notification, unless another transaction has just sent one: then
 * the workers that it wakes find this work, too. The time of the last notification is the value of a sequence, which no
 * transaction locks.
 */
export function wakeFunctions(schema: SchemaPrefix): string[] {
  return [
    `create sequence ${schema}notified_at`,
    // Removed by its ctid: an index would make serializable transactions conflict.
    `create unlogged table ${schema}wake (at bigint not null) with (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
)`,
    ...callersFunction({
      signature: `${schema}notify_workers()`,
      returns: "trigger",
      body: `declare
  now_ms bigint := ${CALLED_AT};
begin
  delete from ${schema}wake where ctid = new.ctid;
  if (select last_value from ${schema}notified_at) not between now_ms - ${NOTIFY_INTERVAL_MS} and now_ms then
    perform setval('${schema}notified_at', now_ms);
    perform pg_notify('perdure_' || tg_table_schema, '');
  end if;
  return null;
end`,
    }),
    `create constraint trigger notify_workers after insert on ${schema}wake deferrable initially deferred
for each row execute function ${schema}notify_workers()`,
    ...helperFunction({
      signature: `${schema}wake_workers()`,
      returns: "void",
      volatile: true,
      body: `begin
  if current_setting('perdure.wakes', true) is distinct from '${schema.replaceAll("'", "''")}' then
    insert into ${schema}wake values (${CALLED_AT});
    perform set_config('perdure.wakes', '${schema.replaceAll("'", "''")}', true);
  end if;
end`,
    }),
  ];
}
