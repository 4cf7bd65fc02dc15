import type { SchemaPrefix } from "./statement.ts";

/**
 * Parts of statements that put instances into lines, or take slots from them: lines hear of it in the same transaction. Whoever
 * tells lines has locked instances before, and locks lines last, in the order of kinds and keys. Whoever admits locks lines first
 * and waits for no instance. So nobody waits in a circle.
 */

/** Somebody should look at these lines now, unless they are blocked. `instances` stand in line. Index: line_pkey. */
export function joinLines(schema: SchemaPrefix, instances: string): string {
  return `insert into ${schema}line as line (kind, key, namespace, name, available_at)
  select joined.kind, joined.key, min(joined.namespace), min(joined.name), max(clock.now)
  from (
    select case when instance.slot_key is null then 1 else 0 end as kind, coalesce(instance.slot_key, instance.rate_key) as key,
      instance.namespace, instance.name
    from ${instances} as instance
    where instance.class >= 5 and instance.available_at is not null
  ) as joined cross join clock
  group by joined.kind, joined.key
  order by joined.kind, joined.key
  on conflict (kind, key) do update set available_at = least(line.available_at, excluded.available_at)
  where not line.blocked`;
}

/** Somebody should look at these lines now, whatever blocked them. Their rows are there while anybody holds a slot. Index: line_pkey. */
export function freeSlots(schema: SchemaPrefix, keys: string): string {
  return `update ${schema}line as line set blocked = false, available_at = clock.now
  from (
    select distinct 0::smallint as kind, freed.slot_key from (${keys}) as freed order by freed.slot_key limit (select null::bigint)
  ) as freed cross join clock
  where line.kind = any (array[freed.kind]) and line.key = any (array[freed.slot_key])`;
}
