import { describeError } from "../values/index.ts";
import type { ShowValue } from "./redaction.ts";

/** Times on the wire are texts, as JSON has them. */
export function time(date: Date): string {
  return date.toISOString();
}

export function maybeTime(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}

/** The name and the message of an error; stacks and properties stay here. */
export function failure(error: unknown, show: ShowValue): { name: string; message: unknown } {
  const { name, message } = describeError(error);
  return { name, message: show(message, "error") };
}
