import { WorkClass } from "../../../queue/work-class.ts";
import type { SchemaPrefix, Statement } from "../statement.ts";
import { indexedBatch, isInstanceOf, NOW } from "../statement.ts";
import { andNoteLines, freeSlots, type Telling, whenTold } from "../tell-lines.ts";

/** What a batch of commits contains. Fewer columns cost less to send and to unnest. */
export interface CommitShape {
  /** `finishing`: some keep running, and the others are completed with an output. */
  readonly outcomes: "running" | "finishing" | "any";
  /** `plain`: only completed steps that have a value, aren't nested, and began in the order of their entries. */
  readonly entries: "plain" | "any";
  /** Whether some of those that end, park or are released hold slots. */
  readonly limited: boolean;
  /** Whether some of those that finish trigger hooks. */
  readonly hooks: boolean;
}

const LEASE = { ref: "text", run: "int", lock: "text" };
const ITEMS = {
  running: LEASE,
  finishing: { ...LEASE, output: "json" },
  any: { ...LEASE, kind: "text", due_at: "bigint", wakes: "int", output: "json", error: "json", rollback: "json" },
};
const PLAIN = {
  ref: "text",
  run: "int",
  position: "int",
  type: "text",
  name: "text",
  count: "int",
  attempt: "int",
  value: "json",
};
const ENTRIES = {
  plain: PLAIN,
  any: { ...PLAIN, kind: "text", due_at: "bigint", event: "int", parent: "text", began: "int" },
};

/** Equality in other words, as in `isInstanceOf`: PostgreSQL can't use these for a join. */
export const SENT_BY_OWNER =
  "instance.lock is not distinct from item.lock and instance.run is not distinct from item.run";
export const HELD = `instance.class = ${WorkClass.leased} and ${SENT_BY_OWNER}`;

/** The slots that the instances of a batch have given up. */
export const FREED = "select ended.slot_key, ended.namespace, ended.name from ended where ended.slot_key is not null";

const FINAL = "'completed', 'errored', 'terminated'";

/** An instance that others wait for ends in a transaction of its own, see `PostgresAwaitedEnds`. */
export const MAY_END = `(instance.waiters is null or item.kind not in (${FINAL}))`;

/**
 * The columns that an outcome writes, computed from the newest version of the row. A row never becomes due in the past: looks
 * may begin after it, see `QueueHorizon`.
 */
export const WRITE_OUTCOME = {
  finishing: `class = ${WorkClass.continuing}, available_at = null, recoveries = 0, outcome = 'complete', output = item.output, finished_at = clock.now,
    purge_at = clock.now + instance.success_retention`,
  any: `lock = case when item.kind = 'released' then null else instance.lock end,
    class = case when item.kind = 'rollingBack' or item.kind = 'released' and instance.recoveries > 0 then ${WorkClass.leased}
      when instance.slot_key is null or item.kind in (${FINAL}) then ${WorkClass.continuing} else ${WorkClass.lineContinuing} end,
    available_at = case
      when item.kind = 'rollingBack' then instance.available_at
      when instance.paused or item.kind in (${FINAL}) then null
      when item.kind = 'parked' and instance.wakes = item.wakes then greatest(item.due_at, clock.now)
      when item.kind = 'released' then greatest(coalesce(item.due_at, clock.now), clock.now)
      else clock.now end,
    recoveries = case when item.kind in ('released', 'rollingBack') then instance.recoveries else 0 end,
    outcome = case when item.kind = 'completed' then 'complete' when item.kind in (${FINAL}) then item.kind end,
    output = item.output,
    error = case when item.kind = 'terminated' then null else coalesce(item.error, instance.error) end,
    rolling_back = case when item.kind = 'rollingBack' then 'errored' when item.kind in (${FINAL}) then null else instance.rolling_back end,
    rollback = item.rollback,
    finished_at = case when item.kind in (${FINAL}) then clock.now end,
    purge_at = clock.now + case when item.kind = 'completed' then instance.success_retention when item.kind in (${FINAL}) then instance.error_retention end`,
};

/**
 * Appends entries and writes outcomes, for senders that still own their instances. Instances that keep running are read but not
 * locked: the position fences them, because only one owner can write it. A position that is taken is an error, and then nothing
 * is written. The other instances are locked in the order of the batch, which is that of refs.
 *
 * `in (select ref from held)` is a hash that is built once; a join would be planned as a scan of `held` per entry. A value that
 * isn't a single JSON value would make one entry too many: that entry has no ref, and is an error.
 * Indexes: instance_pkey, journal_pkey; line_pkey.
 */
export function commitInstances(
  schema: SchemaPrefix,
  { outcomes, entries, limited, hooks, later = false }: CommitShape & Telling,
): Statement {
  const telling = { later: limited && later };
  const items = indexedBatch(2, ITEMS[outcomes]);
  const firstEntry = 2 + Object.keys(ITEMS[outcomes]).length;
  return {
    name: `commit_${outcomes}_${entries}${limited ? "_limited" : ""}${hooks ? "_hooks" : ""}${whenTold(telling)}`,
    planOnce: true,
    ...(telling.later && { tellsLater: true }),
    text: `
with clock as materialized (select ${NOW} as now),
${outcomes === "running" ? stillHeld(schema, items) : finished(schema, items, outcomes)},
written as (
  ${insertEntries(schema, firstEntry, entries)}
  where coalesce(entry.ref in (select ref from held), entry.ref is null)
)${limited ? `,\nfreed as (\n  ${freeSlots(schema, FREED, telling)}\n)` : ""}${hooks ? triggerHooks(schema, firstEntry + Object.keys(ENTRIES[entries]).length, "ended") : ""}
${tellHeld("held", "wakes", andNoteLines(telling, "freed"))}`,
  };
}

/**
 * One row for the whole batch, because each row of an answer has its cost: which items of the batch were held, the wakes of
 * each in the same order, and which of them are paused.
 */
export function tellHeld(held: string, wakes: string, more: string): string {
  return `select (select now from clock) as at, string_agg(${held}.index::text, ',') as indexes, string_agg(${held}.${wakes}::text, ',') as wakes,
  string_agg(case when ${held}.paused then ${held}.index::text end, ',') as paused${more}
from ${held}`;
}

function stillHeld(schema: SchemaPrefix, items: string): string {
  return `held as materialized (${lookUp(schema, items)})`;
}

function finished(schema: SchemaPrefix, items: string, outcomes: "finishing" | "any"): string {
  const goesOn = outcomes === "finishing" ? "item.output is null" : "item.kind = 'running'";
  return `item as materialized (select * from ${items} as item),
ended as (
  update ${schema}instance as instance set
    ${WRITE_OUTCOME[outcomes]}
  from (select * from item where not (${goesOn})) as item cross join clock
  where ${isInstanceOf("instance", "item")} and ${HELD} and ${outcomes === "finishing" ? "instance.waiters is null" : MAY_END}
  returning instance.ref, item.index, instance.wakes, instance.paused, instance.slot_key, instance.namespace, instance.name
),
held as materialized (
  ${lookUp(schema, `(select * from item where ${goesOn})`)}
  union all
  select ended.ref, ended.index, ended.wakes, ended.paused from ended
)`;
}

function lookUp(schema: SchemaPrefix, items: string): string {
  return `select item.ref, item.index, found.wakes, found.paused from ${items} as item
  cross join lateral (
    select instance.wakes, instance.paused from ${schema}instance as instance where ${isInstanceOf("instance", "item")} and ${HELD} limit 1
  ) as found`;
}

/**
 * Triggers the hooks in the parameters from this one on, for the instances that this statement has finished: `ended` has their
 * refs.
 * Index: hook_pkey.
 */
export function triggerHooks(schema: SchemaPrefix, firstParameter: number, ended: string): string {
  const types = ["text", "text", "text", "text", "json"];
  const columns = types.map((type, index) => `$${firstParameter + index}::${type}[]`).join(", ");
  return `,
triggered as (
  insert into ${schema}hook (namespace, id, name, payload, created_at, triggered_at, class, available_at, attempts)
  select hook.namespace, hook.id, hook.name, hook.payload, clock.now, clock.now, ${WorkClass.fresh}, clock.now, 0
  from clock cross join unnest(${columns}) as hook(ref, namespace, id, name, payload)
  where hook.ref in (select ended.ref from ${ended} as ended)
)`;
}

/** Inserts the entries in the parameters from this one on. A condition may follow. */
export function insertEntries(schema: SchemaPrefix, firstParameter: number, entries: "plain" | "any"): string {
  const columns = Object.keys(ENTRIES[entries]);
  const kind = entries === "plain" ? ["kind"] : [];
  return `insert into ${schema}journal (${[...columns, ...kind, "at"].join(", ")})
  select ${columns.map((column) => `entry.${column}`).join(", ")}${entries === "plain" ? ", 'completed'" : ""}, clock.now
  from clock cross join ${entryRows(firstParameter, entries)}`;
}

/** The entries in the parameters from this one on. The values of plain entries are one JSON array, which costs less. */
export function entryRows(firstParameter: number, entries: "plain" | "any"): string {
  const columns = Object.entries(ENTRIES[entries]);
  const parameter = (index: number) => `$${firstParameter + index}`;
  const array = ([, type]: [string, string], index: number) => `${parameter(index)}::${type}[]`;
  const names = `entry(${columns.map(([name]) => name).join(", ")})`;
  if (entries === "any") return `unnest(${columns.map(array).join(", ")}) as ${names}`;
  const values = `json_array_elements(${parameter(columns.length - 1)}::json)`;
  return `rows from (unnest(${columns.slice(0, -1).map(array).join(", ")}), ${values}) as ${names}`;
}
