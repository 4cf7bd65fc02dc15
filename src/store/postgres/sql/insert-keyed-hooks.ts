import { keyedTimes } from "../../hooks/keyed-times.ts";
import { COLUMNS, VALUES, values } from "./insert-columns.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { batch, isRowOf, NOW } from "./statement.ts";

const TRIGGERED_AT = "coalesce(item.triggered_at, clock.now)";
/** As in `dueAt` and `latestAt`; what is null counts for nothing. */
const DUE_AT = `greatest(coalesce(least(item.process_at, ${TRIGGERED_AT} + item.delay_ms), clock.now), clock.now)`;
const LATEST_AT = `case when item.max_wait_ms is not null
    then greatest(least(item.process_at, ${TRIGGERED_AT} + item.max_wait_ms), clock.now) end`;

/**
 * Triggers with and without keys. A key that a pending or running hook holds takes the trigger in: pending, the newest payload
 * and policy replace the stored ones; running, the trigger is stored beside it for once more. For the times see `keyedTimes`.
 * A trigger that is sent again counts once, and an older one that comes late doesn't replace a newer: it counts, and makes a
 * running hook run once more with what it has. The batch is in the order of ids; those with keys are locked after all others, in
 * the order of keys, as `inLockingOrder` has it.
 * Indexes: hook_pkey, hook_key.
 */
export function insertKeyedHooks(schema: SchemaPrefix): Statement {
  const text = "text";
  const contents = { namespace: text, id: text, name: text, payload: text, retries: text, trace: text };
  const times = { process_at: "bigint", lock: text, lease_ms: "bigint", own_id: "boolean" };
  const debounce = { delay_ms: "bigint", max_wait_ms: "bigint" };
  const items = batch(2, { ...contents, ...times, key: text, triggers: "int", triggered_at: "bigint", ...debounce });
  const { availableAt, nextAt, latestAt } = keyedTimes({ row: "hook", least: "least" });
  const pending = "hook.lock is null";
  const newer = "excluded.triggered_at >= hook.triggered_at";
  const replaced = (column: string) =>
    `case when ${pending} and ${newer} then excluded.${column} else hook.${column} end`;
  const stored = (column: string) =>
    `case when ${pending} then null when ${newer} then excluded.${column}
      when hook.next_at is null then hook.${column} else hook.next_${column} end`;
  return {
    name: "insert_keyed_hooks",
    text: `
with clock as materialized (select ${NOW} as now),
item as materialized (select * from ${items} as item),
plain as (
  insert into ${schema}hook (${COLUMNS}, triggered_at)
  select ${VALUES}, clock.now
  from item cross join clock
  where item.key is null
  on conflict (namespace, id) do nothing
  returning namespace, id
),
keyed as (
  insert into ${schema}hook as hook (${COLUMNS}, triggered_at, key, triggers, last_trigger, latest_at)
  select ${values(DUE_AT)}, ${TRIGGERED_AT}, item.key, item.triggers, item.id, ${LATEST_AT}
  from item cross join clock
  left join lateral (select true as exists from ${schema}hook as hook where ${isRowOf("hook", "item")} limit 1) as known on true
  where item.key is not null and known.exists is null
  order by item.namespace collate "C", item.name collate "C", item.key collate "C"
  on conflict (namespace, name, key) where key is not null and available_at is not null
  do update set
    payload = ${replaced("payload")},
    retries = ${replaced("retries")},
    trace = ${replaced("trace")},
    available_at = ${availableAt},
    attempts = case when ${pending} then 0 else hook.attempts end,
    triggers = hook.triggers + case when ${pending} then excluded.triggers else 0 end,
    next_at = ${nextAt},
    latest_at = ${latestAt},
    next_payload = ${stored("payload")},
    next_retries = ${stored("retries")},
    next_trace = ${stored("trace")},
    next_triggers = case when ${pending} then 0 else hook.next_triggers + excluded.triggers end,
    triggered_at = greatest(hook.triggered_at, excluded.triggered_at),
    last_trigger = excluded.last_trigger
  where hook.last_trigger is distinct from excluded.last_trigger
  returning hook.namespace, hook.id, hook.last_trigger
)
select namespace, id, id as trigger, clock.now from plain cross join clock
union all
select namespace, id, last_trigger, clock.now from keyed cross join clock`,
  };
}
