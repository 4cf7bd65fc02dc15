import { dueAt, latestAt } from "../hooks/due-time.ts";
import type { HookInsert } from "../hooks/hook-records.ts";
import { WorkClass } from "../queue/work-class.ts";
import type { SqliteValue } from "./driver.ts";

/** What a trigger is written with, at this time. */
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
    lease ? WorkClass.leased : WorkClass.fresh,
    lease ? now + lease.leaseMs : dueAt(hook, now),
    lease?.lock ?? null,
    lease ? 1 : 0,
    lease ? now : null,
    hook.triggeredAt ?? now,
    hook.key,
    hook.triggers,
    hook.key === null ? null : hook.id,
    hook.ownId ? 1 : 0,
  ];
}

/** The same with a key. */
export function keyedHookValues(hook: HookInsert, now: number): SqliteValue[] {
  return [...hookValues(hook, now), latestAt(hook, now)];
}
