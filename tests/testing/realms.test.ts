import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createContext, runInContext } from "node:vm";
import { expect, test } from "vitest";
import { defineHook } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";

/** jest runs tests in a realm of their own: their dates, bytes, errors and promises aren't ours. */
const realm = createContext({ Buffer });
const elsewhere = <Value>(code: string) => runInContext(code, realm) as Value;

test("values of another realm are taken for what they are", async () => {
  const seen: unknown[] = [];
  const app = await createTestApp({
    startAt: elsewhere<Date>("new Date('2031-01-01')"),
    tables: "create table note (at text, bytes blob)",
    hooks: { note: defineHook({ input: elsewhere<never>(SCHEMA) }, (payload: unknown) => void seen.push(payload)) },
  });
  expect(new Date(app.now()).getUTCFullYear()).toBe(2031);

  const payload = elsewhere("({ at: new Date(5), tags: new Map([['a', [1, 2n]]]) })");
  const processAt = elsewhere<Date>("new Date('2031-01-02')");
  await app.hooks.note.trigger(
    payload as never,
    elsewhere<(at: Date) => object>("(at) => ({ processAt: at })")(processAt),
  );
  await app.advance("23 hours");
  expect(seen).toEqual([]);
  await app.advance("1 hour");
  expect(seen).toEqual([{ at: new Date(5), tags: new Map([["a", [1, 2n]]]) }]);

  await app.unitOfWork(async (uow) => {
    const at = elsewhere<Date>("new Date(0)");
    const bytes = elsewhere<Uint8Array>("new Uint8Array([1, 2])");
    await uow.sql`insert into note (at, bytes) values (${at}, ${bytes})`;
  });
  expect(app.database.prepare("select at, bytes from note").get()).toEqual({
    at: "1970-01-01T00:00:00.000Z",
    bytes: new Uint8Array([1, 2]),
  });
  await app.stop();
});

test("an error of a handler of another realm says when to try again", async () => {
  const app = await createTestApp({
    hooks: { fail: defineHook(elsewhere<() => void>(FAILURE)) },
  });
  const { id } = await app.hooks.fail.trigger();
  await app.runUntilIdle();
  const hook = await app.durableHooks.get(id);
  expect(hook?.availableAt).toEqual(new Date("2035-01-01"));
  expect(hook?.error).toMatchObject({ message: "later" });
  await app.stop();
});

test("the whole kit can live in another realm, as it does in jest", async () => {
  const program = fileURLToPath(new URL("./support/realm-program.ts", import.meta.url));
  const flags = ["--experimental-vm-modules", "--no-warnings"];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program]);
  expect(stdout).toBe("done\n");
});

/** It validates asynchronously, with a promise that isn't ours. */
const SCHEMA = `({
  "~standard": { version: 1, vendor: "elsewhere", validate: async (value) => ({ value }) },
})`;

const FAILURE = `() => {
  throw Object.assign(new Error("later"), { retryAfter: new Date("2035-01-01") });
}`;
