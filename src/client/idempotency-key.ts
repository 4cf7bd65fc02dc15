const BYTES = 16;

/** A key that nobody else comes upon. `crypto.randomUUID` isn't there for pages that came without HTTPS. */
export function createIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
