import { constructorName } from "./kinds.ts";

type ErrorConstructor = (message: string, name: string) => Error;

/** Classes that not every runtime has. */
const optional = globalThis as {
  DOMException?: new (message: string, name: string) => Error;
  SuppressedError?: new (error: unknown, suppressed: unknown, message: string) => Error;
};

/** The only classes that stored errors come back as. A user's own class comes back as the nearest of them, with its name. */
const classes: ReadonlyMap<string, ErrorConstructor> = new Map<string, ErrorConstructor>([
  ["Error", (message) => new Error(message)],
  ["EvalError", (message) => new EvalError(message)],
  ["RangeError", (message) => new RangeError(message)],
  ["ReferenceError", (message) => new ReferenceError(message)],
  ["SyntaxError", (message) => new SyntaxError(message)],
  ["TypeError", (message) => new TypeError(message)],
  ["URIError", (message) => new URIError(message)],
  ["AggregateError", (message) => new AggregateError([], message)],
  ["SuppressedError", suppressedError],
  ["DOMException", domException],
]);

export const ERROR_CLASSES: readonly string[] = [...classes.keys()];

/** Non-enumerable properties of built-in errors. A user's enumerable property with such a name is an ordinary one. */
export const HIDDEN_FIELDS = ["stack", "cause", "errors", "error", "suppressed"] as const;

function suppressedError(message: string): Error {
  const { SuppressedError } = optional;
  return SuppressedError ? new SuppressedError(undefined, undefined, message) : new Error(message);
}

function domException(message: string, name: string): Error {
  const { DOMException } = optional;
  return DOMException ? new DOMException(message, name) : new Error(message);
}

/** An error's parts, as stored. */
export interface ErrorParts {
  readonly name: unknown;
  readonly message: unknown;
  readonly hidden: Readonly<Partial<Record<(typeof HIDDEN_FIELDS)[number], unknown>>>;
  readonly properties: object;
}

/** The nearest built-in class, by name, so that errors of another realm have one too. */
export function errorClassOf(error: object): string {
  for (let next = Object.getPrototypeOf(error); next !== null; next = Object.getPrototypeOf(next)) {
    const name = constructorName(next);
    if (name !== undefined && classes.has(name)) return name;
  }
  return "Error";
}

export function hasHiddenField(error: object, field: string): boolean {
  const exists = field === "stack" ? field in error : Object.hasOwn(error, field);
  return exists && !Object.prototype.propertyIsEnumerable.call(error, field);
}

export function buildError(className: string, parts: ErrorParts): Error {
  const construct = classes.get(className);
  if (construct === undefined) throw new TypeError(`${className} isn't a class of errors`);
  const error = construct(String(parts.message), String(parts.name));
  if (error.name !== parts.name) define(error, "name", parts.name, false);
  if (error.message !== parts.message) define(error, "message", parts.message, false);
  define(error, "stack", undefined, false); // the stored stack or none, but not the one of this call
  for (const [field, value] of Object.entries(parts.hidden)) define(error, field, value, false);
  for (const [key, value] of Object.entries(parts.properties)) define(error, key, value, true);
  return error;
}

/**
 * Never an assignment: that would run a setter, `__proto__`'s too. Deleted first, so that keys come in the order of definition.
 */
function define(error: Error, key: string, value: unknown, enumerable: boolean): void {
  Reflect.deleteProperty(error, key);
  Object.defineProperty(error, key, { value, enumerable, writable: true, configurable: true });
}
