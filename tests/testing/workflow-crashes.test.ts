import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { createTour } from "./support/tour.ts";

describe("a crash", () => {
  test("leaves an instance where its last commit was, for another process to continue", async () => {
    const ran: string[] = [];
    const tour = defineWorkflow({ name: "tour" }, async (_event, step) => {
      ran.push("begin");
      const first = await step.do("first", () => ran.push("first"));
      await step.do("second", async ({ attempt }) => {
        ran.push(`second ${attempt}`);
        if (attempt === 1) await app.crash();
      });
      return first;
    });
    const app = await createTestApp({ workflows: { tour } });
    const instance = await app.workflows.tour.create();
    await app.runUntilIdle();
    await app.runUntilIdle();
    expect(ran).toEqual(["begin", "first", "second 1"]);
    await app.advance("31 seconds");
    expect(ran).toEqual(["begin", "first", "second 1", "begin", "second 2"]);
    expect(await instance.result()).toBe(2);
    await app.stop();
  });

  test("forgets a wait in memory, whose time counts from its beginning if that was stored", async () => {
    const { tour, ran } = createTour((step) => step.sleep("a moment", "3 seconds"));
    await using app = await createTestApp({ workflows: { tour } });
    const instance = await app.workflows.tour.create();
    await app.runUntilIdle();
    await app.crash();
    await app.advance("4 seconds");
    expect(ran).toEqual(["first"]);
    expect(await instance.status()).toMatchObject({ status: "running" });
    await app.advance("1 minute");
    expect(ran).toEqual(["first", "second"]);
    expect(await instance.status()).toMatchObject({ status: "complete" });
  });

  test("stops the code of a workflow, whatever its step gives afterwards", async () => {
    const ran: string[] = [];
    const gate = Promise.withResolvers<string>();
    const started = Promise.withResolvers<void>();
    const tour = defineWorkflow({ name: "tour" }, async (_event, step) => {
      await step.do("wait", ({ attempt }) => {
        started.resolve();
        return attempt === 1 ? gate.promise : "again";
      });
      ran.push("after");
    });
    await using app = await createTestApp({ workflows: { tour } });
    const instance = await app.workflows.tour.create();
    void app.runUntilIdle();
    await started.promise;
    await app.crash();
    gate.resolve("late");
    await app.runUntilIdle();
    expect(ran).toEqual([]);
    await app.advance("1 minute");
    expect(ran).toEqual(["after"]);
    expect(await instance.status()).toMatchObject({ status: "complete" });
  });

  test("keeps the handles of an instance usable", async () => {
    const { tour } = createTour((step) => step.waitForEvent("word", { type: "word" }).then(() => "heard"));
    await using app = await createTestApp({ workflows: { tour } });
    const [instance] = await app.workflows.tour.createBatch([{ id: "one" }]);
    await app.runUntilIdle();
    await app.crash();
    await instance?.pause();
    expect(await instance?.status()).toMatchObject({ status: "paused" });
    await instance?.sendEvent({ type: "word" });
    await app.advance("1 hour");
    expect(await instance?.status()).toMatchObject({ status: "paused" });
    await instance?.resume();
    await app.crash();
    await app.runUntilIdle();
    expect(await (await app.workflows.tour.get("one")).result()).toEqual({ waited: "heard" });
    expect((await instance?.history())?.entries.map(({ kind }) => kind)).toEqual([
      "completed",
      "waiting",
      "received",
      "completed",
    ]);
    await instance?.restart();
    await app.runUntilIdle();
    expect(await instance?.status()).toMatchObject({ run: 2, status: "waiting" });
    await instance?.terminate();
    await expect(instance?.result()).rejects.toMatchObject({ code: "workflow.terminated" });
    await instance?.delete();
    await expect(app.workflows.tour.get("one")).rejects.toMatchObject({ code: "instance.not_found" });
  });
});
