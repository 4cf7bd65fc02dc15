import { RELAY } from "../../hooks/relay.ts";
import { WorkClass } from "../../queue/work-class.ts";
import { createdInstances } from "./instances/instance-inserts.ts";
import { isNamedBy, type SchemaPrefix, type Statement } from "./statement.ts";

/**
 * Statements that run in a transaction of the application's, on its connection and with its library. They only insert, so that
 * they wait for no other transaction, except for one that is creating the same id. Libraries differ in how they pass values, so
 * every parameter is a text, and the result is one text column, `result`.
 *
 * The last two parameters are the identity of our database and the id of the transaction that the statement must be part of, or
 * null where an open transaction is certain. In another transaction, or committed by itself, it writes nothing and the result
 * is null. In another database it writes nothing either. Otherwise the result begins with the transaction's id.
 */
const clockOf = (schema: SchemaPrefix, own: string, transaction: string) => `place as materialized (
  select ${identityOf(schema)} = ${own}::text as ours,
    ${transaction}::text is null or pg_current_xact_id_if_assigned()::text is not distinct from ${transaction}::text as same
),
clock as materialized (
  select coalesce($1::text::bigint, (extract(epoch from statement_timestamp()) * 1000)::bigint) as now,
    place.ours and place.same as open, not place.ours as elsewhere
  from place
)`;

/**
 * Whether a row isn't known yet. In a repeatable read, PostgreSQL raises an error for a conflict with a row that has changed
 * since the transaction began, even if that row was there before, as that of a running instance: so it is looked up. A
 * serializable transaction doesn't look: others that write neighbours in the index would fail.
 */
export function isUnknown(known: string): string {
  return `case when current_setting('transaction_isolation') = 'repeatable read' then not exists (${known}) else true end`;
}

/** The result in a database that isn't ours. */
export const OTHER_DATABASE = "other database";

/** A copy of a database on the same server has another oid, and one of another server was migrated at another time. */
function identityOf(schema: SchemaPrefix): string {
  return `(select pg_database.oid::text || ' ' || extract(epoch from (select min(applied_at) from ${schema}migration))::text
    from pg_database where datname = current_database())`;
}

/** Identifies the database. Index: none; both tables are tiny. */
export function readIdentity(schema: SchemaPrefix): Statement {
  return { name: "read_identity", text: `select ${identityOf(schema)} as result` };
}

/** The id of the open transaction, also inside a savepoint. Index: none. */
export function readTransactionId(): Statement {
  return { name: "read_transaction_id", text: "select pg_current_xact_id()::text as result" };
}

const resultOf = (result: string) =>
  `case when clock.open then ${result} when clock.elsewhere then '${OTHER_DATABASE}' end as result`;

/** A trigger, or a relay with its group. Index: hook_pkey. */
export function foreignInsertHook(schema: SchemaPrefix): Statement {
  return {
    name: "foreign_insert_hook",
    text: `
with ${clockOf(schema, "$11", "$12")},
inserted as (
  insert into ${schema}hook (namespace, id, name, payload, retries, trace, own_id, created_at, triggered_at, class, available_at, attempts,
    relay_group, relay_order)
  select $2::text, $3::text, $4::text, $5::text::json, $6::text::json, $7::text::json, $8::text::boolean, clock.now, clock.now,
    ${WorkClass.fresh}, greatest(coalesce($9::text::bigint, clock.now), clock.now), 0,
    $10::text, case when $10::text is not null then nextval('${schema}relay_order') end
  from clock
  where clock.open and ${isUnknown(`select from ${schema}hook as known where known.namespace = $2::text and known.id = $3::text`)}
  on conflict (namespace, id) do nothing
)
select ${resultOf("pg_current_xact_id()::text")} from clock`,
  };
}

/** The params are beside the recordset, which refuses JSON with the escapes of texts that PostgreSQL's own can't have. */
const INSTANCES = `rows from (
  json_to_recordset($2::text::json) as (ref text, namespace text, name text, id text, version int, parent text, traits json),
  json_array_elements($3::text::json)
) as given(ref, namespace, name, id, version, parent, traits, params)
cross join lateral (
  select given.*, null::text as lock, null::bigint as lease_ms
) as item`;

/**
 * Instances. One whose id exists is left alone. Returns the transaction's id and the refs that are new, as JSON. An instance
 * that stands in line is made known to its line by a relay, because that locks the line. Indexes: instance_pkey, instance_id,
 * label_pkey, hook_pkey.
 */
export function foreignInsertInstances(schema: SchemaPrefix): Statement {
  return {
    name: "foreign_insert_instances",
    text: `
with ${clockOf(schema, "$4", "$5")},
${createdInstances(schema, false, { condition: `clock.open and ${isUnknown(`select from ${schema}instance as known where ${isNamedBy("known", "item")}`)}`, items: INSTANCES })},
relayed as (
  insert into ${schema}hook (namespace, id, name, payload, created_at, triggered_at, class, available_at, attempts)
  select created.namespace, 'relay~' || created.ref, '${RELAY}', json_build_object('kind', 'line', 'ref', created.ref),
    clock.now, clock.now, ${WorkClass.fresh}, clock.now, 0
  from created cross join clock
  where created.class >= ${WorkClass.lineContinuing}
)
select ${resultOf(`json_build_object('transaction', pg_current_xact_id()::text, 'now', clock.now,
  'created', (select coalesce(json_agg(created.ref), '[]') from created))::text`)}
from clock`,
  };
}
