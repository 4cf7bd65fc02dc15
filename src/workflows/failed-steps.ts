import { ConflictError } from "../errors.ts";
import { decodeValue, describeError } from "../values/index.ts";
import { isInside, type StepEntries } from "./kept-entries.ts";
import { eventTimeout } from "./step-ending.ts";

/**
 * What to keep when the failed steps of a run are tried again: everything that had ended, but for those. They are the steps whose
 * errors ended the run: the function threw what one of them had thrown, or an error that has it as its cause or among its
 * `errors`. Where it threw an error of its own, it is the step that failed last. What failed before and was caught stays so.
 */
export function keptWithoutFailed(steps: readonly StepEntries[], error: string): StepEntries[] {
  const thrown = decodeValue(error);
  const failures = steps.filter(({ ending }) => ending?.kind === "failed" || ending?.kind === "timedOut");
  const reasons = new Set(withReasons(thrown).map(describe));
  let failed = failures.filter((step) => reasons.has(describe(errorOf(step))));
  if (failed.length === 0 && Reflect.get(Object(thrown), "code") !== "workflow.crash_loop") {
    failed = failures.toSorted((left, right) => positionOf(left) - positionOf(right)).slice(-1);
  }
  if (failed.length === 0) {
    throw new ConflictError(
      "instance.no_failed_step",
      "No step of this run has failed: its function threw by itself, or it ended its processes. Use restart(), with `from` if need be.",
    );
  }
  const again = (step: StepEntries) => failed.some(({ path }) => path === step.path || isBrokenInside(step, path));
  return steps.filter((step) => step.ending !== null && !again(step));
}

/** A step inside of a failed one that failed, too, would fail it again. */
function isBrokenInside(step: StepEntries, path: string): boolean {
  return isInside(step, path) && (step.ending?.kind === "failed" || step.ending?.kind === "timedOut");
}

/** An error, what it was caused by, and what it is made of. */
function withReasons(error: unknown, depth = 0): unknown[] {
  if (!(error instanceof Error) || depth > 10) return [error];
  const { cause } = error;
  const parts: unknown = Reflect.get(error, "errors");
  const inner = [...(cause === undefined ? [] : [cause]), ...(Array.isArray(parts) ? parts : [])];
  return [error, ...inner.flatMap((one) => withReasons(one, depth + 1))];
}

function errorOf({ ending }: StepEntries): unknown {
  if (ending?.kind === "timedOut") return eventTimeout(ending);
  return decodeValue(ending?.value as string);
}

function describe(error: unknown): string {
  const { name, message } = describeError(error);
  return `${name}: ${message}`;
}

function positionOf({ ending }: StepEntries): number {
  return ending?.position ?? 0;
}
