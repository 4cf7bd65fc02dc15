import { InvalidInputError } from "../../errors.ts";
import { REDACTED } from "../../values/index.ts";
import type { HttpResource } from "../access/authorization.ts";
import { toWire } from "../wire-values.ts";

/** The field of the answer that a value is for. `error` is a message, which may contain users' data. */
export type ValueField = "output" | "payload" | "error" | "cursor" | "meta" | "progress" | "params";

export interface RedactionContext {
  readonly field: ValueField;
  readonly resource: HttpResource;
}

/** `true` hides all values. A function returns the replacement for a value, or the value itself. */
export type Redaction = boolean | ((value: unknown, context: RedactionContext) => unknown);

/** The form in which a caller that may read sees a user's value. Undefined for a stack that isn't shown. */
export type ShowValue = (value: unknown, field: ValueField | "stack") => unknown;

export function checkRedaction(redact: unknown = false): Redaction {
  if (typeof redact === "boolean" || typeof redact === "function") return redact as Redaction;
  throw new InvalidInputError(
    "options.invalid",
    "redact must be true, false, or a function (value, { field, resource }).",
  );
}

export function createShow(redact: Redaction, resource: HttpResource, stackTraces: boolean): ShowValue {
  return (value, shown) => {
    if (shown === "stack" && !stackTraces) return undefined;
    if (redact === true) return REDACTED;
    const field = shown === "stack" ? "error" : shown; // a stack contains the message
    return redact === false ? toWire(value) : toShown(redact(value, { field, resource }));
  };
}

/** A result without a JSON form, such as a promise, is a fault of the `redact` function, not of the caller. */
function toShown(redacted: unknown): unknown {
  try {
    return toWire(redacted);
  } catch (cause) {
    throw new Error("redact returned a value that has no JSON form.", { cause });
  }
}
