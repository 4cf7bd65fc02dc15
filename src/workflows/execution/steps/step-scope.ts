import type { WorkSpan } from "../../../monitoring/tracing.ts";
import { type ReplayedCode, type RunningAttempt, running } from "../../../replayed-code.ts";
import type { StepType } from "../../../store/instances/instance-records.ts";
import type { WorkflowStepContext } from "../../define/step.ts";
import { RollbackCall } from "../../rollback/rollback-call.ts";
import type { BodyCall, StepCall } from "./step-call.ts";
import { pathOf } from "./step-path.ts";

/**
 * Where steps are called: in the workflow's own function, or inside an attempt at another step. Each scope counts its calls by
 * name. A replay doesn't call the body of a finished step, nor the steps inside it: a later step must not be taken for one of
 * those.
 */
export class StepScope {
  readonly #within: StepCall | null;
  #counts: Map<string, number> | undefined;

  constructor(within: StepCall | null) {
    this.#within = within;
  }

  /** The path of the step that it is inside; null in the workflow's own function. */
  get parent(): string | null {
    return this.#within === null ? null : pathOf(this.#within);
  }

  /** The name of the step that it is inside. */
  get parentName(): string | null {
    return this.#within?.name ?? null;
  }

  /** Whether it is inside a rollback. */
  get undoing(): boolean {
    return this.#within instanceof RollbackCall;
  }

  /** Whether it is inside a step's transaction. */
  get transacting(): boolean {
    return this.#within !== null && "transaction" in this.#within && this.#within.transaction !== null;
  }

  /** Counts a call: 1 for the first of its type and name. */
  count(type: StepType, name: string): number {
    const key = type === "do" ? name : `${type}\n${name}`; // names have no line feeds
    this.#counts ??= new Map();
    const count = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, count);
    return count;
  }
}

/** An attempt at a body that may call steps. */
interface ScopedAttempt extends RunningAttempt {
  readonly call: BodyCall;
  readonly context: WorkflowStepContext;
  scope: StepScope | null;
  readonly span: WorkSpan | null;
}

function callBody(attempt: ScopedAttempt): unknown {
  return attempt.call.body(attempt.context as never);
}

/**
 * Calls the body of a step: the steps that it calls are inside that step. Where the runtime can't tell what is running, they are
 * counted with all others.
 */
export function runInside(attempt: ScopedAttempt, call: (attempt: ScopedAttempt) => unknown = callBody): unknown {
  const { span } = attempt;
  const traced = span === null ? call : (one: ScopedAttempt) => span.run(() => call(one));
  return running === null ? traced(attempt) : running.run(attempt, traced, attempt);
}

/** Calls the function of a workflow, which may be begun by a step of another. */
export function runOutside<Result>(code: ReplayedCode, main: () => Result): Result {
  return running === null ? main() : running.run(code, main);
}

/** The workflow whose function is running, outside its steps: a replay repeats the call. */
export function codeBetweenSteps(): ReplayedCode | undefined {
  const code = running?.get();
  return code === undefined || "owner" in code ? undefined : code;
}

/** The execution whose step is running. */
export function presentOwner(): object | undefined {
  const code = running?.get();
  return code !== undefined && "owner" in code ? code.owner : undefined;
}

/** The scope of the running code, if it is inside a step of this execution. */
export function presentScope(execution: object): StepScope | null {
  const code = running?.get();
  if (code === undefined || !("owner" in code) || code.owner !== execution) return null;
  const attempt = code as ScopedAttempt;
  attempt.scope ??= new StepScope(attempt.call);
  return attempt.scope;
}
