import { DatabaseSync } from "node:sqlite";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sqlite } from "../../src/store/sqlite/index.ts";
import { DRIVERS, type TestEngine, type TestStore } from "../support/engines.ts";
import { StoreUnderTest } from "../support/use-store.ts";

/** Longer than any test may take: who waits for it, blocks the event loop and fails. */
const FOR_EVER_MS = 600_000;
const LIBRARIES = [
  { name: "node:sqlite", open: (path: string) => new DatabaseSync(path, { timeout: FOR_EVER_MS }) },
  { name: "node:sqlite before Node 22.16", open: openOld },
  { name: "better-sqlite3", open: (path: string) => new Database(path, { timeout: FOR_EVER_MS }) },
] as const;

/** A handle that doesn't say whether it has a transaction open, nor where its file is. */
function openOld(path: string): Pick<DatabaseSync, "exec" | "prepare" | "close"> {
  const handle = new DatabaseSync(path, { timeout: FOR_EVER_MS });
  return {
    exec: (text) => handle.exec(text),
    prepare: (text) => handle.prepare(text),
    close: () => handle.close(),
  };
}

describe.each(LIBRARIES)("an application's own handle of $name", ({ open }) => {
  const fixture = new StoreUnderTest();
  let database: TestStore;
  let handle: ReturnType<typeof open>;
  let handles: { close(): unknown }[] = [];

  beforeEach(async () => {
    const engine = DRIVERS.find(({ name }) => name === "node:sqlite") as TestEngine;
    database = await engine.create({ clock: fixture.clock });
    handle = open(database.location);
    handles = [handle];
    fixture.database = { ...database, store: sqlite(handle, { clock: fixture.clock }).store };
  });
  afterEach(async () => {
    await fixture.store.close();
    for (const one of handles) one.close();
    await database.dispose();
  });

  test("is left open when the store is closed", async () => {
    await fixture.insert({ id: "a" });
    await fixture.store.close();

    expect(handle.prepare("select id from perdure_hook").all()).toMatchObject([{ id: "a" }]);
  });

  test("is waited for while the application's own transaction is open on it, and isn't joined", async () => {
    handle.exec("begin");
    handle.exec("create table note (text text)");
    const inserting = fixture.insert({ id: "a" });
    await new Promise((resolve) => setImmediate(resolve));
    handle.exec("rollback");

    expect(await inserting).toMatchObject({ result: "inserted" });
    expect(await fixture.ids()).toEqual(["a"]);
  });

  test("has no transaction open after one that failed", async () => {
    const failing = fixture.store.engine.transaction(async (tx) => {
      await tx.insertHooks([fixture.trigger({ id: "a" })]);
      throw new Error("refused");
    });

    await expect(failing).rejects.toThrow("refused");
    handle.exec("begin; commit");
    expect(await fixture.ids()).toEqual([]);
  });

  test("doesn't block the event loop while another connection writes, however long its timeout is", async () => {
    const other = new DatabaseSync(database.location);
    handles.push(other);
    other.exec("begin immediate");
    const inserting = fixture.insert({ id: "a" });
    const changing = fixture.store.engine.transaction((tx) => tx.insertHooks([fixture.trigger({ id: "b" })]));
    await new Promise((resolve) => setImmediate(resolve));
    other.exec("commit");

    expect(await inserting).toMatchObject({ result: "inserted" });
    expect(await changing).toMatchObject([{ result: "inserted" }]);
    expect(handle.prepare("pragma busy_timeout").all()).toMatchObject([{ timeout: FOR_EVER_MS }]);
  });
});
