import { Client } from "pg";
import { describe, expect, test } from "vitest";
import { defineWorkflow, perdure } from "../../src/index.ts";
import { postgres } from "../../src/store/postgres/index.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { createDatabase } from "../support/postgres-database.ts";
import { WRONG_CLOCKS } from "../support/wrong-clocks.ts";
import { becomes } from "./support/sample.ts";

const HOUR = 3_600_000;

describe.each(WRONG_CLOCKS)("a process whose clock is hours %s, on postgres", (name, clock) => {
  test("sleeps, retries and waits by the database's time", async () => {
    const database = await createDatabase();
    const wrong = postgres(database.url, { clock });
    try {
      const workflow = defineWorkflow({ name: "timed" }, async (_event, step) => {
        await step.sleep("short", 30);
        await step.do("work", { retries: { limit: 1, delay: 30 } }, ({ attempt }) => {
          if (attempt === 1) throw new Error("not yet");
        });
        const late = step.waitForEvent("word", { type: "word", timeout: "1 second" });
        return late.catch((thrown: Error) => thrown.name);
      });
      const sleeper = defineWorkflow({ name: "sleeper" }, async (_event, step) => step.sleep("long", "1 hour"));
      const options = { workflows: { workflow, sleeper }, logger: new LogBook(), database: wrong };
      await using app = await perdure({ ...options, worker: { pollIntervalMs: 20 } });
      const long = await app.workflows.sleeper.create({ id: "long" });
      const instance = await app.workflows.workflow.create({ id: "one" });

      await expect(instance.result({ timeout: "20 seconds" })).resolves.toBe("EventTimeoutError");
      expect(await long.status()).toMatchObject({ status: "waiting" });
      const { createdAt, finishedAt } = await instance.status();
      expect(Math.abs(createdAt.getTime() - Date.now())).toBeLessThan(HOUR);
      expect(Math.abs((finishedAt as Date).getTime() - Date.now())).toBeLessThan(HOUR);
      const { reason, sentence, clockAheadMs } = await long.explain();
      expect(reason.reason).toBe("sleeping");
      expect(clockAheadMs).toBeGreaterThan(name === "fast" ? 2 * HOUR : -4 * HOUR);
      expect(clockAheadMs).toBeLessThan(name === "fast" ? 4 * HOUR : -2 * HOUR);
      expect(sentence).toContain(`ms ${name === "fast" ? "ahead of" : "behind"} the database's`);
      const [deadline] = (await long.history()).entries;
      const remaining = Number(deadline?.dueAt) - Date.now();
      expect(remaining).toBeGreaterThan(0);
      expect(remaining).toBeLessThan(2 * HOUR);
    } finally {
      await wrong.store.close();
      await database.drop();
    }
  });

  test("ends the wait of a token until its deadline, by the database's time", async () => {
    const database = await createDatabase();
    const wrong = postgres(database.url, { clock });
    const tokens = { secret: "a secret of more than thirty-two characters" };
    try {
      const given = new Map<string, string>();
      const ask = defineWorkflow({ name: "ask" }, async ({ instanceId }, step) => {
        const token = await step.createToken<string>("approval", { timeout: "1 hour" });
        await step.do("give out", () => void given.set(instanceId, token.value));
        return token.result();
      });
      await using app = await perdure({ workflows: { ask }, tokens, logger: new LogBook(), database: wrong });
      const open = await app.workflows.ask.create({ id: "open" });
      const late = await app.workflows.ask.create({ id: "late" });
      for (const instance of [open, late]) await becomes(instance, "waiting");
      await app.completeToken(given.get("open") as string, "yes");
      await expect(open.result()).resolves.toBe("yes");
      const client = new Client({ connectionString: database.url });
      await client.connect();
      const passed = `update perdure.journal set due_at = due_at - ${2 * HOUR} where kind = 'waiting'`;
      await client.query(passed).finally(() => client.end());
      const completing = app.completeToken(given.get("late") as string, "yes");

      await expect(completing).rejects.toMatchObject({ code: "token.revoked" });
    } finally {
      await wrong.store.close();
      await database.drop();
    }
  });
});
