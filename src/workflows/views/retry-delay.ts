import type { HistoryEntry } from "../../store/instances/instance-records.ts";
import { delayOf } from "../../values/index.ts";

/** The delay after a failed attempt as it was computed, not what was left of it when it was written. */
export function retryDelayOf({ value, dueAt, at }: HistoryEntry): number {
  const computed = value === null ? null : delayOf(value);
  return computed ?? Math.max((dueAt ?? at) - at, 0);
}
