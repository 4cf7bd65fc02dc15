import { keepPastRun, TELL_CHANGE, tellLines, WRITE_RESTART } from "./change-instance.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { isInstanceOf, NOW } from "./statement.ts";

const COLUMNS = ["kind", "type", "name", "count", "attempt", "value", "due_at", "event", "parent", "at", "began"];

/**
 * A restart whose run begins with copies of some entries of the present run, at its first positions, and with the events that
 * they received, or, with `$8`, all of them; only if `$7` is the present run. Indexes: instance_id, then instance_pkey; journal_pkey, event_pkey.
 */
export function restartInstanceWith(schema: SchemaPrefix): Statement {
  const entry = COLUMNS.map((column) => `kept.${column}`).join(", ");
  return {
    name: "restart_instance_with",
    text: `
with clock as materialized (select ${NOW} as now),
found as materialized (
  select * from ${schema}instance as instance where instance.namespace = $2 and instance.name = $3 and instance.id = $4 for update
),
target as materialized (select * from found where found.run = $7),
${keepPastRun(schema, "true")}kept as materialized (
  select journal.* from target cross join lateral (
    select * from ${schema}journal as journal
    where ${isInstanceOf("journal", "target")} and journal.run = target.run and journal.position = any ($5::int[])
  ) as journal
),
entries as (
  insert into ${schema}journal (ref, run, position, ${COLUMNS.join(", ")})
  select kept.ref, kept.run + 1, row_number() over (order by kept.position), ${entry} from kept
),
events as (
  insert into ${schema}event (ref, run, id, sequence, type, payload, at)
  select event.ref, event.run + 1, event.id, event.sequence, event.type, event.payload, event.at
  from target cross join lateral (
    select * from ${schema}event as event where ${isInstanceOf("event", "target")} and event.run = target.run
  ) as event
  where $8::boolean or event.sequence in (select kept.event from kept where kept.event is not null)
),
changed as (
  update ${schema}instance as instance set
    ${WRITE_RESTART}
  from target cross join clock cross join lateral (select target.priority, target.slot_key, target.rate_key) as trait
  where ${isInstanceOf("instance", "target")}
  returning instance.*
)${tellLines(schema)}
${TELL_CHANGE.replace("from target as instance", "from found as instance")}`,
  };
}
