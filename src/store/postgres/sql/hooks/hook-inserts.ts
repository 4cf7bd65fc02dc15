import { keyedTimes } from "../../../hooks/keyed-times.ts";
import { WorkClass } from "../../../queue/work-class.ts";
import { batch, isRowOf, NOW, type SchemaPrefix, type Statement } from "../statement.ts";

/** The columns that every trigger writes. */
const COLUMNS = `namespace, id, name, payload, retries, trace, created_at, class, available_at, lock, attempts, last_attempt_at,
    own_id, line_key, rate_key`;

/** `dueAt` is when a trigger is due, unless it is born claimed. */
function values(dueAt: string): string {
  return `item.namespace, item.id, item.name, item.payload::json, item.retries::json, item.trace::json, clock.now,
    case when item.lock is not null then ${WorkClass.leased} when item.line_key is null then ${WorkClass.fresh} else ${WorkClass.lineFresh} end,
    case when item.lock is null then ${dueAt} else clock.now + item.lease_ms end,
    item.lock,
    case when item.lock is null then 0 else 1 end,
    case when item.lock is null then null else clock.now end,
    item.own_id, item.line_key, item.rate_key`;
}

const VALUES = values("greatest(coalesce(item.process_at, clock.now), clock.now)");

/**
 * The common case: new ids, no keys, nothing but a name and a payload, and all of them with the same lease or none. Without the
 * search for conflicts, and with fewer arrays to unnest, it costs half. An id that exists is an error, and nothing is written.
 * Index: hook_pkey.
 */
export function insertNewHooks(schema: SchemaPrefix): Statement {
  return {
    name: "insert_new_hooks",
    planOnce: true,
    text: `
insert into ${schema}hook (namespace, id, name, payload, created_at, triggered_at, class, available_at, lock, attempts, last_attempt_at)
select item.namespace, item.id, item.name, item.payload, clock.now, clock.now,
  case when clock.lock is null then ${WorkClass.fresh} else ${WorkClass.leased} end,
  case when clock.lock is null then clock.now else clock.now + clock.lease_ms end,
  clock.lock,
  case when clock.lock is null then 0 else 1 end,
  case when clock.lock is null then null else clock.now end
from (select ${NOW} as now, $6::text as lock, $7::bigint as lease_ms) as clock
cross join unnest($2::text[], $3::text[], $4::text[], $5::json[]) as item(namespace, id, name, payload)
returning created_at as now`,
  };
}

/**
 * Triggers without keys. An id that exists is left alone. Returns the new rows. The batch is in the order of ids. Index:
 * hook_pkey.
 */
export function insertHooks(schema: SchemaPrefix): Statement {
  return {
    name: "insert_hooks",
    planOnce: true,
    text: `
insert into ${schema}hook (${COLUMNS}, triggered_at)
select ${VALUES}, clock.now
from (select ${NOW} as now) as clock
cross join unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::text[], $10::bigint[], $11::boolean[],
    $12::text[], $13::text[])
  as item(namespace, id, name, payload, retries, trace, process_at, lock, lease_ms, own_id, line_key, rate_key)
on conflict (namespace, id) do nothing
returning namespace, id, id as trigger, created_at as now`,
  };
}

const TRIGGERED_AT = "coalesce(item.triggered_at, clock.now)";
/** As in `dueAt` and `latestAt`; `least` and `greatest` ignore nulls. */
const DUE_AT = `greatest(coalesce(least(item.process_at, ${TRIGGERED_AT} + item.delay_ms), clock.now), clock.now)`;
const LATEST_AT = `case when item.max_wait_ms is not null
    then greatest(least(item.process_at, ${TRIGGERED_AT} + item.max_wait_ms), clock.now) end`;

/**
 * Triggers with and without keys. If a pending or running hook has the key, it takes the trigger in. A pending hook gets the
 * newest payload and policy. A running hook stores the trigger in its `next_…` columns and runs again. For the times see
 * `keyedTimes`.
 *
 * A trigger that is sent twice counts once. An older trigger that arrives late doesn't replace a newer one: it is counted, and
 * makes a running hook run again with the payload that it has.
 *
 * The batch is in the order of ids. Hooks with keys are locked after all others, in the order of keys, as in `inLockingOrder`.
 * Indexes: hook_pkey, hook_key.
 */
export function insertKeyedHooks(schema: SchemaPrefix): Statement {
  const text = "text";
  const contents = { namespace: text, id: text, name: text, payload: text, retries: text, trace: text };
  const times = {
    process_at: "bigint",
    lock: text,
    lease_ms: "bigint",
    own_id: "boolean",
    line_key: text,
    rate_key: text,
  };
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

/** The hooks that hold triggers which were written before, found by id or by key. Indexes: hook_pkey, hook_key. */
export function findTriggeredHooks(schema: SchemaPrefix): Statement {
  const columns = "hook.id, hook.lock, hook.created_at";
  return {
    name: "find_triggered_hooks",
    text: `
select item.namespace, item.id as trigger, holder.id, holder.lock, holder.created_at
from ${batch(1, { namespace: "text", id: "text", name: "text", key: "text" })} as item
cross join lateral (
  select ${columns} from ${schema}hook as hook where ${isRowOf("hook", "item")}
  union all
  select ${columns} from ${schema}hook as hook
  where hook.namespace = item.namespace and hook.name = item.name and hook.key = item.key
    and hook.key is not null and hook.available_at is not null
  limit 1
) as holder`,
  };
}
