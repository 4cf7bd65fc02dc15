import { component, nullable, objectOf, type Schema } from "./schema.ts";

/** Schemas that several routes share. */

export const VALUE = component("Value", {
  description:
    "Any JSON. A value that JSON doesn't have (a date, map, big integer, undefined, bytes and so on) is an object with the key $perdure that " +
    'names its kind, such as {"$perdure":"Date","value":"2026-01-31T12:00:00.000Z"}.',
});

export const TIME = { type: "string", format: "date-time" } as const satisfies Schema;
export const MAYBE_TIME = nullable(TIME);

/** Long enough for every name. The code that uses the name checks its characters. */
export const NAME = { type: "string", minLength: 1, maxLength: 400 } as const satisfies Schema;

/** What a list is searched for. */
export const TEXT = { type: "string", minLength: 1, maxLength: 1024 } as const satisfies Schema;

export const CURSOR = {
  type: "string",
  minLength: 1,
  maxLength: 2000,
  description: "The cursor of the previous page.",
} as const satisfies Schema;

export const NEXT_CURSOR = {
  ...nullable({ type: "string" }),
  description: "For the next page; null on the last.",
} as const;

export const LIMIT = { type: "integer", minimum: 1, maximum: 1000 } as const satisfies Schema;

export const ORDER = { type: "string", enum: ["newest", "oldest"] } as const satisfies Schema;

export const FAILURE = component(
  "Failure",
  objectOf(
    {
      name: { type: "string" },
      message: { type: "string" },
      code: { type: "string", description: "Present on Perdure's own errors." },
      stack: { type: "string", description: "Where it was thrown. Present if the server shows stack traces." },
    },
    ["name", "message"],
  ),
);

export const ERROR = component(
  "Error",
  objectOf(
    {
      code: { type: "string", description: "Stable, for programs." },
      message: { type: "string", description: "For people. It may change." },
      details: {},
    },
    ["code", "message"],
  ),
);

/** Present in place of values. */
export const UNREADABLE = component("Unreadable", {
  ...objectOf({ code: { type: "string" }, message: { type: "string" } }, ["code", "message"]),
  description: "Instead of values that the application can't decrypt at present, or that a newer version has written.",
});

export const LABELS = component("Labels", {
  type: "object",
  additionalProperties: { type: "string" },
  description: "At most 16 texts under names of your own, by which instances can be found.",
});

/** An answer without a body. */
export const DONE = { 204: { description: "Done." } } as const;
