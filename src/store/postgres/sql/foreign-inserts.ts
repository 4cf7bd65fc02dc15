import { RELAY } from "../../hooks/relay.ts";
import { WorkClass } from "../../queue/work-class.ts";
import { createdInstances } from "./instance-inserts.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";

/**
 * Statements that run in a transaction of the application's, on its connection and with its library. They only insert, so that they
 * wait for no other transaction, except for one that is creating the same id. Libraries differ in how they pass values, so every
 * parameter is a text, and the result is one text column, `result`.
 *
 * Outside of a transaction nothing is written and the result is null: each statement would be committed by itself. There, and
 * nowhere else, a statement begins with its transaction. Otherwise the result begins with the transaction's id.
 */
const CLOCK = `clock as materialized (
  select coalesce($1::text::bigint, (extract(epoch from statement_timestamp()) * 1000)::bigint) as now,
    statement_timestamp() > transaction_timestamp() as open
)`;

const TRANSACTION_ID = "case when clock.open then pg_current_xact_id()::text end";

/** A trigger, or a relay with its group. Index: hook_pkey. */
export function foreignInsertHook(schema: SchemaPrefix): Statement {
  return {
    name: "foreign_insert_hook",
    text: `
with ${CLOCK},
inserted as (
  insert into ${schema}hook (namespace, id, name, payload, retries, trace, own_id, created_at, triggered_at, class, available_at, attempts,
    relay_group, relay_order)
  select $2::text, $3::text, $4::text, $5::text::json, $6::text::json, $7::text::json, $8::text::boolean, clock.now, clock.now,
    ${WorkClass.fresh}, greatest(coalesce($9::text::bigint, clock.now), clock.now), 0,
    $10::text, case when $10::text is not null then nextval('${schema}relay_order') end
  from clock
  where clock.open
  on conflict (namespace, id) do nothing
)
select ${TRANSACTION_ID} as result from clock`,
  };
}

const INSTANCES = `json_to_recordset($2::text::json) as item(
  ref text, namespace text, name text, id text, params json, parent text, lock text, lease_ms bigint, traits json
)`;

/**
 * Instances. One whose id exists is left alone. Gives the transaction's id and the refs that are new, as JSON. An instance that
 * stands in line is made known to its line by a relay, because that locks the line. Indexes: instance_pkey, instance_id,
 * label_pkey, hook_pkey.
 */
export function foreignInsertInstances(schema: SchemaPrefix): Statement {
  return {
    name: "foreign_insert_instances",
    text: `
with ${CLOCK},
${createdInstances(schema, false, "clock.open", INSTANCES)},
relayed as (
  insert into ${schema}hook (namespace, id, name, payload, created_at, triggered_at, class, available_at, attempts)
  select created.namespace, 'relay~' || created.ref, '${RELAY}', json_build_object('kind', 'line', 'ref', created.ref),
    clock.now, clock.now, ${WorkClass.fresh}, clock.now, 0
  from created cross join clock
  where created.class >= ${WorkClass.lineContinuing}
)
select case when clock.open then json_build_object('transaction', pg_current_xact_id()::text, 'now', clock.now,
  'created', (select coalesce(json_agg(created.ref), '[]') from created))::text end as result
from clock`,
  };
}
