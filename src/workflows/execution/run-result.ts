import type { InstanceOutcome } from "../../store/instances/instance-records.ts";
import { encodeError, encodeValue, markCaused, tame } from "../../values/index.ts";

/** What the user's function came to: an output, as it is stored, or what it threw. */
export type RunResult =
  | { readonly output: string }
  /** `failedSteps`: the paths of the steps that made it throw. */
  | { readonly error: unknown; readonly failedSteps?: readonly string[] };

/** An output that can't be stored is an error. */
export function toRunResult(value: unknown, maxBytes: number): RunResult {
  try {
    return { output: encodeValue(value, { label: "The result of the workflow", maxBytes }) };
  } catch (error) {
    return { error: tame(error) };
  }
}

export function toFinalOutcome(result: RunResult): Extract<InstanceOutcome, { kind: "completed" | "errored" }> {
  if ("output" in result) return { kind: "completed", output: result.output };
  return { kind: "errored", error: markCaused(encodeError(result.error), result.failedSteps ?? []) };
}
