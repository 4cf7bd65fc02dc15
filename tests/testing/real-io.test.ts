import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { defineHook, defineWorkflow } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";

const forever = () => new Promise<never>(() => {});

describe("advance", () => {
  test.each([
    ["at once", 0],
    ["after a wait in memory", 2000],
    ["after a wait in the database", 600_000],
  ])("waits for steps with real input and output that run %s", async (_, delayMs) => {
    const workflow = defineWorkflow({ name: "reader" }, async (_, step) => {
      await step.sleep("first", delayMs);
      for (const ms of [1, 5, 70, 130]) await step.do("wait", () => wait(ms, ms));
      return step.do("read", async () => (await readFile(new URL(import.meta.url), "utf8")).length > 0);
    });
    await using app = await createTestApp({ workflows: { workflow } });
    const instances = await Promise.all(Array.from({ length: 6 }, () => app.workflows.workflow.create()));
    await app.advance(delayMs);
    const states = await Promise.all(instances.map((instance) => instance.status()));
    expect(states.map(({ status }) => status)).toEqual(Array(6).fill("complete"));
  });

  test("waits for a hook that asks a real server", async () => {
    const server = createServer((_request, response) => void wait(120).then(() => response.end("hello")));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const said: string[] = [];
    const ask = defineHook(async () => void said.push(await (await fetch(`http://127.0.0.1:${port}/`)).text()));
    await using app = await createTestApp({ hooks: { ask } });
    await app.hooks.ask.trigger();
    await app.advance("1 second");
    expect(said).toEqual(["hello"]);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  test("lets time pass for a step that only waits for it", async () => {
    const workflow = defineWorkflow({ name: "hanging" }, async (_, step) =>
      step.do("hang", { timeout: "1 hour", retries: { limit: 0 } }, forever),
    );
    await using app = await createTestApp({ workflows: { workflow } });
    const instance = await app.workflows.workflow.create();
    await app.advance("2 hours");
    expect(await instance.status()).toMatchObject({ status: "errored" });
  });
});

describe("runUntilIdle", () => {
  test("says what it waits for when that never comes", async () => {
    const hang = defineHook(forever);
    const workflow = defineWorkflow({ name: "hanging" }, async (_, step) => step.do("hang", forever));
    await using app = await createTestApp({ hooks: { hang }, workflows: { workflow } });
    await app.hooks.hang.trigger();
    await app.workflows.workflow.create({ id: "one" });
    await expect(app.runUntilIdle()).rejects.toMatchObject({
      code: "testing.stuck",
      message: expect.stringMatching(/the hook "hang", the instance "one" of the workflow "hanging".*use advance\(\)/s),
    });
  });

  test("waits for a handler that the test lets continue", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const order: string[] = [];
    const slow = defineHook(async () => {
      await promise;
      order.push("handler");
    });
    await using app = await createTestApp({ hooks: { slow } });
    await app.hooks.slow.trigger();
    const idle = app.runUntilIdle().then(() => order.push("idle"));
    await wait(200);
    resolve();
    await idle;
    expect(order).toEqual(["handler", "idle"]);
  });
});
