/** What a test in jest may do with the kit. It runs in a realm of its own. */
import { deepEqual } from "node:assert/strict";
import { defineHook, NonRetryableError, PerdureError } from "../../../src/index.ts";
import { createTestApp, exploreCrashes } from "../../../src/testing/index.ts";

const seen: unknown[] = [];
const app = await createTestApp({
  startAt: new Date("2031-01-01"),
  tables: "create table note (at text, bytes blob)",
  hooks: {
    note: defineHook(async (payload: unknown, hook) => {
      if (hook.attempts === 1) await app.crash();
      seen.push(payload, hook.processAt instanceof Date);
    }),
    fail: defineHook(() => {
      throw new NonRetryableError("never");
    }),
  },
});
const payload = {
  at: new Date(5),
  tags: new Map([["a", new Set([1n])]]),
  bytes: new Uint8Array([1]),
  error: new TypeError("t"),
};
await app.hooks.note.trigger(payload, { processAt: new Date("2031-01-02") });
await app.advance("2 days");
deepEqual(seen, [payload, true]);

await app.unitOfWork(async (uow) => {
  await uow.sql`insert into note (at, bytes) values (${new Date(0)}, ${Buffer.from([1, 2])})`;
  await uow.sql`insert into note (at, bytes) values (${null}, ${new Uint8Array([3])})`;
  uow.triggerHook("fail");
});
deepEqual(Number(app.database.prepare("select sum(length(bytes)) as total from note").get()?.total), 3);
await app.runUntilIdle();
deepEqual((await app.durableHooks.deadLetters()).hooks.length, 1);
deepEqual(await app.hooks.note.trigger(() => {}).catch((error: unknown) => error instanceof PerdureError), true);
await app.stop();

const { outcomes } = await exploreCrashes(
  {
    setUp() {
      const keys = new Set<string>();
      return { hooks: { charge: defineHook((_order: string, hook) => void keys.add(hook.idempotencyKey)) }, keys };
    },
    run: (one) => one.hooks.charge.trigger("order", { id: "order" }),
    check: (_app, { keys }) => ({ charges: keys.size, at: new Date(0) }),
  },
  { runAgain: true },
);
deepEqual(outcomes.length, 1);
console.info("done");
