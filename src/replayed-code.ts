import { type AsyncContext, createAsyncContext } from "./async-context.ts";

/** A workflow's function that is running. A replay runs it again, except for its finished steps. */
export interface ReplayedCode {
  readonly workflow: string;
  readonly instance: string;
}

/** Null where the runtime can't tell. */
const codes: AsyncContext<ReplayedCode> | null = createAsyncContext<ReplayedCode>();

/** Calls the function of a workflow. */
export function runReplayed<Result>(code: ReplayedCode, main: () => Result): Result {
  return codes === null ? main() : codes.run(code, main);
}

/** Calls a function that a workflow's function may have set off, but isn't part of it, such as the handler of a hook. */
export function runApart<Result>(main: () => Result): Result {
  return codes?.get() === undefined ? main() : codes.run(undefined, main);
}

/** The workflow whose function, or one of its steps, is running. */
export function replayedCode(): ReplayedCode | undefined {
  return codes?.get();
}
