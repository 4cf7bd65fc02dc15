import type { InstanceTraits } from "../instances/instance-records.ts";
import { WorkClass } from "./work-class.ts";

/** The lowest and the highest priority. */
export const LOWEST_PRIORITY = -100;
export const HIGHEST_PRIORITY = 100;

/**
 * A new row with a priority has a lane of its own, where `available_at` gives its order: this much earlier than now for each
 * step of priority. The step is longer than any time difference that occurs, so a higher priority always comes first, equal
 * priorities come in the order of time, and the index that serves claims serves priorities too. All these times are in the
 * past, so every such row is due.
 */
export const PRIORITY_STEP_MS = 10_000_000_000_000;

/** A time before that of every rank. */
export const BEFORE_ALL_RANKS = Number.MIN_SAFE_INTEGER;

/** Whether an instance shares slots or starts with others, and so must wait in line for them. */
export function isLimited(traits: InstanceTraits | null): boolean {
  return traits !== null && (traits.slotKey !== null || traits.rateKey !== null);
}

/** When, and before which others, a new or restarted instance is claimed. */
export function freshRank(
  { priority, limited }: { readonly priority: number; readonly limited: boolean },
  now: number,
): { readonly class: WorkClass; readonly availableAt: number } {
  if (priority === 0 && !limited) return { class: WorkClass.fresh, availableAt: now };
  const availableAt = now - (priority - LOWEST_PRIORITY + 1) * PRIORITY_STEP_MS;
  if (limited) return { class: WorkClass.lineFresh, availableAt };
  return { class: priority > 0 ? WorkClass.urgent : WorkClass.patient, availableAt };
}
