import { InvalidInputError } from "../../errors.ts";
import type { Policy } from "./authorization.ts";

const SHORTEST_TOKEN = 16;
const CREDENTIALS = /^bearer +(\S+)$/i;

/**
 * A policy that lets those in who send one of these tokens as `Authorization: Bearer …`. How long it takes says nothing about how
 * much of a token was right. Give several to change tokens without a gap.
 *
 * @example
 * createHttpHandler(app, { basePath: "/perdure", authorize: bearerToken(token) });
 */
export function bearerToken(tokens: string | readonly string[]): Policy {
  const accepted = Array.isArray(tokens) ? (tokens as readonly unknown[]) : [tokens];
  if (accepted.length === 0 || !accepted.every(isToken)) {
    throw new InvalidInputError(
      "options.invalid",
      `bearerToken takes a token of at least ${SHORTEST_TOKEN} characters without spaces, or several; an empty one would let everybody in.`,
    );
  }
  let expected: Promise<Uint8Array[]> | undefined; // not before it is needed: a Worker may not ask while it is loaded
  return async ({ request }) => {
    const [, given] = CREDENTIALS.exec(request.headers.get("authorization") ?? "") ?? [];
    if (given === undefined) return "unauthenticated";
    const actual = await digest(given);
    let found = false;
    expected ??= Promise.all(accepted.map(digest));
    for (const one of await expected) found = isSame(one, actual) || found; // all of them, so that time doesn't tell which
    return found ? true : "unauthenticated";
  };
}

function isToken(token: unknown): token is string {
  return typeof token === "string" && token.length >= SHORTEST_TOKEN && !/\s/.test(token);
}

/** Of equal length whatever the token, so comparing never stops early. */
async function digest(token: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token)));
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length;
  for (const [index, byte] of one.entries()) difference |= byte ^ (other[index] as number);
  return difference === 0;
}
