import { NonRetryableError } from "./errors.ts";

const NAME = "NonRetryableError";
const CODES: readonly unknown[] = ["error.non_retryable", "step.wait_inside_step"];

/**
 * Whether an error says that there is no point in trying again. In a Worker code may throw Cloudflare's own class, and with two
 * copies of this package that of the other: so it is known by its name, or by that of its class, too. One that an inner step
 * threw has lost its class when it was stored, and may have a name of its own: it is known by its code.
 */
export function isNonRetryable(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  try {
    if (error instanceof NonRetryableError) return true;
    const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
    return (
      name === NAME || CODES.includes(code) || Reflect.get(Object(Reflect.get(error, "constructor")), "name") === NAME
    );
  } catch {
    return false; // any value can be thrown, even one whose getters throw
  }
}
