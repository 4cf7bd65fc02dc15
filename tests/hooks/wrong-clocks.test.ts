import { describe, expect, test } from "vitest";
import { perdure } from "../../src/index.ts";
import { postgres } from "../../src/store/postgres/index.ts";
import { createDatabase } from "../support/postgres-database.ts";
import { WRONG_CLOCKS } from "../support/wrong-clocks.ts";
import { recordCalls } from "./support/handlers.ts";
import { LogBook } from "./support/log-book.ts";
import { eventually } from "./support/use-hooks.ts";

const HOUR = 3_600_000;

describe.each(WRONG_CLOCKS)("a process whose clock is hours %s, on postgres", (name, clock) => {
  test("runs, retries and schedules hooks by the database's time", async () => {
    const database = await createDatabase();
    const [right, wrong] = [postgres(database.url), postgres(database.url, { clock })];
    try {
      const greet = recordCalls<string>(
        (name, hook) => name === "twice" && hook.attempts === 1 && Promise.reject("no"),
        {
          retries: { delay: 20, backoff: "constant" },
        },
      );
      const options = { hooks: { greet: greet.definition }, logger: new LogBook() };
      await using writer = await perdure({ ...options, database: right, worker: false });
      await using worker = await perdure({ ...options, database: wrong, worker: { pollIntervalMs: 20 } });
      const before = Date.now() - 1000;
      await writer.hooks.greet.trigger("from elsewhere");
      await worker.hooks.greet.trigger("from here");
      await worker.hooks.greet.trigger("twice");
      await writer.hooks.greet.trigger("scheduled", { processAt: Date.now() + 50 });
      const late = await writer.hooks.greet.trigger("much later", { processAt: Date.now() + HOUR });
      await eventually(() => expect(greet.calls).toHaveLength(5));

      expect(greet.payloads.toSorted()).toEqual(["from elsewhere", "from here", "scheduled", "twice", "twice"]);
      for (const { hook } of greet.calls) {
        expect(hook.createdAt.getTime()).toBeGreaterThan(before);
        expect(hook.createdAt.getTime()).toBeLessThan(Date.now() + 1000);
      }
      const { reason, clockAheadMs } = await worker.durableHooks.explain(late.id);
      expect(reason.reason).toBe("scheduled");
      expect(Math.sign(clockAheadMs as number)).toBe(name === "fast" ? 1 : -1);
      expect(await worker.durableHooks.get(late.id)).toMatchObject({ status: "pending", attempts: 0 });
    } finally {
      for (const { store } of [right, wrong]) await store.close();
      await database.drop();
    }
  });
});
