/** JSON Schema, as far as forms are made from it. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly description?: string;
  readonly default?: unknown;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** What a workflow declares; null where it isn't known. */
export interface DeclaredSchemas {
  readonly input: JsonSchema | null;
  readonly events: Readonly<Record<string, JsonSchema | null>> | null;
}

/** One field of a form: where its value goes, and how it is typed. */
export interface FormField {
  readonly path: readonly string[];
  readonly kind: "text" | "number" | "choice" | "check" | "json";
  readonly required: boolean;
  readonly choices: readonly string[];
  readonly schema: JsonSchema;
}

const DEEPEST = 4;

/** The fields of an object; null if only JSON says what is meant. */
export function toFields(schema: JsonSchema | null): readonly FormField[] | null {
  if (schema === null || !isObject(schema)) return null;
  return fieldsOf(schema, []);
}

function fieldsOf({ properties = {}, required = [] }: JsonSchema, path: readonly string[]): readonly FormField[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const own = [...path, name];
    const needed = required.includes(name);
    if (needed && isObject(schema) && own.length < DEEPEST) return fieldsOf(schema, own);
    return [{ path: own, required: needed, schema, choices: choicesOf(schema), kind: kindOf(schema, needed) }];
  });
}

function isObject({ type, properties = {} }: JsonSchema): boolean {
  return type === "object" && Object.keys(properties).length > 0;
}

function choicesOf({ enum: values = [], const: only }: JsonSchema): readonly string[] {
  const all = only === undefined ? values : [only];
  return all.every((value) => typeof value === "string") ? (all as string[]) : [];
}

function kindOf(schema: JsonSchema, required: boolean): FormField["kind"] {
  if (schema.enum !== undefined || schema.const !== undefined) return choicesOf(schema).length > 0 ? "choice" : "json";
  if (schema.type === "string") return "text";
  if (schema.type === "number" || schema.type === "integer") return "number";
  return schema.type === "boolean" && required ? "check" : "json";
}

/** A value with another one at a path. Undefined removes it. */
export function withField(value: unknown, [name, ...rest]: readonly string[], part: unknown): unknown {
  if (name === undefined) return part;
  const { [name]: old, ...others } = isRecord(value) ? value : {};
  const next = withField(old, rest, part);
  return next === undefined ? others : { ...others, [name]: next };
}

export function fieldOf(value: unknown, path: readonly string[]): unknown {
  return path.reduce((part: unknown, name) => (isRecord(part) ? part[name] : undefined), value);
}

/** Whether the fields can show all of a value: otherwise some of it would be lost. */
export function fits(value: unknown, fields: readonly FormField[]): boolean {
  if (value === undefined) return true;
  if (!isRecord(value)) return false;
  const rest = fields.reduce<unknown>((left, { path }) => withField(left, path, undefined), value);
  return isEmpty(rest) && fields.every((field) => takes(field, fieldOf(value, field.path)));
}

function takes({ kind, choices }: FormField, value: unknown): boolean {
  if (value === undefined || kind === "json") return true;
  if (kind === "choice") return choices.includes(value as string);
  return typeof value === { text: "string", number: "number", check: "boolean" }[kind];
}

function isEmpty(value: unknown): boolean {
  return value === undefined || (isRecord(value) && Object.values(value).every(isEmpty));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
