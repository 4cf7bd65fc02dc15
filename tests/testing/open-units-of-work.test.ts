import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { defineHook } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";

async function setUp() {
  const ran: string[] = [];
  const note = defineHook(async (text: string) => void ran.push(text));
  return { ran, app: await createTestApp({ hooks: { note } }) };
}

test.each([
  ["advance", 1000],
  ["runUntilIdle", 0],
] as const)("%s waits for a unit of work that is open, and runs what that triggers", async (drive, ms) => {
  const { app, ran } = await setUp();
  await using _ = app;
  await app.hooks.note.trigger("before");
  const work = app.unitOfWork(async (uow) => {
    await wait(30);
    uow.triggerHook("note", "within");
  });
  await (drive === "advance" ? app.advance(ms) : app.runUntilIdle());

  expect(ran.toSorted()).toEqual(["before", "within"]);
  await work;
});

test.each(["advance", "runUntilIdle"] as const)(
  "%s says so where a unit of work is open that waits for the test",
  async (drive) => {
    const { app, ran } = await setUp();
    await using _ = app;
    const { promise, resolve } = Promise.withResolvers<void>();
    await app.hooks.note.trigger("before");
    const work = app.unitOfWork(async (uow) => {
      await promise;
      uow.triggerHook("note", "within");
    });

    await expect(drive === "advance" ? app.advance(1000) : app.runUntilIdle()).rejects.toMatchObject({
      code: "testing.stuck",
      message: expect.stringContaining("a unit of work"),
    });
    resolve();
    await work;
    await app.runUntilIdle();
    expect(ran.toSorted()).toEqual(["before", "within"]);
  },
);
