import { type AsyncContext, createAsyncContext } from "../../async-context.ts";
import type { InstanceRun, StepType } from "../../store/instances/instance-records.ts";
import { RollbackCall } from "../rollback/rollback-call.ts";
import type { StepCall } from "./step-call.ts";
import { pathOf } from "./step-path.ts";

/**
 * Where steps are called: in the workflow's own function, or inside of an attempt at another step. Calls of one name are counted
 * in each by themselves. After a replay a finished step's function isn't called, and so nothing inside of it: a step that comes
 * after it must not be taken for one of those.
 */
export class StepScope {
  readonly instance: InstanceRun;
  readonly #within: StepCall | null;
  #counts: Map<string, number> | undefined;

  constructor(instance: InstanceRun, within: StepCall | null) {
    this.instance = instance;
    this.#within = within;
  }

  /** The step that it is inside of, as a text that no other step has; null in the workflow's own function. */
  get parent(): string | null {
    return this.#within === null ? null : pathOf(this.#within);
  }

  /** The name of the step that it is inside of. */
  get parentName(): string | null {
    return this.#within?.name ?? null;
  }

  /** Whether it is inside of a rollback. */
  get undoing(): boolean {
    return this.#within instanceof RollbackCall;
  }

  /** Which call of this type and name comes next. */
  nextCount(type: StepType, name: string): number {
    return (this.#counts?.get(`${type}:${name}`) ?? 0) + 1;
  }

  /** Counts a call. */
  count(type: StepType, name: string): number {
    const count = this.nextCount(type, name);
    this.#counts ??= new Map();
    this.#counts.set(`${type}:${name}`, count);
    return count;
  }
}

/** Null where the runtime can't tell: then steps inside of steps are counted with all others. */
const scopes: AsyncContext<StepScope> | null = createAsyncContext<StepScope>();

/** Calls the function of a step: what it calls is inside of that step. */
export function runInside<Result>(instance: InstanceRun, step: StepCall, body: () => Result): Result {
  return scopes === null ? body() : scopes.run(new StepScope(instance, step), body);
}

/** Calls the function of a workflow, which may be begun by a step of another. */
export function runOutside<Result>(body: () => Result): Result {
  return scopes === null ? body() : scopes.run(undefined, body);
}

/** The scope of the running code, if it is inside of a step of this run. */
export function presentScope(instance: InstanceRun): StepScope | null {
  const scope = scopes?.get();
  return scope?.instance === instance ? scope : null;
}
