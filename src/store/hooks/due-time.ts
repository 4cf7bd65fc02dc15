import type { HookInsert } from "./hook-records.ts";

/** When a trigger that is written at this time is due, if it is alone. */
export function dueAt({ processAt, debounce, triggeredAt }: HookInsert, now: number): number {
  if (debounce === null) return Math.max(processAt ?? now, now);
  const quietAt = (triggeredAt ?? now) + debounce.delayMs;
  return Math.max(Math.min(quietAt, processAt ?? quietAt), now);
}

/** How far other triggers of its key may put it off; null if it isn't debounced, and so keeps the time at which it is due. */
export function latestAt({ processAt, debounce, triggeredAt }: HookInsert, now: number): number | null {
  if (debounce === null) return null;
  const latest = (triggeredAt ?? now) + debounce.maxWaitMs;
  return Math.max(Math.min(latest, processAt ?? latest), now);
}
