import { makeId } from "../harness/make-id.ts";
import { makeOrder, STEPS, stepResult } from "./order.ts";

export const NAMESPACE = "bench";

/** Rows as an engine would have to write them, for the floors. */
export interface InstanceRow {
  readonly ref: string;
  readonly params: string;
}

export const OUTPUT = JSON.stringify({ steps: STEPS });
export const LEASE_MILLISECONDS = 30_000;

export function makeInstanceRow(steps: number, sequence: number): InstanceRow {
  return { ref: makeId(Date.now()), params: JSON.stringify(makeOrder(steps, sequence)) };
}

export function makeInstanceRows(count: number): InstanceRow[] {
  return Array.from({ length: count }, (_, index) => makeInstanceRow(STEPS, index));
}

export function stepValue(step: number): string {
  return JSON.stringify(stepResult(step));
}
