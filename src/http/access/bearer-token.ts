import { InvalidInputError } from "../../errors.ts";
import type { Policy } from "./authorization.ts";

const SHORTEST_TOKEN = 16;
const CREDENTIALS = /^bearer +(\S+)$/i;

/**
 * A policy that allows requests with one of these tokens as `Authorization: Bearer …`. Tokens are compared in constant time.
 * Give several to replace a token without downtime.
 *
 * @example
 * createHttpHandler(app, { basePath: "/perdure", authorize: bearerToken(token) });
 */
export function bearerToken(tokens: string | readonly string[]): Policy {
  const accepted = Array.isArray(tokens) ? (tokens as readonly unknown[]) : [tokens];
  if (accepted.length === 0 || !accepted.every(isToken)) {
    throw new InvalidInputError(
      "options.invalid",
      `bearerToken takes a token of at least ${SHORTEST_TOKEN} characters without spaces, or several. An empty token would let every caller in.`,
    );
  }
  let expected: Promise<Uint8Array[]> | undefined; // computed at the first request: a Worker can't do so while it is loaded
  return async ({ request }) => {
    const [, given] = CREDENTIALS.exec(request.headers.get("authorization") ?? "") ?? [];
    if (given === undefined) return "unauthenticated";
    const actual = await digest(given);
    let found = false;
    expected ??= Promise.all(accepted.map(digest));
    for (const one of await expected) found = isSame(one, actual) || found; // compares all, so that the time doesn't show which one matched
    return found ? true : "unauthenticated";
  };
}

function isToken(token: unknown): token is string {
  return typeof token === "string" && token.length >= SHORTEST_TOKEN && !/\s/.test(token);
}

/** Always of the same length, so that a comparison never stops early. */
async function digest(token: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token)));
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length;
  for (const [index, byte] of one.entries()) difference |= byte ^ (other[index] as number);
  return difference === 0;
}
