import { pathOf, type StepIdentity } from "./step-path.ts";

/** A call of a step that has failed. */
interface FailedCall extends StepIdentity {
  /** What was stored about it before this execution. */
  readonly record: (StepIdentity & { readonly ending: object | null }) | null;
}

/** Causes of causes are looked at no deeper. */
const MOST_LEVELS = 10;

/**
 * The failures of steps that the code was told of, so that it is known which of them made it fail: by the very error that it
 * was given, however alike two errors are.
 */
export class StepFailures {
  /** By the error that the code got. What isn't an object has no identity. */
  readonly #byError = new Map<unknown, FailedCall>();
  /** By where the code runs (a step, or null for the workflow's function): what failed since it last called a step. */
  readonly #unanswered = new Map<string | null, Set<FailedCall>>();
  #any = false;

  /** Whether a step has failed. */
  get any(): boolean {
    return this.#any;
  }

  /** The code is told of a failure. */
  told(call: FailedCall, error: unknown): void {
    this.#any = true;
    if (typeof error === "object" && error !== null) this.#byError.set(error, call);
    this.#since(call.parent).add(call);
  }

  /** The code calls a step: whatever failed before, it has gone on. */
  wentOn(parent: string | null): void {
    this.#unanswered.delete(parent);
  }

  /**
   * The paths of the steps that made the code throw this. It threw the error of one, or an error that has it as its cause or among
   * its `errors`; otherwise what failed since it last called a step.
   */
  behind(thrown: unknown, parent: string | null): string[] {
    if (!this.#any) return [];
    const known = withReasons(thrown).flatMap((error) => this.#byError.get(error) ?? []);
    const calls = known.filter((call) => call.parent === parent);
    return [...new Set((calls.length > 0 ? calls : [...this.#since(parent)]).map(storedPath))];
  }

  #since(parent: string | null): Set<FailedCall> {
    const known = this.#unanswered.get(parent) ?? new Set();
    this.#unanswered.set(parent, known);
    return known;
  }
}

/** As its end is named in the journal: under an older name, if it ended under that. */
function storedPath(call: FailedCall): string {
  return pathOf(call.record !== null && call.record.ending !== null ? call.record : call);
}

/** An error, what it was caused by, and what it is made of. */
function withReasons(error: unknown, level = 0): unknown[] {
  if (level > MOST_LEVELS || typeof error !== "object" || error === null) return [error];
  const parts = [
    read(error, "cause"),
    ...listOf(read(error, "errors")),
    read(error, "error"),
    read(error, "suppressed"),
  ];
  return [error, ...parts.filter((part) => part !== undefined).flatMap((part) => withReasons(part, level + 1))];
}

function listOf(value: unknown): unknown[] {
  try {
    return Array.isArray(value) ? [...value] : [];
  } catch {
    return [];
  }
}

/** A getter of the user's may throw, and so does a proxy that was revoked. */
function read(error: object, key: string): unknown {
  try {
    return Reflect.get(error, key);
  } catch {
    return undefined;
  }
}
