import { LineKind } from "../../lines/line-records.ts";
import { WorkClass } from "../../queue/work-class.ts";
import { NOW, type SchemaPrefix, type Statement } from "./statement.ts";

/**
 * Parts of statements whose instances join lines or give up slots: their lines are made due in the same transaction. Such a
 * statement locks instances first and lines last, in the order of kinds and keys. Admission locks lines first and never waits
 * for an instance. So they can't deadlock.
 */

/** Makes the lines of `instances` due now, unless they are blocked, and creates missing ones. Index: line_pkey. */
export function joinLines(schema: SchemaPrefix, instances: string): string {
  return `insert into ${schema}line as line (kind, key, namespace, name, available_at)
  select joined.kind, joined.key, min(joined.namespace), min(joined.name), max(clock.now)
  from (
    select case when instance.slot_key is null then ${LineKind.starts} else ${LineKind.slots} end as kind, coalesce(instance.slot_key, instance.rate_key) as key,
      instance.namespace, instance.name
    from ${instances} as instance
    where instance.class >= ${WorkClass.lineContinuing} and instance.available_at is not null
  ) as joined cross join clock
  group by joined.kind, joined.key
  order by joined.kind, joined.key
  on conflict (kind, key) do update set available_at = least(line.available_at, excluded.available_at)
  where not line.blocked`;
}

/**
 * Makes the lines of these slot keys due now, and unblocks them. A line's row exists while an instance holds a slot. Index:
 * line_pkey.
 */
export function freeSlots(schema: SchemaPrefix, keys: string): string {
  return `update ${schema}line as line set blocked = false, available_at = clock.now
  from (
    select distinct ${LineKind.slots}::smallint as kind, freed.slot_key from (${keys}) as freed order by freed.slot_key limit (select null::bigint)
  ) as freed cross join clock
  where line.kind = any (array[freed.kind]) and line.key = any (array[freed.slot_key])`;
}

/** Instances that stand in line since a transaction of the application's. Indexes: instance_pkey, line_pkey. */
export function joinLinesOf(schema: SchemaPrefix): Statement {
  return {
    name: "join_lines",
    text: `
with clock as materialized (select ${NOW} as now),
standing as materialized (
  select instance.* from unnest($2::text[]) as item(ref) cross join lateral (
    select instance.namespace, instance.name, instance.class, instance.available_at, instance.slot_key, instance.rate_key
    from ${schema}instance as instance where instance.ref = item.ref limit 1
  ) as instance
)
${joinLines(schema, "standing")}`,
  };
}
