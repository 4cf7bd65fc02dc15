import type { HookInsert } from "../hook-records.ts";
import { WorkClass } from "../work-class.ts";
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
    lease ? now + lease.leaseMs : Math.max(hook.processAt ?? now, now),
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
