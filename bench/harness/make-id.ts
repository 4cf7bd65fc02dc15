import { randomInt } from "node:crypto";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const run = randomInt(2 ** 40);
let count = 0;

/** 26 characters that sort by time. */
export function makeId(now: number): string {
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
