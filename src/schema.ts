import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { InvalidInputError } from "./errors.ts";

export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  const holder = (typeof value === "object" && value !== null) || typeof value === "function";
  if (!holder) return false;
  const standard: unknown = Reflect.get(value, "~standard");
  return typeof standard === "object" && standard !== null && typeof Reflect.get(standard, "validate") === "function";
}

/** The dialect of JSON Schema in which schemas describe themselves to forms. */
const TARGET = "draft-2020-12";

/**
 * What a schema takes, as JSON Schema; null if its library doesn't say so (Standard JSON Schema), or if it takes values that
 * JSON doesn't have.
 */
export function toJsonSchema(schema: StandardSchemaV1): Readonly<Record<string, unknown>> | null {
  const { jsonSchema } = schema["~standard"] as Partial<StandardJSONSchemaV1.Props>;
  try {
    return jsonSchema?.input({ target: TARGET }) ?? null;
  } catch {
    return null;
  }
}

/**
 * Returns what a schema makes of a value; a promise only if the schema is asynchronous. `label` begins a sentence: `The payload
 * of "sendMail"`. Refuses a promise as the value, with a schema or without: a forgotten await must not become a wait.
 */
export function applySchema(
  schema: StandardSchemaV1 | null,
  value: unknown,
  label: string,
  code: string = "payload.invalid",
): unknown {
  if (isThenable(value)) {
    throw new InvalidInputError(
      "value.unsupported",
      `${label} is a promise, which can't be stored. Was an await forgotten?`,
    );
  }
  if (schema === null) return value;
  const validated = schema["~standard"].validate(value);
  const accept = (result: StandardSchemaV1.Result<unknown>) => outputOf(result, label, code);
  return isThenable(validated) ? Promise.resolve(validated).then(accept) : accept(validated);
}

/** A promise of any realm, or anything else with a `then`. */
export function isThenable(value: unknown): value is Promise<unknown> {
  if (value === null || (typeof value !== "object" && typeof value !== "function")) return false;
  try {
    return "then" in value && typeof value.then === "function";
  } catch {
    return false; // a getter threw; encoding the value says where
  }
}

function outputOf(result: StandardSchemaV1.Result<unknown>, label: string, code: string): unknown {
  if (typeof result !== "object" || result === null) {
    throw new InvalidInputError(code, `${label} has a schema that gave no result: it isn't a Standard Schema.`);
  }
  if (result.issues === undefined) return result.value;
  const problems = result.issues.slice(0, 5).map(({ path = [], message }) => {
    const place = path.map((part) => String(typeof part === "object" ? part.key : part)).join(".");
    return place === "" ? message : `${place}: ${message}`;
  });
  throw new InvalidInputError(code, `${label} didn't pass the schema. ${problems.join("; ")}`);
}
