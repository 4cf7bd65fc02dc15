import type { InstanceTraits } from "../instances/instance-records.ts";
import { WorkClass } from "./work-class.ts";

/** The lowest and the highest priority. */
export const LOWEST_PRIORITY = -100;
export const HIGHEST_PRIORITY = 100;

/**
 * What is new and has a priority lies in a lane of its own, where `available_at` says its place: this much earlier than now for each
 * step of priority. It is longer than all times that there are, so a higher priority always comes first, and equal ones in the
 * order of time, with no index but the one that claims use. All of it is in the past, so all of it is due.
 */
export const PRIORITY_STEP_MS = 10_000_000_000_000;

/** A time before all places in lanes. */
export const BEFORE_ALL_PLACES = Number.MIN_SAFE_INTEGER;

/** Whether it shares slots or starts with others, and must stand in line for them. */
export function isLimited(traits: InstanceTraits | null): boolean {
  return traits !== null && (traits.slotKey !== null || traits.rateKey !== null);
}

/** Where a new instance, or a restarted one, waits for its start. */
export function freshPlace(
  { priority, limited }: { readonly priority: number; readonly limited: boolean },
  now: number,
): { readonly class: WorkClass; readonly availableAt: number } {
  if (priority === 0 && !limited) return { class: WorkClass.fresh, availableAt: now };
  const availableAt = now - (priority - LOWEST_PRIORITY + 1) * PRIORITY_STEP_MS;
  if (limited) return { class: WorkClass.lineFresh, availableAt };
  return { class: priority > 0 ? WorkClass.urgent : WorkClass.patient, availableAt };
}
