import { decodeValue, encodeValue } from "../values/index.ts";
import { MAX_LEVELS, TAG } from "../values/tags.ts";
import { invalidRequest } from "./answers/http-error.ts";

/** A value's own levels, and those of the objects that stand for something else. */
const MAX_WIRE_LEVELS = MAX_LEVELS * 2;
/** To read and write a number takes far more than twice the time for twice the digits. */
const MOST_DIGITS = 20_000;

/**
 * What users store, on the wire: plain JSON as it is, and what JSON can't say in the form that it is stored in, objects with the
 * key `$perdure`. See values/tags.ts.
 */
export function toWire(value: unknown): unknown {
  return JSON.parse(encodeValue(value)) as unknown;
}

/** A value that was sent in. What it has of `$perdure` becomes what it stands for. */
export function fromWire(value: unknown, label: string): unknown {
  checkDepth(value, 1, label);
  const text = JSON.stringify(value);
  if (!text.includes(`"${TAG}"`)) return value;
  checkTags(value, text.length, label);
  try {
    return decodeValue(text);
  } catch {
    throw invalidRequest(`${label} has an object with the key ${TAG} that isn't one of ours.`);
  }
}

/** Everything below may go down into it, and has a stack that ends somewhere. */
function checkDepth(value: unknown, level: number, label: string): void {
  if (typeof value !== "object" || value === null) return;
  if (level > MAX_WIRE_LEVELS) throw invalidRequest(`${label} is nested more than ${MAX_WIRE_LEVELS} levels deep.`);
  for (const part of Object.values(value)) checkDepth(part, level + 1, label);
}

/** What is sent must not stand for more work than its length says, nor for what only steps make. */
function checkTags(value: unknown, longest: number, label: string): void {
  if (typeof value !== "object" || value === null) return;
  const { [TAG]: kind, length, value: content } = value as Record<string, unknown>;
  if (kind === "array" && Number(length) > longest) {
    throw invalidRequest(`${label} has an array with more holes than a request may have.`);
  }
  if (kind === "bigint" && String(content).length > MOST_DIGITS) {
    throw invalidRequest(`${label} has a big integer of more than ${MOST_DIGITS} digits.`);
  }
  if (kind === "stream") throw invalidRequest(`${label} has a stream, which only a step can give.`);
  for (const part of Object.values(value)) checkTags(part, longest, label);
}
