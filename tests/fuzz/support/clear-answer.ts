import { inspect } from "node:util";
import { PerdureError } from "../../../src/index.ts";

/** What code of the caller's throws that ours calls: it is passed on, because the caller knows best what it means. */
export class CallersError extends Error {}

export type Answer<Result> = { readonly result: Result } | { readonly refused: Error };

/** Calls it, and fails unless it gives a result or an error of ours that says what is wrong. Nothing else may come out. */
export async function clearAnswer<Result>(call: () => Result | Promise<Result>): Promise<Answer<Result>> {
  try {
    return { result: await call() };
  } catch (error) {
    return { refused: checkClear(error) };
  }
}

/** The same for what is synchronous. */
export function clearAnswerSync<Result>(call: () => Result): Answer<Result> {
  try {
    return { result: call() };
  } catch (error) {
    return { refused: checkClear(error) };
  }
}

function checkClear(error: unknown): Error {
  if (error instanceof CallersError) return error;
  if (error instanceof TypeError && /proxy that has been revoked/.test(error.message)) return error; // so is a dead proxy's
  if (!(error instanceof PerdureError)) {
    const stack = error instanceof Error ? error.stack : inspect(error);
    throw new Error(`It threw something that isn't ours: ${stack}`, { cause: error });
  }
  const { code, message } = error;
  if (!/^[a-z_]+(\.[a-z_]+)+$/.test(code)) throw new Error(`The code ${inspect(code)} isn't one.`, { cause: error });
  if (message.length < 10 || message.length > 2000) {
    throw new Error(`The message has ${message.length} characters: ${message.slice(0, 100)}`, { cause: error });
  }
  return error;
}
