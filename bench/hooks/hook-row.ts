import { randomInt } from "node:crypto";
import type { Payload } from "./payload.ts";

export const NAMESPACE = "bench";
export const HOOK_NAME = "sendMail";

/** A row as an engine would have to write it, for the floors. Lock and attempts have defaults. */
export interface HookRow {
  readonly id: string;
  readonly payload: string;
  readonly availableAt: number;
}

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const run = randomInt(2 ** 40);
let count = 0;

export function makeHookRow(payload: Payload): HookRow {
  const now = Date.now();
  return { id: makeId(now), payload: JSON.stringify(payload), availableAt: now };
}

/** 26 characters that sort by time. */
function makeId(now: number): string {
  return encode(now, 10) + encode(count++, 8) + encode(run, 8);
}

function encode(value: number, length: number): string {
  let rest = value;
  let text = "";
  for (let index = 0; index < length; index++) {
    text = ALPHABET[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
