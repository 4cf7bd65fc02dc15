import { type AsyncContext, createAsyncContext } from "./async-context.ts";

/** A workflow's function that is running. A replay runs it again, except for its finished steps. */
export interface ReplayedCode {
  readonly workflow: string;
  readonly instance: string;
}

/** An attempt at a step that is running. */
export interface RunningAttempt {
  /** The execution that it belongs to. */
  readonly owner: object;
}

/**
 * What of a workflow is running. Null where the runtime can't tell. There is one context for both, because each call in a
 * context copies all that there are.
 */
export const running: AsyncContext<ReplayedCode | RunningAttempt> | null = createAsyncContext();

/** Calls a function that a workflow's function may have set off, but isn't part of it, such as the handler of a hook. */
export function runApart<Result>(main: () => Result): Result {
  return running?.get() === undefined ? main() : running.run(undefined, main);
}
