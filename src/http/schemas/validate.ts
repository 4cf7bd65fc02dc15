import type { Schema } from "./schema.ts";

/** Where a schema doesn't accept a value, and why. */
export interface Issue {
  /** `body.instances[3].id` */
  readonly path: string;
  readonly message: string;
}

/** More would only repeat them. */
const MOST_ISSUES = 10;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;
const LONGEST_SHOWN = 60;

/** The problems with a value; none if the schema accepts it. Never quotes the value. */
export function validate(schema: Schema, value: unknown, path: string): Issue[] {
  const issues: Issue[] = [];
  check(schema, value, path, issues);
  return issues.slice(0, MOST_ISSUES);
}

function check(schema: Schema, value: unknown, path: string, issues: Issue[]): void {
  if (issues.length >= MOST_ISSUES) return;
  if (schema.anyOf !== undefined) {
    checkAny(schema.anyOf, value, path, issues);
    return;
  }
  if (schema.type !== undefined && !isOfType(schema.type, value)) {
    issues.push({ path, message: `must be ${describeType(schema.type)}` });
    return;
  }
  if (typeof value === "string") checkText(schema, value, path, issues);
  else if (typeof value === "number") checkNumber(schema, value, path, issues);
  else if (Array.isArray(value)) checkArray(schema, value, path, issues);
  else if (schema.type === "object") checkObject(schema, value as Record<string, unknown>, path, issues);
}

function checkAny(schemas: readonly Schema[], value: unknown, path: string, issues: Issue[]): void {
  const attempts = schemas.map((schema) => validate(schema, value, path));
  if (attempts.some((found) => found.length === 0)) return;
  // The caller probably meant the schema of the value's own type.
  const meant = schemas.findIndex(({ type }) => type === undefined || isOfType(type, value));
  if (meant >= 0) issues.push(...(attempts[meant] as Issue[]));
  else issues.push({ path, message: `must be ${schemas.map(({ type }) => describeType(type)).join(" or ")}` });
}

function checkText(schema: Schema, value: string, path: string, issues: Issue[]): void {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, format } = schema;
  if (schema.enum !== undefined && !schema.enum.includes(value)) {
    issues.push({ path, message: `must be one of ${schema.enum.join(", ")}` });
  } else if (value.length < minLength || value.length > maxLength) {
    issues.push({ path, message: `must be a text of ${range(minLength, maxLength)} characters` });
  } else if (format === "date-time" && !isDateTime(value)) {
    issues.push({ path, message: "must be a date and time such as 2026-01-31T12:00:00Z" });
  }
}

function checkNumber(schema: Schema, value: number, path: string, issues: Issue[]): void {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  if (value >= minimum && value <= maximum) return;
  issues.push({ path, message: `must be ${range(minimum, maximum)}` });
}

function checkArray(schema: Schema, value: readonly unknown[], path: string, issues: Issue[]): void {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items } = schema;
  if (value.length < minItems || value.length > maxItems) {
    issues.push({ path, message: `must have ${range(minItems, maxItems)} items` });
  } else if (items !== undefined) {
    for (const [index, item] of value.entries()) check(items, item, `${path}[${index}]`, issues);
  }
}

/** Own properties only: those of a prototype don't count, and `__proto__` is a name like any other. */
function checkObject(schema: Schema, value: Record<string, unknown>, path: string, issues: Issue[]): void {
  const { properties = {}, required = [], additionalProperties = true } = schema;
  for (const name of required) {
    if (!Object.hasOwn(value, name)) issues.push({ path, message: `must have the field ${name}` });
  }
  for (const [name, field] of Object.entries(value)) {
    if (issues.length >= MOST_ISSUES) return;
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (known !== undefined) check(known, field, `${path}.${name}`, issues);
    else if (typeof additionalProperties === "object")
      check(additionalProperties, field, `${path}.${clip(name)}`, issues);
    else if (!additionalProperties) {
      const taken = Object.keys(properties).join(", ") || "none";
      issues.push({ path, message: `has no field ${JSON.stringify(clip(name))}; it takes ${taken}` });
    }
  }
}

function isOfType(type: NonNullable<Schema["type"]>, value: unknown): boolean {
  switch (type) {
    case "integer":
      return Number.isSafeInteger(value);
    case "number":
      return Number.isFinite(value);
    case "array":
      return Array.isArray(value);
    case "null":
      return value === null;
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}

function describeType(type: Schema["type"]): string {
  if (type === "integer") return "a whole number";
  if (type === "string") return "a text";
  if (type === "boolean") return "true or false";
  if (type === "null" || type === undefined) return String(type ?? "any value");
  return `${type === "array" || type === "object" ? "an" : "a"} ${type}`;
}

function range(least: number, most: number): string {
  if (most === Number.POSITIVE_INFINITY) return `at least ${least}`;
  return least === Number.NEGATIVE_INFINITY ? `at most ${most}` : `${least} to ${most}`;
}

function isDateTime(value: string): boolean {
  return DATE_TIME.test(value) && !Number.isNaN(Date.parse(value));
}

function clip(text: string): string {
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}
