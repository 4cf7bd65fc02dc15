import type { HookInsert, SettleResult } from "../src/store/hook-records.ts";

/** What the database owes us of one hook, by what it has told its callers. */
export interface HookAccount {
  readonly id: string;
  readonly name: string;
  readonly key: string | null;
  state: "live" | "failed" | "completed" | "gone";
  /** The trigger whose payload runs now or next. */
  n: number;
  /** The trigger that is stored beside a running hook. */
  nextN: number | null;
  triggeredAt: number;
  lastTrigger: string;
  /** Who has claimed it; also when that lease is over, until somebody else has. */
  lock: string | null;
  /** When it is due, or the end of the lease. */
  availableAt: number;
  /** When the trigger beside it is due. */
  nextAt: number;
  purgeAt: number;
}

const PRESENT: Record<HookAccount["state"], SettleResult> = {
  live: "lost",
  failed: "failed",
  completed: "completed",
  gone: "deleted",
};

/** What somebody who doesn't own it any more is told who settles it again. */
export function presentResult({ state, lock }: HookAccount): SettleResult {
  return state === "live" && lock === null ? "pending" : PRESENT[state];
}

/** When a trigger that is written at this time is due. */
export function dueAt({ processAt }: HookInsert, at: number): number {
  return Math.max(processAt ?? at, at);
}
