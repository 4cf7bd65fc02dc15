/**
 * The shape of a request or an answer, in a subset of JSON Schema. The same object checks requests and becomes part of the
 * OpenAPI document, so the two can't differ.
 */
export interface Schema {
  readonly type?: "string" | "integer" | "number" | "boolean" | "object" | "array" | "null";
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly format?: "date-time";
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /** False refuses unknown fields. A schema applies to fields that users name themselves. */
  readonly additionalProperties?: boolean | Schema;
  readonly anyOf?: readonly Schema[];
}

/** The type of the values that a schema accepts. */
export type FromSchema<Accepted> = Accepted extends { readonly anyOf: readonly (infer One)[] }
  ? FromSchema<One>
  : Accepted extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Accepted extends { readonly type: infer Type }
      ? FromType<Type, Accepted>
      : unknown;

type FromType<Type, Accepted> = Type extends "string"
  ? string
  : Type extends "integer" | "number"
    ? number
    : Type extends "boolean"
      ? boolean
      : Type extends "null"
        ? null
        : Type extends "array"
          ? Accepted extends { readonly items: infer Item }
            ? readonly FromSchema<Item>[]
            : readonly unknown[]
          : FromObject<Accepted>;

type FromObject<Accepted> = Accepted extends { readonly properties: infer Properties }
  ? {
      readonly [Name in keyof Properties as Name extends RequiredOf<Accepted> ? Name : never]: FromSchema<
        Properties[Name]
      >;
    } & {
      readonly [Name in keyof Properties as Name extends RequiredOf<Accepted> ? never : Name]?: FromSchema<
        Properties[Name]
      >;
    }
  : Accepted extends { readonly additionalProperties: infer Rest }
    ? Readonly<Record<string, FromSchema<Rest>>>
    : Readonly<Record<string, unknown>>;

type RequiredOf<Accepted> = Accepted extends { readonly required: readonly (infer Name)[] } ? Name : never;

const names = new Map<Schema, string>();

/** Gives a schema a name of its own in the OpenAPI document. */
export function component<const Accepted extends Schema>(name: string, schema: Accepted): Accepted {
  names.set(schema, name);
  return schema;
}

export function nameOf(schema: Schema): string | undefined {
  return names.get(schema);
}

/** An object with these fields and no others. */
export function objectOf<
  const Properties extends Record<string, Schema>,
  const Required extends keyof Properties & string,
>(
  properties: Properties,
  required: readonly Required[],
): {
  readonly type: "object";
  readonly properties: Properties;
  readonly required: readonly Required[];
  readonly additionalProperties: false;
} {
  return { type: "object", properties, required, additionalProperties: false };
}

export function arrayOf<const Items extends Schema>(items: Items): { readonly type: "array"; readonly items: Items } {
  return { type: "array", items };
}

export function nullable<const Accepted extends Schema>(
  schema: Accepted,
): { readonly anyOf: readonly [Accepted, { readonly type: "null" }] } {
  return { anyOf: [schema, { type: "null" }] };
}
