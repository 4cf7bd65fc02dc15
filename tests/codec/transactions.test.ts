import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { afterEach, describe, expect, test } from "vitest";
import { type Codec, defineHook, fromNodeSqlite, fromPg, perdure } from "../../src/index.ts";
import { ENGINES, type TestStore } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { BACKWARDS, OLD } from "./support/keys.ts";
import { readRawText } from "./support/raw-text.ts";

const opened: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function start(dialect: "sqlite" | "postgres", codec: Codec) {
  const engine = ENGINES.find((one) => one.dialect === dialect);
  const database = (await engine?.create({ codec })) as TestStore;
  opened.push(() => database.dispose());
  const notes: string[] = [];
  const note = defineHook({}, (text: string) => void notes.push(text));
  const app = await perdure({ database: database.adapter, hooks: { note } });
  opened.push(() => app.stop());
  return { app, notes, database };
}

describe("in the application's own transaction", () => {
  test.each([{ key: "k" }, {}])("on PostgreSQL an asynchronous codec is waited for (%o)", async (options) => {
    const { app, notes, database } = await start("postgres", OLD);
    const client = new pg.Client(database.location);
    await client.connect();
    opened.push(() => client.end());
    await client.query("begin");
    await app.within(fromPg(client)).triggerHook("note", "a secret text", options);
    await client.query("commit");
    await waitUntil("the hook has run", () => notes.length > 0);
    expect(notes).toEqual(["a secret text"]);
    expect(await readRawText(database)).not.toContain("a secret text");
  });

  test("on SQLite an asynchronous codec is refused, and nothing is written", async () => {
    const { app, database } = await start("sqlite", OLD);
    using handle = new DatabaseSync(database.location);
    handle.exec("begin");
    expect(() => app.within(fromNodeSqlite(handle)).triggerHook("note", "x")).toThrow(
      expect.objectContaining({ code: "transaction.async_codec" }),
    );
    handle.exec("commit");
    expect((await app.durableHooks.list()).hooks).toEqual([]);
  });

  test.each([{ key: "k" }, {}])("on SQLite a synchronous codec works (%o)", async (options) => {
    const { app, notes, database } = await start("sqlite", BACKWARDS);
    using handle = new DatabaseSync(database.location);
    handle.exec("begin");
    app.within(fromNodeSqlite(handle)).triggerHook("note", "a secret text", options);
    handle.exec("commit");
    await waitUntil("the hook has run", () => notes.length > 0);
    expect(notes).toEqual(["a secret text"]);
    expect(await readRawText(database)).not.toContain("a secret text");
  });
});

test("a codec is given where the database is opened, and nowhere else", async () => {
  const { database } = await start("sqlite", OLD);
  await expect(perdure({ database: database.adapter, codec: OLD })).rejects.toMatchObject({ code: "options.invalid" });
  for (const codec of [null, {}, { encode: () => "" }, "aes"]) {
    const open = perdure({ database: ":memory:", codec: codec as never });
    await expect(open).rejects.toMatchObject({ code: "options.invalid" });
  }
  const hooks = { note: defineHook({}, (_: string) => {}) };
  await using app = await perdure({ database: ":memory:", hooks, codec: OLD, worker: false });
  const { id } = await app.hooks.note.trigger("a text");
  expect(await app.durableHooks.get(id)).toMatchObject({ payload: "a text" });
});
