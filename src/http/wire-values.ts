import { decodeValue, encodeValue } from "../values/index.ts";
import { MAX_LEVELS, TAG } from "../values/tags.ts";
import { invalidRequest } from "./answers/http-error.ts";

/** The levels of a value, and those of the `$perdure` objects in it. */
const MAX_WIRE_LEVELS = MAX_LEVELS * 2;
/** Parsing a number takes far more than twice the time for twice the digits. */
const MOST_DIGITS = 20_000;

/**
 * A user's value on the wire: plain JSON as it is, and other values in their stored form, as objects with the key `$perdure`.
 * See values/tags.ts.
 */
export function toWire(value: unknown): unknown {
  return JSON.parse(encodeValue(value)) as unknown;
}

/** A value from a request: objects with the key `$perdure` become the values that they stand for. */
export function fromWire(value: unknown, label: string): unknown {
  checkDepth(value, 1, label);
  const text = JSON.stringify(value);
  if (!text.includes(`"${TAG}"`)) return value;
  checkTags(value, text.length, label);
  try {
    return decodeValue(text);
  } catch {
    throw invalidRequest(`${label} has an object with the key ${TAG} that isn't in Perdure's format.`);
  }
}

/** Guards the stack of the recursive code that follows. */
function checkDepth(value: unknown, level: number, label: string): void {
  if (typeof value !== "object" || value === null) return;
  if (level > MAX_WIRE_LEVELS) throw invalidRequest(`${label} is nested more than ${MAX_WIRE_LEVELS} levels deep.`);
  for (const part of Object.values(value)) checkDepth(part, level + 1, label);
}

/** Refuses values that cost far more than their length suggests, and streams, which only steps make. */
function checkTags(value: unknown, longest: number, label: string): void {
  if (typeof value !== "object" || value === null) return;
  const { [TAG]: kind, length, value: content } = value as Record<string, unknown>;
  if (kind === "array" && Number(length) > longest) {
    throw invalidRequest(`${label} has an array with more holes than a request may have.`);
  }
  if (kind === "bigint" && String(content).length > MOST_DIGITS) {
    throw invalidRequest(`${label} has a big integer of more than ${MOST_DIGITS} digits.`);
  }
  if (kind === "stream") throw invalidRequest(`${label} has a stream, which only a step can return.`);
  for (const part of Object.values(value)) checkTags(part, longest, label);
}
