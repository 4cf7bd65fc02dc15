import { afterEach, describe, expect, test } from "vitest";
import {
  type AsyncTransaction,
  defineHook,
  defineWorkflow,
  fromBetterSqlite3,
  fromNodeSqlite,
  fromPg,
  type OwnedTransaction,
  perdure,
} from "../../src/index.ts";
import { DRIVERS, type TestEngine } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";

const opened: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const WRAPPERS: Partial<Record<TestEngine["name"], (client: never) => unknown>> = {
  "node:sqlite": fromNodeSqlite,
  "better-sqlite3": fromBetterSqlite3,
  postgres: fromPg,
};

const told = defineWorkflow({ name: "told" }, async (_event, step) => {
  return (await step.waitForEvent<string>("told", { type: "told", timeout: "1 hour" })).payload;
});

describe.each(DRIVERS)("app.within on the connection of Perdure's own transaction on $name", (engine) => {
  async function start() {
    const database = await engine.create();
    opened.push(() => database.dispose());
    const notes: string[] = [];
    const note = defineHook({}, (text: string) => void notes.push(text));
    const tell = async (tx: OwnedTransaction, text: string) => {
      const within = app.within(WRAPPERS[engine.name]?.(tx.client as never) as AsyncTransaction);
      await within.triggerHook("note", text);
      await within.workflows.told.createOrSend({ id: "told", event: { type: "told", payload: text } });
    };
    const move = defineWorkflow({ name: "move" }, (_event, step) =>
      step.transaction("write", { retries: { limit: 1, delay: 0 } }, async (tx, { attempt }) => {
        await tell(tx, `attempt ${attempt}`);
        if (attempt === 1) throw new Error("not yet");
      }),
    );
    const credit = defineHook({}, async (_payload: undefined, hook) => {
      await hook.transaction((tx) => tell(tx, "hook"));
    });
    const logger = { info: () => {}, warn: () => {}, error: () => {} };
    const app = await perdure({
      database: database.reopen({ logger }),
      hooks: { note, credit },
      workflows: { told, move },
      logger,
    });
    opened.push(() => app.stop());
    return { app, notes };
  }

  test("writes with a step, and nothing of an attempt that fails", async () => {
    const { app, notes } = await start();
    await (await app.workflows.move.create()).result();
    await waitUntil("the hook has run", () => notes.length > 0);
    expect(notes).toEqual(["attempt 2"]);
    expect(await (await app.workflows.told.get("told")).result()).toBe("attempt 2");
  });

  test("writes with the end of a hook", async () => {
    const { app, notes } = await start();
    await app.hooks.credit.trigger();
    await waitUntil("the hook has run", () => notes.length > 0);
    expect(notes).toEqual(["hook"]);
    expect(await (await app.workflows.told.get("told")).result()).toBe("hook");
  });
});
