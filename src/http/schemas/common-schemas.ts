import { component, nullable, objectOf, type Schema } from "./schema.ts";

/** What several routes take or give. */

export const VALUE = component("Value", {
  description:
    "Any JSON. What JSON can't say (dates, maps, big integers, undefined, bytes and so on) is an object with the key $perdure that " +
    'names its kind, such as {"$perdure":"Date","value":"2026-01-31T12:00:00.000Z"}.',
});

export const TIME = { type: "string", format: "date-time" } as const satisfies Schema;
export const MAYBE_TIME = nullable(TIME);

/** Long enough for every name that there is; what it may consist of is checked by whoever it is the name of. */
export const NAME = { type: "string", minLength: 1, maxLength: 400 } as const satisfies Schema;

export const CURSOR = {
  type: "string",
  minLength: 1,
  maxLength: 2000,
  description: "Where the page before ended.",
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
      code: { type: "string", description: "Where it is one of Perdure's own errors." },
    },
    ["name", "message"],
  ),
);

export const ERROR = component(
  "Error",
  objectOf(
    {
      code: { type: "string", description: "Stable: it says what to do about it." },
      message: { type: "string", description: "For people. It may change." },
      details: {},
    },
    ["code", "message"],
  ),
);

/** In place of values. */
export const UNREADABLE = component("Unreadable", {
  ...objectOf({ code: { type: "string" }, message: { type: "string" } }, ["code", "message"]),
  description: "Instead of values that the application can't decrypt at present, or that a newer version has written.",
});

export const LABELS = component("Labels", {
  type: "object",
  additionalProperties: { type: "string" },
  description: "What an instance can be found by: at most 16 texts under names of your own.",
});

/** An answer that has nothing to say. */
export const DONE = { 204: { description: "Done." } } as const;
