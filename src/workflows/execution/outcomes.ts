import type { InstanceOutcome } from "../../store/instances/instance-records.ts";
import { decodeValue, encodeError, markCaused, tame } from "../../values/index.ts";
import type { ExecutionEnd } from "./execution-host.ts";
import type { InstanceNews } from "./hold.ts";
import type { RunLimits } from "./run-limits.ts";

/** The end of the user's function, or of a rollback: an output, as it is stored, or a thrown error. */
export type RunResult =
  | { readonly output: string }
  /** `failedSteps`: the paths of the steps that made it throw. */
  | { readonly error: unknown; readonly failedSteps?: readonly string[] };

/** Outcomes after which the execution has no more to do. */
export type FinalOutcome = Exclude<InstanceOutcome, { kind: "running" | "rollingBack" }>;

type ErroredOutcome = Extract<InstanceOutcome, { kind: "errored" }>;

export const RUNNING: InstanceOutcome = { kind: "running" };
export const RELEASED: InstanceOutcome = { kind: "released" };

export function isFinal(outcome: InstanceOutcome): outcome is FinalOutcome {
  return outcome.kind !== "running" && outcome.kind !== "rollingBack";
}

/** The function returned this value. One that can't be stored is an error. */
export function toResult(value: unknown, limits: RunLimits): RunResult {
  try {
    return { output: limits.encodeOutput(value) };
  } catch (error) {
    return { error: tame(error) };
  }
}

export function toFinalOutcome(result: RunResult): Extract<InstanceOutcome, { kind: "completed" | "errored" }> {
  if ("output" in result) return { kind: "completed", output: result.output };
  return { kind: "errored", error: markCaused(encodeError(result.error), result.failedSteps ?? []) };
}

/** How an execution has ended, once its final outcome is written. `rolledBack`: the result is that of the rollback. */
export function toEnd(
  outcome: FinalOutcome,
  answer: InstanceNews,
  result: RunResult | undefined,
  { rolledBack }: { readonly rolledBack: boolean },
): ExecutionEnd {
  if (outcome.kind === "completed") return { kind: "completed", output: outcome.output };
  if (outcome.kind === "released") return { kind: "released" };
  if (outcome.kind === "parked") return { kind: "parked", delayMs: delayOf(outcome, answer) };
  const failure = result !== undefined && "error" in result ? result.error : undefined;
  if (!rolledBack) return { kind: "errored", error: (outcome as ErroredOutcome).error, thrown: failure };
  const rollbackError = failure === undefined ? {} : { rollbackError: failure };
  if (outcome.kind === "terminated") return { kind: "terminated", ...rollbackError };
  return { kind: "errored", error: outcome.error, thrown: decodeValue(outcome.error), ...rollbackError };
}

/** Milliseconds until a parked instance is due, as the database decided it; null while it is paused. */
function delayOf({ dueAt, wakes }: { dueAt: number; wakes: number }, answer: InstanceNews): number | null {
  if (answer.paused) return null;
  return answer.wakes === wakes ? Math.max(dueAt - answer.at, 0) : 0;
}
