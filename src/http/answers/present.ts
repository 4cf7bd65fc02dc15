import { describeWithStack } from "../../values/index.ts";
import { FAILURE, VALUE } from "../schemas/common-schemas.ts";
import type { Schema } from "../schemas/schema.ts";
import type { ShowValue, ValueField } from "./redaction.ts";

/**
 * The fields of an object that the schema of an answer names, as JSON: times as texts, users' values as they may be shown, and
 * errors without their stacks, unless these are shown. Other fields, and undefined ones, are left out.
 */
export function present(schema: Schema, value: unknown, show: ShowValue, field: string = ""): unknown {
  if (schema === VALUE) return show(value, field as ValueField);
  if (value === null) return null;
  if (schema.anyOf !== undefined) return present(schema.anyOf[0] as Schema, value, show, field);
  if (schema === FAILURE) return failure(value, show); // any value can be thrown
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

/** The name and the message of an error, its code if it is Perdure's own, and its stack if stacks are shown. */
export function failure(
  error: unknown,
  show: ShowValue,
): { name: string; message: unknown; code?: string; stack?: unknown } {
  const { message, stack, ...rest } = describeWithStack(error, true);
  const shown = stack === undefined ? undefined : show(stack, "stack");
  return { ...rest, message: show(message, "error"), ...(shown === undefined ? {} : { stack: shown }) };
}
