import { InvalidInputError } from "../errors.ts";

type RefusalCode = "value.unsupported" | "value.cycle" | "value.too_deep" | "value.too_large";

const STORABLE =
  "What can be stored: plain objects, arrays, strings, numbers, booleans, null, undefined, BigInt, Date, Map, Set, RegExp, " +
  "Error, ArrayBuffer, DataView and typed arrays.";

/**
 * Why one value can't be stored. The code that catches it knows the path, and makes it an error for the user or a description.
 */
export class Refusal extends Error {
  readonly code: RefusalCode;
  /** A description of the value, to follow "is". */
  readonly what: string;

  constructor(code: RefusalCode, what: string, advice: string, options?: ErrorOptions) {
    super(advice, options);
    this.code = code;
    this.what = what;
  }

  toInvalidInput(label: string, path: readonly Segment[]): InvalidInputError {
    const where = this.code === "value.too_large" ? label : formatPath(label, path);
    const options = this.cause === undefined ? {} : { cause: this.cause };
    return new InvalidInputError(this.code, `${where} is ${this.what} and can't be stored. ${this.message}`, options);
  }
}

export function refuseKind(what: string): Refusal {
  if (what === "an instance of Promise") return new Refusal("value.unsupported", what, "Was an await forgotten?");
  const advice = what.startsWith("an instance") ? "Store the plain data that it is made of. " : "";
  return new Refusal("value.unsupported", what, advice + STORABLE);
}

export function refuseUnreadable(cause: unknown): Refusal {
  return new Refusal("value.unsupported", "unreadable", "Reading it threw the error that is this error's cause.", {
    cause,
  });
}

export function refuseCycle(ancestor: string): Refusal {
  return new Refusal("value.cycle", `a reference back to ${ancestor}`, "Store an id instead of the object itself.");
}

export function refuseDepth(limit: number): Refusal {
  return new Refusal("value.too_deep", `nested more than ${limit} levels deep`, "Store flatter data.");
}

export function refuseSize(limit: number): Refusal {
  const advice = "Keep large data elsewhere, and store a reference to it.";
  return new Refusal("value.too_large", `larger than ${limit} bytes of JSON`, advice);
}

/** One step from a container to what it holds: a property, an index, or a text of its own such as `.values()[1]`. */
export type Segment = string | number | { readonly text: string };

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** How much of a long path is kept, at its beginning and at its end. */
const FIRST_SEGMENTS = 8;
const LAST_SEGMENTS = 4;
const LONGEST_KEY = 64;

/** For example `payload.items[3]["e-mail"]`. */
export function formatPath(label: string, path: readonly Segment[]): string {
  const segments = path.map(formatSegment);
  const left = segments.length - FIRST_SEGMENTS - LAST_SEGMENTS;
  if (left > 0) segments.splice(FIRST_SEGMENTS, left, "…");
  return label + segments.join("");
}

function formatSegment(segment: Segment): string {
  if (typeof segment === "object") return segment.text;
  if (typeof segment === "number") return `[${segment}]`;
  if (segment.length > LONGEST_KEY) return `[${JSON.stringify(`${segment.slice(0, LONGEST_KEY)}…`)}]`;
  return IDENTIFIER.test(segment) ? `.${segment}` : `[${JSON.stringify(segment)}]`;
}
