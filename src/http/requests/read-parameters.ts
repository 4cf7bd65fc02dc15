import { invalidRequest } from "../answers/http-error.ts";
import type { Schema } from "../schemas/schema.ts";
import { validate } from "../schemas/validate.ts";

const WHOLE_NUMBER = /^-?\d{1,16}$/;

/** Checks the named segments of a path. */
export function checkPathParameters(
  fields: Readonly<Record<string, Schema>>,
  params: Readonly<Record<string, string>>,
): void {
  const issues = Object.entries(fields).flatMap(([name, schema]) => validate(schema, params[name], name));
  if (issues.length > 0) throw invalidRequest("The path has an invalid name.", issues);
}

/** The fields of a query, converted as their schemas say. Unknown fields and repeated ones are refused. */
export function readQuery(
  fields: Readonly<Record<string, Schema>>,
  search: URLSearchParams,
): Readonly<Record<string, unknown>> {
  const query: Record<string, unknown> = {};
  const issues = [];
  for (const name of new Set(search.keys())) {
    const schema = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (schema === undefined) {
      const taken = Object.keys(fields).join(", ") || "none";
      throw invalidRequest(`The query has no field ${JSON.stringify(name.slice(0, 60))}; it takes ${taken}.`);
    }
    const values = search.getAll(name);
    if (schema.type !== "array" && values.length > 1) throw invalidRequest(`The query has ${name} more than once.`);
    const value = schema.type === "array" ? values : convert(schema, values[0] as string);
    issues.push(...validate(schema, value, `query.${name}`));
    query[name] = value;
  }
  if (issues.length > 0) throw invalidRequest("The query has fields that this route doesn't accept.", issues);
  return query;
}

function convert({ type }: Schema, text: string): unknown {
  if (type === "integer" && WHOLE_NUMBER.test(text)) return Number(text);
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}
