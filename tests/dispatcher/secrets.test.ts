import { inspect } from "node:util";
import { expect, inject, test } from "vitest";
import { perdure } from "../../src/index.ts";
import { recordCalls } from "../hooks/support/handlers.ts";
import { LogBook } from "../hooks/support/log-book.ts";

const PASSWORD = "correct-horse-battery-staple";

const BROKEN: readonly { name: string; parts: Partial<Pick<URL, "port" | "hostname" | "username" | "search">> }[] = [
  { name: "a wrong password", parts: {} },
  { name: "a server that isn't there", parts: { port: "1" } },
  { name: "a host that isn't there", parts: { hostname: "nowhere.invalid" } },
  { name: "a user that isn't there", parts: { username: "nobody-of-this-name" } },
  { name: "an option that isn't one", parts: { search: "?sslmode=nonsense" } },
];

test.each(BROKEN)("$name never reveals the password", async ({ parts }) => {
  const logger = new LogBook();
  const url = Object.assign(new URL(inject("postgres").url), { password: PASSWORD, ...parts });
  const opened = perdure({ database: url.href, hooks: { greet: recordCalls<string>().definition }, logger });
  const error: unknown = await opened.then(
    () => undefined,
    (problem: unknown) => problem,
  );

  expect(error).toBeInstanceOf(Error);
  expect(inspect({ error, logs: logger.lines }, { depth: null })).not.toContain(PASSWORD);
});

test.each([
  `postgres://user:${PASSWORD}@host:notaport/app`,
  `postgres://user:${PASSWORD}%zz@127.0.0.1:1/app`,
  `postgres:/user:${PASSWORD}@host/app`,
  `mysql://user:${PASSWORD}@host/app`,
  `postgres//user:${PASSWORD}@host/app`,
])("a URL that can't be read is refused without being shown: %#", async (url) => {
  const logger = new LogBook();
  const opened = perdure({ database: url, hooks: { greet: recordCalls<string>().definition }, logger });
  const error: unknown = await opened.then(
    () => undefined,
    (problem: unknown) => problem,
  );

  expect(error).toBeInstanceOf(Error);
  expect(inspect({ error, logs: logger.lines }, { depth: null })).not.toContain(PASSWORD);
});
