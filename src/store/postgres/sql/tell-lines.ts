import { LineKind } from "../../lines/line-records.ts";
import { WorkClass } from "../../queue/work-class.ts";
import { NOW, type SchemaPrefix, type Statement } from "./statement.ts";

/**
 * Parts of statements whose instances join lines or give up slots: their lines are made due in the same transaction. Such a
 * statement locks instances first and lines last, in the order of kinds and keys. Admission locks lines first and never waits
 * for an instance. So they can't deadlock.
 *
 * A statement that is a part of a longer transaction doesn't lock lines. It notes them in a setting that ends with the
 * transaction, and `tellNotedLines` is sent in one message with the commit: a client that falls silent never holds a line.
 */
export interface Telling {
  /** Whether lines are noted, to be told at the commit. */
  readonly later?: boolean;
}

const NOTED = "nullif(current_setting('perdure.lines', true), '')::jsonb";

/** The lines that `instances` join. */
function joined(instances: string): string {
  return `select joined.kind, joined.key, min(joined.namespace) as namespace, min(joined.name) as name, false as freed
  from (
    select case when instance.slot_key is null then ${LineKind.starts} else ${LineKind.slots} end as kind, coalesce(instance.slot_key, instance.rate_key) as key,
      instance.namespace, instance.name
    from ${instances} as instance
    where instance.class >= ${WorkClass.lineContinuing} and instance.available_at is not null
  ) as joined
  group by joined.kind, joined.key`;
}

/** Makes the lines of `instances` due now, unless they are blocked, and creates missing ones. Index: line_pkey. */
export function joinLines(schema: SchemaPrefix, instances: string, { later = false }: Telling = {}): string {
  if (later) return joined(instances);
  return `insert into ${schema}line as line (kind, key, namespace, name, available_at)
  select joined.kind, joined.key, joined.namespace, joined.name, clock.now
  from (${joined(instances)}) as joined cross join clock
  order by joined.kind, joined.key
  on conflict (kind, key) do update set available_at = least(line.available_at, excluded.available_at)
  where not line.blocked`;
}

/**
 * Makes the lines of these slots due now, and unblocks them: `slots` has the columns `slot_key`, and `namespace` and `name` if
 * they are told later. A line's row exists while an instance holds a slot. Index: line_pkey.
 */
export function freeSlots(schema: SchemaPrefix, slots: string, { later = false }: Telling = {}): string {
  if (later) {
    return `select distinct ${LineKind.slots} as kind, freed.slot_key as key, freed.namespace, freed.name, true as freed from (${slots}) as freed`;
  }
  return `update ${schema}line as line set blocked = false, available_at = clock.now
  from (
    select distinct ${LineKind.slots}::smallint as kind, freed.slot_key from (${slots}) as freed order by freed.slot_key limit (select null::bigint)
  ) as freed cross join clock
  where line.kind = any (array[freed.kind]) and line.key = any (array[freed.slot_key])`;
}

/**
 * A column for the answer of a statement that tells lines later, which must read it in at least one row: notes the lines that
 * these parts of the statement have found.
 */
export function noteLines(...parts: readonly string[]): string {
  const lines = parts.map((part) => `select * from ${part}`).join(" union all ");
  return `(select set_config('perdure.lines', (coalesce(${NOTED}, '[]') || coalesce(jsonb_agg(to_jsonb(line)), '[]'))::text, true)
    from (${lines}) as line) as noted`;
}

/** The column, if the statement tells lines later. */
export function andNoteLines({ later = false }: Telling, ...parts: readonly string[]): string {
  return later ? `, ${noteLines(...parts)}` : "";
}

/** The end of the name of a statement that tells lines later. */
export function whenTold({ later = false }: Telling): string {
  return later ? "_later" : "";
}

/**
 * Tells the lines that the statements of a transaction have noted: those with a free slot are unblocked. Index: line_pkey.
 */
export function tellNotedLines(schema: SchemaPrefix): Statement {
  return {
    name: "tell_noted_lines",
    text: `
with clock as materialized (select ${NOW} as now),
told as materialized (
  select line.kind, line.key collate "C" as key, min(line.namespace) as namespace, min(line.name) as name, bool_or(line.freed) as freed
  from jsonb_to_recordset(${NOTED}) as line(kind smallint, key text, namespace text, name text, freed boolean)
  group by line.kind, line.key collate "C"
)
insert into ${schema}line as line (kind, key, namespace, name, available_at)
select told.kind, told.key, told.namespace, told.name, clock.now from told cross join clock
order by told.kind, told.key
on conflict (kind, key) do update set blocked = false, available_at = least(line.available_at, excluded.available_at)
where not line.blocked or (excluded.kind, excluded.key) in (select told.kind, told.key from told where told.freed)`,
  };
}

/** Instances that stand in line since a transaction of the application's. Indexes: instance_pkey, line_pkey. */
export function joinLinesOf(schema: SchemaPrefix): Statement {
  return {
    name: "join_lines",
    tellsLater: true,
    text: `
with standing as materialized (
  select instance.* from unnest($1::text[]) as item(ref) cross join lateral (
    select instance.namespace, instance.name, instance.class, instance.available_at, instance.slot_key, instance.rate_key
    from ${schema}instance as instance where instance.ref = item.ref limit 1
  ) as instance
),
joined as (
  ${joinLines(schema, "standing", { later: true })}
)
select ${noteLines("joined")}`,
  };
}
