import { UnreadableValueError } from "../errors.ts";
import { BYTE_KINDS, fromBase64 } from "./bytes.ts";
import { refuseEncoded } from "./encoded-text.ts";
import { buildError, ERROR_CLASSES, HIDDEN_FIELDS } from "./error-value.ts";
import { isArrayIndex, isArrayLength, sparseArray } from "./sparse-array.ts";
import { MAX_LEVELS, StreamReference, TAG, TAG_IN_TEXT } from "./tags.ts";

/**
 * Gives back the value that `encodeValue` or `encodeError` made the text of. Only builds what a fixed list names: no text can
 * choose a constructor or change a prototype. Text that neither could have written throws UnreadableValueError
 * `value.corrupt`. Text that a codec has encoded, and not decoded again, throws CodecError, its base class.
 */
export function decodeValue(text: string): unknown {
  if (typeof text === "string") refuseEncoded(text);
  try {
    const parsed: unknown = JSON.parse(text);
    return text.includes(TAG_IN_TEXT) ? revive(parsed, 1) : parsed;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new UnreadableValueError(
      "value.corrupt",
      `A stored value can't be read: ${why}. It was cut short, changed by hand, or written by a newer version of Perdure.`,
      { cause },
    );
  }
}

type Node = Record<string, unknown>;

interface Kind {
  /** The only fields that the tag may have. */
  readonly fields: readonly string[];
  revive(node: Node, level: number): unknown;
}

/** Only guards the stack: encoded values are always far below, tags included. */
const MAX_TEXT_LEVELS = MAX_LEVELS * 2;

const VALUE = ["value"];
const ERROR_FIELDS = ["name", "message", ...HIDDEN_FIELDS, "properties"];

/** A Map and not an object: a tag named `__proto__` or `constructor` must not find anything. */
const kinds: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ["undefined", { fields: [], revive: () => undefined }],
  ["number", { fields: VALUE, revive: (node) => reviveNumber(textOf(node, "value")) }],
  ["bigint", { fields: VALUE, revive: (node) => reviveBigInt(textOf(node, "value")) }],
  ["Date", { fields: VALUE, revive: (node) => reviveDate(node["value"]) }],
  [
    "RegExp",
    { fields: ["source", "flags"], revive: (node) => new RegExp(textOf(node, "source"), textOf(node, "flags")) },
  ],
  ["Map", { fields: VALUE, revive: reviveMap }],
  ["Set", { fields: VALUE, revive: (node, level) => new Set(reviveElements(arrayOf(node["value"]), level + 1)) }],
  ["array", { fields: ["length", "value"], revive: reviveSparseArray }],
  ["object", { fields: VALUE, revive: (node, level) => reviveProperties(objectOf(node["value"]), level + 1) }],
  ["stream", { fields: ["id", "kind", "bytes", "chunks"], revive: (node) => new StreamReference(node as never) }],
  ["caused", { fields: ["by", "value"], revive: (node, level) => revive(node["value"], level + 1) }],
  ["delayed", { fields: ["ms", "of", "value"], revive: (node, level) => revive(node["value"], level + 1) }],
  ["unchecked", { fields: VALUE, revive: (node, level) => revive(node["value"], level + 1) }],
  ["sensitive", { fields: VALUE, revive: (node, level) => revive(node["value"], level + 1) }],
  ...BYTE_KINDS.map(
    (kind) => [kind, { fields: VALUE, revive: (node: Node) => fromBase64(kind, textOf(node, "value")) }] as const,
  ),
  ...ERROR_CLASSES.map(
    (name) =>
      [name, { fields: ERROR_FIELDS, revive: (node: Node, level: number) => reviveError(name, node, level) }] as const,
  ),
]);

/** Turns the result of JSON.parse into the encoded value, in place, since no other code refers to it. Throws any Error. */
function revive(node: unknown, level: number): unknown {
  if (typeof node !== "object" || node === null) return node;
  if (level > MAX_TEXT_LEVELS) throw new RangeError(`it is nested more than ${MAX_TEXT_LEVELS} levels deep`);
  if (Array.isArray(node)) return reviveElements(node, level);
  return Object.hasOwn(node, TAG) ? reviveTagged(node as Node, level) : reviveProperties(node as Node, level);
}

function reviveElements(array: unknown[], level: number): unknown[] {
  for (let index = 0; index < array.length; index += 1) array[index] = revive(array[index], level + 1);
  return array;
}

/** The keys are the object's own, so even assigning to `__proto__` sets a property and no prototype. */
function reviveProperties(object: Node, level: number): Node {
  for (const key of Object.keys(object)) {
    const value = object[key];
    if (typeof value === "object" && value !== null) object[key] = revive(value, level + 1);
  }
  return object;
}

function reviveTagged(node: Node, level: number): unknown {
  const name = textOf(node, TAG);
  const kind = kinds.get(name);
  if (kind === undefined) throw new TypeError(`the tag ${JSON.stringify(name)} is unknown`);
  const unknown = Object.keys(node).find((field) => field !== TAG && !kind.fields.includes(field));
  if (unknown !== undefined) throw malformed(unknown);
  return kind.revive(node, level);
}

function reviveNumber(text: string): number {
  if (!["NaN", "Infinity", "-Infinity", "-0"].includes(text)) throw malformed("value");
  return Number(text);
}

function reviveBigInt(text: string): bigint {
  if (!/^-?\d+$/.test(text)) throw malformed("value");
  return BigInt(text);
}

function reviveDate(value: unknown): Date {
  if (value === null) return new Date(Number.NaN);
  const date = new Date(typeof value === "string" ? value : Number.NaN);
  if (Number.isNaN(date.getTime()) || date.toISOString() !== value) throw malformed("value");
  return date;
}

function reviveMap(node: Node, level: number): Map<unknown, unknown> {
  const map = new Map<unknown, unknown>();
  for (const entry of arrayOf(node["value"])) {
    const pair = arrayOf(entry);
    if (pair.length !== 2) throw malformed("value");
    map.set(revive(pair[0], level + 3), revive(pair[1], level + 3));
  }
  return map;
}

function reviveSparseArray(node: Node, level: number): unknown[] {
  const { length } = node;
  const elements = reviveProperties(objectOf(node["value"]), level + 1);
  if (!isArrayLength(length)) throw malformed("length");
  if (!Object.keys(elements).every((key) => isArrayIndex(key) && Number(key) < length)) throw malformed("value");
  return sparseArray(length, Object.entries(elements));
}

function reviveError(className: string, node: Node, level: number): Error {
  const field = (name: string) => revive(node[name], level + 1);
  if (!Object.hasOwn(node, "name") || !Object.hasOwn(node, "message")) throw malformed("name or message");
  return buildError(className, {
    name: field("name"),
    message: field("message"),
    hidden: Object.fromEntries(
      HIDDEN_FIELDS.filter((name) => Object.hasOwn(node, name)).map((name) => [name, field(name)]),
    ),
    properties: reviveProperties(node["properties"] === undefined ? {} : objectOf(node["properties"]), level + 1),
  });
}

function textOf(node: Node, field: string): string {
  const value = node[field];
  if (typeof value !== "string") throw malformed(field);
  return value;
}

function arrayOf(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw malformed("value");
  return value;
}

function objectOf(value: unknown): Node {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw malformed("value");
  return value as Node;
}

function malformed(field: string): TypeError {
  return new TypeError(`the field ${JSON.stringify(field)} of a tag isn't as it was written`);
}
