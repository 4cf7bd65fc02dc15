import type { HookInsert } from "./hook-records.ts";

/**
 * Triggers of one key that are written together become one: the newest payload and policy, the earliest time, all counted.
 * Gives what to write, and for each trigger its place there.
 */
export function mergeTriggers(triggers: readonly HookInsert[]): { merged: HookInsert[]; places: number[] } {
  const merged: HookInsert[] = [];
  const placeOfKey = new Map<string, number>();
  const places = triggers.map((trigger) => {
    if (trigger.key === null) return merged.push(trigger) - 1;
    const key = JSON.stringify([trigger.namespace, trigger.name, trigger.key]);
    const place = placeOfKey.get(key);
    if (place === undefined) {
      placeOfKey.set(key, merged.length);
      return merged.push(trigger) - 1;
    }
    merged[place] = collapse(merged[place] as HookInsert, trigger);
    return place;
  });
  return { merged, places };
}

function collapse(earlier: HookInsert, later: HookInsert): HookInsert {
  if (later.id === earlier.id) return earlier; // sent twice
  const atOnce = earlier.processAt === null || later.processAt === null;
  return {
    ...(isNewer(later, earlier) ? later : earlier),
    triggers: earlier.triggers + later.triggers,
    processAt: atOnce ? null : Math.min(earlier.processAt, later.processAt),
  };
}

/** Relayed triggers know when they were triggered; those that don't are triggered just now. */
function isNewer(later: HookInsert, earlier: HookInsert): boolean {
  return later.triggeredAt === null || (earlier.triggeredAt !== null && later.triggeredAt >= earlier.triggeredAt);
}
