import type { HookOutcome } from "./hook-records.ts";

/** How long to wait before it is due again, or to keep what is completed; null where that doesn't apply, or is for ever. */
export function delayOf(outcome: HookOutcome): number | null {
  if (outcome.kind === "retry") return outcome.delayMs;
  if (outcome.kind === "released") return outcome.delayMs ?? null;
  return outcome.kind === "completed" && Number.isFinite(outcome.keepMs) ? outcome.keepMs : null;
}

/** The hook is completed and has no retention, so it is deleted. */
export function isUnwanted(outcome: HookOutcome): boolean {
  return outcome.kind === "completed" && outcome.keepMs === 0;
}
