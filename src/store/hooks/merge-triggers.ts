import type { Debounce, HookInsert } from "./hook-records.ts";

/**
 * Triggers of one key that are written together become one: the newest payload and policy, the earliest time, all counted. Of
 * those that are debounced the newest decides how long it must stay quiet, and none waits for longer than it may. Returns what
 * to write, and for each trigger its index there.
 */
export function mergeTriggers(triggers: readonly HookInsert[]): { merged: HookInsert[]; indexes: number[] } {
  const merged: HookInsert[] = [];
  const indexOfKey = new Map<string, number>();
  const indexes = triggers.map((trigger) => {
    if (trigger.key === null) return merged.push(trigger) - 1;
    const key = JSON.stringify([trigger.namespace, trigger.name, trigger.key]);
    const index = indexOfKey.get(key);
    if (index === undefined) {
      indexOfKey.set(key, merged.length);
      return merged.push(trigger) - 1;
    }
    merged[index] = collapse(merged[index] as HookInsert, trigger);
    return index;
  });
  return { merged, indexes };
}

function collapse(earlier: HookInsert, later: HookInsert): HookInsert {
  if (later.id === earlier.id) return earlier; // sent twice
  const [older, newest] = isNewer(later, earlier) ? [earlier, later] : [later, earlier];
  const atOnce = isDueAtOnce(earlier) || isDueAtOnce(later);
  return {
    ...newest,
    triggers: earlier.triggers + later.triggers,
    processAt: atOnce ? null : earliest(earlier.processAt, later.processAt),
    debounce: atOnce ? null : mergeDebounces(older.debounce, newest.debounce),
  };
}

function isDueAtOnce({ processAt, debounce }: HookInsert): boolean {
  return processAt === null && debounce === null;
}

function earliest(left: number | null, right: number | null): number | null {
  return left === null || right === null ? (left ?? right) : Math.min(left, right);
}

/** They are written at one time, so that theirs can be compared. */
function mergeDebounces(older: Debounce | null, newest: Debounce | null): Debounce | null {
  if (older === null || newest === null) return newest ?? older;
  const maxWaitMs = Math.min(older.maxWaitMs, newest.maxWaitMs);
  return { delayMs: Math.min(newest.delayMs, maxWaitMs), maxWaitMs };
}

/** Relayed triggers know when they were triggered; those that don't are triggered just now. */
function isNewer(later: HookInsert, earlier: HookInsert): boolean {
  return later.triggeredAt === null || (earlier.triggeredAt !== null && later.triggeredAt >= earlier.triggeredAt);
}
