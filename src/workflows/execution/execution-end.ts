import type { InstanceOutcome } from "../../store/instances/instance-records.ts";
import { decodeValue } from "../../values/index.ts";
import type { Rollback } from "../rollback/rollback.ts";
import type { WrittenCommit } from "./commits.ts";
import type { ExecutionEnd } from "./execution-host.ts";
import type { RunResult } from "./run-result.ts";

export type FinalOutcome = Exclude<InstanceOutcome, { kind: "running" | "rollingBack" }>;

type ErroredOutcome = Extract<InstanceOutcome, { kind: "errored" }>;

/** The end of an execution: it comes once, unless it was parked and goes on. */
export class EndSignal {
  #end: ExecutionEnd | undefined;
  #settle: { resolve(end: ExecutionEnd): void; reject(error: unknown): void } | undefined;

  get end(): ExecutionEnd | undefined {
    return this.#end;
  }

  /** From now on it isn't over. */
  reopen(): void {
    this.#end = undefined;
  }

  wait(): Promise<ExecutionEnd> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  finish(end: ExecutionEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#settle?.resolve(end);
  }

  /** The store failed. */
  fail(error: unknown): void {
    this.#end = { kind: "abandoned" };
    this.#settle?.reject(error);
  }
}

/** What it came to, when that is written. */
export function toEnd(
  outcome: FinalOutcome,
  answer: WrittenCommit,
  { result, rollback }: { readonly result: RunResult | undefined; readonly rollback: Rollback | null },
): ExecutionEnd {
  if (outcome.kind === "completed") return { kind: "completed", output: outcome.output };
  if (outcome.kind === "released") return { kind: "released" };
  if (outcome.kind === "parked") return { kind: "parked", delayMs: delayOf(outcome, answer) };
  const failure = result !== undefined && "error" in result ? result.error : undefined;
  if (rollback === null) return { kind: "errored", error: (outcome as ErroredOutcome).error, thrown: failure };
  const rollbackError = failure === undefined ? {} : { rollbackError: failure };
  if (outcome.kind === "terminated") return { kind: "terminated", ...rollbackError };
  return { kind: "errored", error: outcome.error, thrown: decodeValue(outcome.error), ...rollbackError };
}

/** As the database decided it: how long until a parked instance is due. */
function delayOf({ dueAt, wakes }: { dueAt: number; wakes: number }, answer: WrittenCommit): number | null {
  if (answer.paused) return null;
  return answer.wakes === wakes ? Math.max(dueAt - answer.at, 0) : 0;
}
