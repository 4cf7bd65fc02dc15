import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { NonRetryableError } from "./errors.ts";
import { isNonRetryable } from "./non-retryable.ts";
import { decodeValue, encodeError } from "./values/index.ts";

/** As `cloudflare:workflows` has it. */
const Foreign = { NonRetryableError: class NonRetryableError extends Error {} }.NonRetryableError;

test("errors of our class and of Cloudflare's aren't retried, whatever their names", () => {
  const named = Object.assign(new Foreign("no"), { name: "Declined" });
  const elsewhere: unknown = runInNewContext(
    `class NonRetryableError extends Error {}; Object.assign(new NonRetryableError("no"), { name: "Declined" })`,
  );

  expect(isNonRetryable(new NonRetryableError("no", "Declined"))).toBe(true);
  expect(isNonRetryable(Object.assign(new Error("no"), { name: "NonRetryableError" }))).toBe(true);
  expect([named, elsewhere].map(isNonRetryable)).toEqual([true, true]);
});

test("an error of our class that was stored isn't retried, whatever its name", () => {
  const stored = [new NonRetryableError("no"), new NonRetryableError("no", "Declined")].map(encodeError);

  expect(stored.map((text) => isNonRetryable(decodeValue(text)))).toEqual([true, true]);
});

test("all other errors are, and so is whatever else is thrown", () => {
  const hostile = {
    get name(): string {
      throw new Error("no");
    },
  };
  const others = [
    new Error("NonRetryableError"),
    new TypeError("no"),
    "NonRetryableError",
    null,
    undefined,
    1,
    hostile,
  ];

  expect(others.map(isNonRetryable)).toEqual(others.map(() => false));
});
