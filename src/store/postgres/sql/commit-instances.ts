import type { SchemaPrefix, Statement } from "./statement.ts";
import { isInstanceOf, NOW, placedBatch } from "./statement.ts";
import { freeSlots } from "./tell-lines.ts";

/** What a batch of commits consists of. Fewer columns are less to send and to take apart. */
export interface CommitShape {
  /** `finishing`: some stay with their owners and the others are completed, with an output. */
  readonly outcomes: "running" | "finishing" | "any";
  /** `plain`: nothing but completed steps that have a value, aren't inside of another, and began in the order of their entries. */
  readonly entries: "plain" | "any";
  /** Whether some of those that end or let go hold slots. */
  readonly limited: boolean;
  /** Whether hooks are triggered by some that finish. */
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

/** Equality by another name, as in `isInstanceOf`: these allow no join. */
export const SENT_BY_OWNER =
  "instance.lock is not distinct from item.lock and instance.run is not distinct from item.run";
export const HELD = `instance.class = 2 and ${SENT_BY_OWNER}`;

const FINAL = "'completed', 'errored', 'terminated'";

/** What each outcome makes of the row, decided on its newest version. */
export const WRITE_OUTCOME = {
  finishing: `class = 0, available_at = null, recoveries = 0, outcome = 'complete', output = item.output, finished_at = clock.now,
    purge_at = clock.now + instance.success_retention`,
  any: `lock = case when item.kind = 'released' then null else instance.lock end,
    class = case when item.kind = 'rollingBack' or item.kind = 'released' and instance.recoveries > 0 then 2
      when instance.slot_key is null or item.kind in (${FINAL}) then 0 else 5 end,
    available_at = case
      when item.kind = 'rollingBack' then instance.available_at
      when instance.paused or item.kind in (${FINAL}) then null
      when item.kind = 'parked' and instance.wakes = item.wakes then item.due_at
      when item.kind = 'released' then coalesce(item.due_at, clock.now)
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
 * Adds to journals and writes outcomes, for those that are still their senders'. The instances that go on running are only
 * looked at, and not locked: it is the position that two owners can't both have. A position that is taken is an error, and
 * nothing at all is written. The others are locked in the order of the batch, which is that of refs. Entries find out whether
 * their instance was held by a hash that is made once: the planner would rather look through all of them for each.
 * An entry too many, which only a value that isn't one value can make, has no ref and is an error.
 * Indexes: instance_pkey, journal_pkey; line_pkey.
 */
export function commitInstances(schema: SchemaPrefix, shape: CommitShape): Statement {
  const { outcomes, entries, limited, hooks } = shape;
  const items = placedBatch(2, ITEMS[outcomes]);
  const firstEntry = 2 + Object.keys(ITEMS[outcomes]).length;
  return {
    name: `commit_${outcomes}_${entries}${limited ? "_limited" : ""}${hooks ? "_hooks" : ""}`,
    planOnce: true,
    text: `
with clock as materialized (select ${NOW} as now),
${outcomes === "running" ? stillHeld(schema, items) : finished(schema, items, outcomes)},
written as (
  ${insertEntries(schema, firstEntry, entries)}
  where coalesce(entry.ref in (select ref from held), entry.ref is null)
)${limited ? `,\nfreed as (\n  ${freeSlots(schema, "select ended.slot_key from ended where ended.slot_key is not null")}\n)` : ""}${hooks ? triggerHooks(schema, firstEntry + Object.keys(ENTRIES[entries]).length, "ended") : ""}
${tellHeld("held", "wakes")}`,
  };
}

/**
 * One row for all, because rows are dear: the places of what was held in the batch, the wakes of each in the same order, and the
 * places of what is paused.
 */
export function tellHeld(held: string, wakes: string): string {
  return `select (select now from clock) as at, string_agg(${held}.place::text, ',') as places, string_agg(${held}.${wakes}::text, ',') as wakes,
  string_agg(case when ${held}.paused then ${held}.place::text end, ',') as paused
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
  where ${isInstanceOf("instance", "item")} and ${HELD}
  returning instance.ref, item.place, instance.wakes, instance.paused, instance.slot_key
),
held as materialized (
  ${lookUp(schema, `(select * from item where ${goesOn})`)}
  union all
  select ended.ref, ended.place, ended.wakes, ended.paused from ended
)`;
}

function lookUp(schema: SchemaPrefix, items: string): string {
  return `select item.ref, item.place, found.wakes, found.paused from ${items} as item
  cross join lateral (
    select instance.wakes, instance.paused from ${schema}instance as instance where ${isInstanceOf("instance", "item")} and ${HELD} limit 1
  ) as found`;
}

/**
 * Triggers the hooks that are parameters from this one on, of those instances that this very statement has finished: `ended` names
 * them. Index: hook_pkey.
 */
export function triggerHooks(schema: SchemaPrefix, firstParameter: number, ended: string): string {
  const types = ["text", "text", "text", "text", "json"];
  const columns = types.map((type, index) => `$${firstParameter + index}::${type}[]`).join(", ");
  return `,
triggered as (
  insert into ${schema}hook (namespace, id, name, payload, created_at, triggered_at, class, available_at, attempts)
  select hook.namespace, hook.id, hook.name, hook.payload, clock.now, clock.now, 1, clock.now, 0
  from clock cross join unnest(${columns}) as hook(ref, namespace, id, name, payload)
  where hook.ref in (select ended.ref from ${ended} as ended)
)`;
}

/** Entries that are parameters from this one on. A condition may follow. */
export function insertEntries(schema: SchemaPrefix, firstParameter: number, entries: "plain" | "any"): string {
  const columns = Object.keys(ENTRIES[entries]);
  const kind = entries === "plain" ? ["kind"] : [];
  return `insert into ${schema}journal (${[...columns, ...kind, "at"].join(", ")})
  select ${columns.map((column) => `entry.${column}`).join(", ")}${entries === "plain" ? ", 'completed'" : ""}, clock.now
  from clock cross join ${entryRows(firstParameter, entries)}`;
}

/** The values of plain ones come as one JSON array, and cost less. */
export function entryRows(firstParameter: number, entries: "plain" | "any"): string {
  const columns = Object.entries(ENTRIES[entries]);
  const parameter = (index: number) => `$${firstParameter + index}`;
  const array = ([, type]: [string, string], index: number) => `${parameter(index)}::${type}[]`;
  const names = `entry(${columns.map(([name]) => name).join(", ")})`;
  if (entries === "any") return `unnest(${columns.map(array).join(", ")}) as ${names}`;
  const values = `json_array_elements(${parameter(columns.length - 1)}::json)`;
  return `rows from (unnest(${columns.slice(0, -1).map(array).join(", ")}), ${values}) as ${names}`;
}
