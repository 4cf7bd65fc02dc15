import { describeError } from "../../values/index.ts";
import { FAILURE, VALUE } from "../schemas/common-schemas.ts";
import type { Schema } from "../schemas/schema.ts";
import type { ShowValue, ValueField } from "./redaction.ts";

/**
 * What the schema of an answer names of an object, as JSON: times as texts, values of users as they may be shown, errors without
 * their stacks. What it doesn't name stays here, and what is undefined is left out.
 */
export function present(schema: Schema, value: unknown, show: ShowValue, field: string = ""): unknown {
  if (schema === VALUE) return show(value, field as ValueField);
  if (value === null) return null;
  if (schema.anyOf !== undefined) return present(schema.anyOf[0] as Schema, value, show, field);
  if (schema === FAILURE) return failure(value, show); // whatever was thrown
  if (typeof value !== "object") return value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((item) => present(schema.items ?? {}, item, show, field));
  if (schema.properties === undefined) return value;
  const shown = Object.entries(schema.properties).flatMap(([name, property]) => {
    const given = (value as Record<string, unknown>)[name];
    return given === undefined ? [] : [[name, present(property, given, show, name)]];
  });
  return Object.fromEntries(shown);
}

/** The name and the message of an error, and the code of one of ours; stacks and other properties stay here. */
export function failure(error: unknown, show: ShowValue): { name: string; message: unknown; code?: string } {
  const { message, ...rest } = describeError(error);
  return { ...rest, message: show(message, "error") };
}
