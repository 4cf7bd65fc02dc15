import { invalidRequest } from "./http-error.ts";
import type { Schema } from "./schema.ts";
import { validate } from "./validate.ts";

const WHOLE_NUMBER = /^-?\d{1,16}$/;

/** The values of a query by name, as its schemas want them. What they don't name, and what is there twice, is refused. */
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
  if (issues.length > 0) throw invalidRequest("The query isn't what this route takes.", issues);
  return query;
}

function convert({ type }: Schema, text: string): unknown {
  if (type === "integer" && WHOLE_NUMBER.test(text)) return Number(text);
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}
