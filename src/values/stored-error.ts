import { exceeds } from "./encode.ts";
import { buildError, errorClassOf, HIDDEN_FIELDS } from "./error-value.ts";
import { describeKind, isError } from "./kinds.ts";
import { ValueWriter } from "./writer.ts";

/** The most that one stored error takes, in bytes of UTF-8. */
export const MAX_ERROR_BYTES: number = 32 * 1024;

/** Deeper causes and properties of an error are described instead. */
const MAX_ERROR_LEVELS = 20;

/** How much of an error is kept when all of it is too much: lengths in characters, numbers of causes and properties. */
interface Cut {
  readonly message: number;
  readonly stack: number;
  readonly causes: number;
  readonly properties: number;
}

const LONGEST_NAME = 64;
const LONGEST_MESSAGE = 2048;
const LONGEST_STACK = 4096;
const LONGEST_PROPERTY = 128;
/** Of an error in a log line. */
const MOST_LOGGED_CAUSES = 3;
const ELLIPSIS = "…";
/** Codes of users' errors, such as ECONNRESET, have another form. */
const OWN_CODE = /^[a-z]+(\.[a-z_]+){1,2}$/;
/** Of each NonRetryableError: users throw those, with names and messages of their own. */
const SAID_BY_ITS_NAME = "error.non_retryable";

/** The last always fits: even if every character is escaped as six, that is 18 KiB. */
const CUTS: readonly Cut[] = [
  { message: LONGEST_MESSAGE, stack: LONGEST_STACK, causes: 3, properties: 16 },
  { message: 1024, stack: 2048, causes: 0, properties: 0 },
];

/**
 * Returns the text to store for whatever a handler threw; `decodeValue` reads it. Never throws and never gives more than
 * MAX_ERROR_BYTES. Parts that can't be stored are replaced by a description, such as "[an instance of Socket: not stored]"; an
 * error that is too large keeps the beginnings of its message and stack, its first causes and its short properties.
 */
export function encodeError(error: unknown): string {
  for (const thrown of [() => error, ...CUTS.map((cut) => () => shorten(error, cut))]) {
    const text = tryEncode(thrown);
    if (text !== undefined) return text;
  }
  return JSON.stringify("[an error that can't be read: not stored]");
}

/** An error as people are shown it. */
export type ErrorDescription = {
  readonly name: string;
  readonly message: string;
  /** The code of one of Perdure's own errors. */
  readonly code?: string;
  /** Where it was thrown, if `stackTraces` isn't off. */
  readonly stack?: string;
};

/** A short description of whatever a handler threw, with its stack. Never throws. */
export function describeWithStack(error: unknown, stackTraces: boolean): ErrorDescription {
  const stack = stackTraces ? readText(error, "stack") : undefined;
  return { ...describeError(error), ...(stack === undefined ? {} : { stack: clip(stack, LONGEST_STACK) }) };
}

/**
 * Whatever a handler threw, for a log line: an error that loggers print as such, with its stack and its first causes. It has
 * none of the other properties, which may hold payloads and secrets. Without stack traces, a description. Never throws.
 */
export function loggedError(error: unknown, stackTraces: boolean, causes = MOST_LOGGED_CAUSES): ErrorDescription {
  if (!stackTraces) return describeError(error);
  const { name, message, stack, ...code } = describeWithStack(error, true);
  const cause = causes > 0 ? read(error, "cause") : undefined;
  return buildError(isError(error) ? errorClassOf(error) : "Error", {
    name,
    message,
    hidden: {
      ...(stack === undefined ? {} : { stack }),
      ...(cause === undefined ? {} : { cause: loggedError(cause, true, causes - 1) }),
    },
    properties: code,
  });
}

/** A decoded error without its stack and those of its causes. Changes the error. */
export function withoutStacks(error: unknown): unknown {
  for (let next = error, level = 0; isError(next) && level < MAX_ERROR_LEVELS; next = next.cause, level++) {
    Object.defineProperty(next, "stack", { value: undefined, writable: true, configurable: true });
  }
  return error;
}

/** A short description of whatever a handler threw, for a status or a log line. Never throws. */
export function describeError(error: unknown): ErrorDescription {
  const message = readText(error, "message");
  if (message === undefined) return { name: "Error", message: clip(describeThrown(error), LONGEST_MESSAGE) };
  const name = clip(readText(error, "name") || "Error", LONGEST_NAME);
  const code = readText(error, "code");
  const own = code !== undefined && OWN_CODE.test(code) && code !== SAID_BY_ITS_NAME;
  return { name, message: clip(message, LONGEST_MESSAGE), ...(own ? { code } : {}) };
}

function tryEncode(thrown: () => unknown): string | undefined {
  const writer = new ValueWriter({
    label: "error",
    maxBytes: MAX_ERROR_BYTES,
    maxLevels: MAX_ERROR_LEVELS,
    lenient: true,
  });
  try {
    writer.write(thrown(), 1);
    return exceeds(writer.text, MAX_ERROR_BYTES) ? undefined : writer.text;
  } catch {
    return undefined; // too large, or none of it can be stored
  }
}

/** A short copy. A value that isn't an error becomes one that describes it, except a text, which stays a text. */
function shorten(error: unknown, cut: Cut): unknown {
  if (typeof error === "string") return clip(error, cut.message);
  const { name, message } = describeError(error);
  const stack = readText(error, "stack");
  const cause = cut.causes > 0 ? read(error, "cause") : undefined;
  return buildError(isError(error) ? errorClassOf(error) : "Error", {
    name,
    message: clip(message, cut.message),
    hidden: {
      ...(stack === undefined ? {} : { stack: clip(stack, cut.stack) }),
      ...(cause === undefined ? {} : { cause: shorten(cause, { ...cut, causes: cut.causes - 1 }) }),
    },
    properties: Object.fromEntries(shortProperties(error).slice(0, cut.properties)),
  });
}

function shortProperties(error: unknown): [string, unknown][] {
  if (typeof error !== "object" || error === null) return [];
  const kept = Object.keys(error).filter((key) => key !== "message" && !HIDDEN_FIELDS.some((field) => field === key));
  return kept.map((key): [string, unknown] => [key, read(error, key)]).filter((property) => isShort(property));
}

function isShort([key, value]: [string, unknown]): boolean {
  if (key.length > LONGEST_PROPERTY) return false;
  if (typeof value === "string") return value.length <= LONGEST_PROPERTY;
  return value === null || typeof value === "number" || typeof value === "boolean";
}

function describeThrown(error: unknown): string {
  if (typeof error === "function") return describeKind(error);
  if (typeof error !== "object" || error === null) return String(error);
  return tryEncode(() => error) ?? attempt(() => describeKind(error)) ?? "an object that can't be read";
}

function readText(error: unknown, key: string): string | undefined {
  const value = read(error, key);
  return typeof value === "string" ? value : undefined;
}

function read(error: unknown, key: string): unknown {
  return typeof error === "object" && error !== null ? attempt((): unknown => Reflect.get(error, key)) : undefined;
}

function attempt<Result>(action: () => Result): Result | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

/** Cut to a length, and not in the middle of a character. */
function clip(text: string, length: number): string {
  if (text.length <= length) return text;
  return text.slice(0, length - ELLIPSIS.length).replace(/[\ud800-\udbff]$/, "") + ELLIPSIS;
}

/** The properties that code reads of errors. */
const FIELDS = ["name", "message", "stack", "cause", "code", "constructor", "retryAfter"];
/** No class has as many ancestors. A proxy may have no end of them. */
const MOST_ANCESTORS = 100;

/**
 * The thrown value if it can be inspected; otherwise an error that describes it. A revoked proxy throws at every access, even
 * at `instanceof`, and so may a getter: code that handles errors must not fail itself.
 */
export function tame(thrown: unknown): unknown {
  if ((typeof thrown !== "object" && typeof thrown !== "function") || thrown === null) return thrown;
  try {
    Object.prototype.toString.call(thrown);
    for (const field of FIELDS) Reflect.get(thrown, field);
    if (countAncestors(thrown) <= MOST_ANCESTORS) return thrown;
  } catch {
    // described below
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
