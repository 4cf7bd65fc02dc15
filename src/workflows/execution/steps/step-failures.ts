import { pathOf, type StepIdentity } from "./step-path.ts";

/** A call of a step that has failed. */
interface FailedCall extends StepIdentity {
  /** Its record, from before this execution. */
  readonly record: (StepIdentity & { readonly ending: object | null }) | null;
}

/** An error may have anything in its properties: no more objects than this are looked at. */
const MOST_REASONS = 1000;

/**
 * The failures of steps that the code was told of. They tell which of them made it fail: by the very error object that it was
 * given, however alike two errors are.
 */
export class StepFailures {
  /** By the error that the code got. Only objects have an identity. */
  readonly #byError = new Map<unknown, FailedCall>();
  /** By where the code runs (a step, or null for the workflow's function): steps that failed since it last called one. */
  readonly #unanswered = new Map<string | null, Set<FailedCall>>();

  /** The code receives a failure. */
  told(call: FailedCall, error: unknown): void {
    if (typeof error === "object" && error !== null) this.#byError.set(error, call);
    this.#since(call.parent).add(call);
  }

  /** The code calls a step: it has gone on after earlier failures. */
  wentOn(parent: string | null): void {
    this.#unanswered.delete(parent);
  }

  /**
   * The paths of the steps that made the code throw this. It threw the error of one, or something that has it in its
   * properties, as its cause or otherwise; if not, they are those that failed since it last called a step.
   */
  behind(thrown: unknown, parent: string | null): string[] {
    const known = [...withReasons(thrown)].flatMap((error) => this.#byError.get(error) ?? []);
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

/**
 * An error and the objects in its properties: its cause, the errors that it is made of, or anything else that code puts there.
 */
function withReasons(thrown: unknown): Set<unknown> {
  const reasons = new Set([thrown]);
  for (const reason of reasons) {
    if (reasons.size >= MOST_REASONS) break;
    for (const part of partsOf(reason)) reasons.add(part);
  }
  return reasons;
}

/** A user's getter may throw, and so does a revoked proxy. */
function partsOf(value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  try {
    const parts = Reflect.ownKeys(value)
      .slice(0, MOST_REASONS)
      .map((key) => Reflect.get(value, key) as unknown);
    return parts.filter((part) => typeof part === "object" && part !== null);
  } catch {
    return [];
  }
}
