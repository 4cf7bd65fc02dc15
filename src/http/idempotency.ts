import { invalidRequest } from "./http-error.ts";
import type { Route } from "./route.ts";

const HEADER = "idempotency-key";
const LONGEST_KEY = 255;
const KEY = /^[\x21-\x7e]+$/;

/**
 * The key of a request that its sender may repeat. Refused where it would promise nothing: a caller must not think that such a request
 * can be sent twice.
 */
export function readIdempotencyKey({ repeatable = false, method }: Route, headers: Headers): string | null {
  const key = headers.get(HEADER);
  if (key === null || method === "GET") return null;
  if (!repeatable) throw invalidRequest("This route takes no Idempotency-Key: repeated, it would do the same again.");
  if (key.length <= LONGEST_KEY && KEY.test(key)) return key;
  throw invalidRequest(`An Idempotency-Key must be 1 to ${LONGEST_KEY} visible ASCII characters.`);
}

const DIGITS = 40;

/** An id that follows from the hash of a key, for what is created or sent under it. No caller gives such an id by accident. */
export function idOfKey(hash: string, suffix: string = ""): string {
  return `key-${hash.slice(0, DIGITS)}${suffix}`;
}
