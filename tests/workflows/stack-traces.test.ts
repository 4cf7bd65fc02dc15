import { describe, expect, test } from "vitest";
import { defineHook, defineWorkflow, perdure } from "../../src/index.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { ENGINES, type TestStore } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";

function throwDeeply(): never {
  throw new RangeError("too far", { cause: new Error("the reason") });
}

const fails = defineWorkflow({ name: "fails" }, async (_event, step) => {
  await step.do("reach", { retries: { limit: 0, delay: 0 } }, async () => throwDeeply());
});
const reach = defineHook({ retries: { limit: 0 } }, async () => throwDeeply());

describe.each(ENGINES)("stack traces on $name", (engine) => {
  /** The errors of the workflow and the hook in the log. Workers log them after the outcomes are written. */
  function loggedErrors(logger: LogBook) {
    return eventually(() => {
      const logged = logger.lines.filter(({ message }) => message.includes("failed for good"));
      expect(logged).toHaveLength(2);
      return logged.map(({ details }) => details?.["error"]);
    });
  }

  /** An application whose workflow and hook have failed. */
  async function failed(fixture: TestStore, logger: LogBook) {
    const app = await perdure({ database: fixture.adapter, workflows: { fails }, hooks: { reach }, logger });
    const instance = await app.workflows.fails.create({ id: "a" });
    await app.hooks.reach.trigger();
    await eventually(async () => expect((await app.durableHooks.deadLetters()).hooks).toHaveLength(1));
    await expect(instance.result()).rejects.toThrow("too far");
    return { app, instance };
  }

  test("are shown in status(), history, dead letters and the log", async () => {
    const logger = new LogBook();
    const fixture = await engine.create({ logger });
    const { app, instance } = await failed(fixture, logger);
    try {
      const where = expect.stringMatching(/RangeError: too far.*throwDeeply/s);
      expect((await instance.status()).error).toEqual({ name: "RangeError", message: "too far", stack: where });
      expect((await instance.history()).entries.find(({ kind }) => kind === "failed")?.error?.stack).toEqual(where);
      const { hooks } = await app.durableHooks.deadLetters();
      expect(hooks[0]?.error).toMatchObject({ stack: where });
      const errors = await loggedErrors(logger);
      expect(errors).toMatchObject([{ stack: where }, { stack: where }]);
      expect(errors[0]).toMatchObject({ cause: { message: "the reason" } });
    } finally {
      await app.stop();
      await fixture.dispose();
    }
  });

  test("are nowhere if they are turned off", async () => {
    const logger = new LogBook();
    const fixture = await engine.create({ logger, stackTraces: false });
    const { app, instance } = await failed(fixture, logger);
    try {
      expect((await instance.status()).error).toEqual({ name: "RangeError", message: "too far" });
      const { entries } = await instance.history();
      expect(entries.find(({ kind }) => kind === "failed")?.error).toEqual({ name: "RangeError", message: "too far" });
      const { hooks } = await app.durableHooks.deadLetters();
      expect(hooks[0]?.error).toMatchObject({ stack: undefined, cause: { stack: undefined } });
      const description = { name: "RangeError", message: "too far" };
      expect(await loggedErrors(logger)).toEqual([description, description]);
    } finally {
      await app.stop();
      await fixture.dispose();
    }
  });
});
