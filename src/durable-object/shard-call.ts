import * as errors from "../errors.ts";
import { decodeValue, describeError, encodeValue } from "../values/index.ts";

/** A router's call to one of its objects: an operation on a workflow, or on one of its instances. */
export interface ShardCall {
  /** By its name, which means the same in every version of the code; null for operations on tokens. */
  readonly workflow: string | null;
  readonly operation: string;
  /** Of the instance; null for operations of the workflow. */
  readonly id: string | null;
  readonly parameters: readonly unknown[];
}

type Answer = { readonly value: unknown } | { readonly error: unknown };

/** Everything goes through the form in which it is stored, so that it arrives as it would in the object itself. */
export function encodeCall(call: ShardCall): string {
  return encodeValue(call, { label: "call" });
}

export function decodeCall(text: string): ShardCall {
  return decodeValue(text) as ShardCall;
}

/** Cloudflare loses the class and the code of what an object throws, so errors are answers, too. */
export async function encodeAnswer(body: () => Promise<unknown>): Promise<string> {
  try {
    return encodeValue({ value: await body() }, { label: "answer" });
  } catch (error) {
    return encodeValue(
      { error: error instanceof Error ? error : new Error(describeError(error).message) },
      { label: "answer" },
    );
  }
}

export function decodeAnswer(text: string): unknown {
  const answer = decodeValue(text) as Answer;
  if ("value" in answer) return answer.value;
  throw restoreClass(answer.error);
}

/** An error of ours is again one of its class. */
export function restoreClass(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const own: unknown = Reflect.get(errors, error.name);
  if (typeof own === "function" && "code" in error) Object.setPrototypeOf(error, own.prototype as object);
  return error;
}
