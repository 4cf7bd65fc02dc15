import { describeError } from "./stored-error.ts";

/** What is asked of errors: what they are, and what they say. */
const FIELDS = ["name", "message", "stack", "cause", "code", "constructor", "retryAfter"];
/** No class has as many ancestors. A proxy may have no end of them. */
const MOST_ANCESTORS = 100;

/**
 * What code has thrown, if it can be looked at; otherwise an error that describes it. A revoked proxy throws at every look, even at
 * `instanceof`, and so may a getter: whoever handles errors must not be what fails.
 */
export function tame(thrown: unknown): unknown {
  if ((typeof thrown !== "object" && typeof thrown !== "function") || thrown === null) return thrown;
  try {
    Object.prototype.toString.call(thrown);
    for (const field of FIELDS) Reflect.get(thrown, field);
    if (countAncestors(thrown) <= MOST_ANCESTORS) return thrown;
  } catch {
    // It is described below.
  }
  const { name, message } = describeError(thrown);
  return Object.assign(new Error(message), { name });
}

function countAncestors(value: object): number {
  let count = 0;
  for (let next: object | null = value; next !== null && count <= MOST_ANCESTORS; count++) {
    next = Object.getPrototypeOf(next) as object | null;
  }
  return count;
}
