import { ConflictError } from "../../errors.ts";
import { causesOf } from "../../values/index.ts";
import type { StepEntries } from "./kept-entries.ts";

/**
 * What to keep when the failed steps of a run are tried again: everything that had ended, but for those whose failures ended the
 * run. The stored error of the run names them; the error of a failed step names those inside of it that made it fail. What failed
 * and was caught stays so.
 */
export function keptWithoutFailed(steps: readonly StepEntries[], error: string): StepEntries[] {
  const failures = new Map(steps.filter(hasFailed).map((step) => [step.path, step]));
  const again = new Set<StepEntries>();
  const add = (text: string | null) => {
    for (const path of text === null ? [] : causesOf(text)) {
      const step = failures.get(path);
      if (step === undefined || again.has(step)) continue;
      again.add(step);
      if (step.ending?.kind === "failed") add(step.ending.value);
    }
  };
  add(error);
  if (again.size === 0) {
    throw new ConflictError(
      "instance.no_failed_step",
      "No step's failure ended this run: its function went on after what failed and threw by itself, or it ended its processes. Use restart(), with `from` if need be.",
    );
  }
  return steps.filter((step) => step.ending !== null && !again.has(step));
}

function hasFailed({ ending }: StepEntries): boolean {
  return ending?.kind === "failed" || ending?.kind === "timedOut";
}
