import { InvalidInputError } from "../../errors.ts";
import { REDACTED } from "../../values/index.ts";
import type { HttpResource } from "../access/authorization.ts";
import { toWire } from "../wire-values.ts";

/** What a value is of what is answered. `error` is a message: it may say what it was given. */
export type ValueField = "output" | "payload" | "error" | "cursor" | "meta" | "progress" | "params";

export interface RedactionContext {
  readonly field: ValueField;
  readonly resource: HttpResource;
}

/** `true` hides all values. A function gives what is shown instead of a value, or the value itself. */
export type Redaction = boolean | ((value: unknown, context: RedactionContext) => unknown);

/** Shows a value of the application to whoever may read. */
export type ShowValue = (value: unknown, field: ValueField) => unknown;

export function checkRedaction(redact: unknown = false): Redaction {
  if (typeof redact === "boolean" || typeof redact === "function") return redact as Redaction;
  throw new InvalidInputError(
    "options.invalid",
    "redact must be true, false, or a function (value, { field, resource }).",
  );
}

export function createShow(redact: Redaction, resource: HttpResource): ShowValue {
  return (value, field) => {
    if (redact === true) return REDACTED;
    return redact === false ? toWire(value) : toShown(redact(value, { field, resource }));
  };
}

/** What a function gives that has no form in JSON, such as a promise, is its own fault, and not of whoever asks. */
function toShown(redacted: unknown): unknown {
  try {
    return toWire(redacted);
  } catch (cause) {
    throw new Error("redact gave what can't be shown.", { cause });
  }
}
