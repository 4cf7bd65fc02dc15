import { dueAt, latestAt } from "../../hooks/due-time.ts";
import type { HookInsert } from "../../hooks/hook-records.ts";
import { keyedTimes } from "../../hooks/keyed-times.ts";
import { WorkClass } from "../../queue/work-class.ts";
import type { SqliteValue } from "../drivers/driver.ts";

/** The columns that every trigger writes, in the order of `hookValues`. */
const COLUMNS = `namespace, id, name, payload, retries, trace, created_at, class, available_at, lock, attempts, last_attempt_at,
  triggered_at, key, triggers, last_trigger, own_id, line_key, rate_key`;

/** The values of a trigger that is written at this time. */
export function hookValues(hook: HookInsert, now: number): SqliteValue[] {
  const { lease } = hook;
  return [
    hook.namespace,
    hook.id,
    hook.name,
    hook.payload,
    hook.retries,
    hook.trace,
    now,
    lease ? WorkClass.leased : hook.line === undefined ? WorkClass.fresh : WorkClass.lineFresh,
    lease ? now + lease.leaseMs : dueAt(hook, now),
    lease?.lock ?? null,
    lease ? 1 : 0,
    lease ? now : null,
    hook.triggeredAt ?? now,
    hook.key,
    hook.triggers,
    hook.key === null ? null : hook.id,
    hook.ownId ? 1 : 0,
    hook.line?.lineKey ?? null,
    hook.line?.rateKey ?? null,
  ];
}

/** The values of a trigger with a key. */
export function keyedHookValues(hook: HookInsert, now: number): SqliteValue[] {
  return [...hookValues(hook, now), latestAt(hook, now)];
}

/** A trigger without a key. Writes nothing if the id exists. Index: the primary key. */
export const INSERT_HOOK = `
insert into perdure_hook (${COLUMNS})
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (namespace, id) do nothing`;

const pending = "perdure_hook.lock is null";

const newer = "excluded.triggered_at >= perdure_hook.triggered_at";

const replaced = (column: string) =>
  `case when ${pending} and ${newer} then excluded.${column} else perdure_hook.${column} end`;

const stored = (column: string) =>
  `case when ${pending} then null when ${newer} then excluded.${column}
    when perdure_hook.next_at is null then perdure_hook.${column} else perdure_hook.next_${column} end`;

const times = keyedTimes({ row: "perdure_hook", least: "min" });

/**
 * A trigger with a key. If a pending or running hook has the key, the trigger becomes part of that hook. A pending hook takes
 * over the newest payload and retry policy. A running hook stores the trigger in its `next_` columns, and runs once more. For
 * the times see
 * `keyedTimes`. A trigger that is sent again counts once. An older trigger that arrives late doesn't replace a newer one: it is
 * counted, and a running hook runs once more with the values that it has. Indexes: the primary key, perdure_hook_key.
 */
export const INSERT_KEYED_HOOK = `
insert into perdure_hook (${COLUMNS}, latest_at)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (namespace, id) do nothing
on conflict (namespace, name, key) where key is not null and available_at is not null
do update set
  payload = ${replaced("payload")},
  retries = ${replaced("retries")},
  trace = ${replaced("trace")},
  available_at = ${times.availableAt},
  attempts = case when ${pending} then 0 else perdure_hook.attempts end,
  triggers = perdure_hook.triggers + case when ${pending} then excluded.triggers else 0 end,
  next_at = ${times.nextAt},
  latest_at = ${times.latestAt},
  next_payload = ${stored("payload")},
  next_retries = ${stored("retries")},
  next_trace = ${stored("trace")},
  next_triggers = case when ${pending} then 0 else perdure_hook.next_triggers + excluded.triggers end,
  triggered_at = max(perdure_hook.triggered_at, excluded.triggered_at),
  last_trigger = excluded.last_trigger
where perdure_hook.last_trigger is not excluded.last_trigger
returning id`;

/**
 * The hook that already has a trigger: the hook with its id, or else with its key. Indexes: the primary key, perdure_hook_key.
 */
export const FIND_TRIGGERED_HOOK = `
select id, lock, created_at from perdure_hook where namespace = ?1 and id = ?2
union all
select id, lock, created_at from perdure_hook
where namespace = ?1 and name = ?3 and key = ?4 and key is not null and available_at is not null
limit 1`;

/** The hooks that a caller wants to cancel, as conditions. Index: the primary key or perdure_hook_key. */
export const CANCEL_TARGETS = {
  id: "namespace = ?1 and id = ?2 and available_at is not null",
  key: "namespace = ?1 and key = ?2 and name = ?3 and key is not null and available_at is not null",
} as const;

/** Deletes pending hooks. Index: as `CANCEL_TARGETS`. */
export function cancelPendingHooks(target: string): string {
  return `delete from perdure_hook where ${target} and lock is null returning id`;
}

/** Drops the trigger that would make a running hook run once more. Index: as `CANCEL_TARGETS`. */
export function cancelNextTriggers(target: string): string {
  return `
update perdure_hook set next_at = null, next_payload = null, next_retries = null, next_trace = null, next_triggers = 0,
  latest_at = null
where ${target} and lock is not null
returning id`;
}
