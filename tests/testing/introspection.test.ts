import { describe, expect, test } from "vitest";
import { createWorkerFetch } from "../../src/cloudflare/index.ts";
import { defineWorkflow, NonRetryableError, perdure } from "../../src/index.ts";
import { createTestApp, introspectWorkflow, introspectWorkflowInstance } from "../../src/testing/index.ts";

const DAY = 86_400_000;

/** Notes which of its functions were called. */
function createOrder() {
  const called: string[] = [];
  const order = defineWorkflow({ name: "order" }, async (_event, step) => {
    const retries = { limit: 2, delay: "1 hour", backoff: "constant" } as const;
    const charge = await step.do("charge", { retries }, async (ctx) => {
      called.push(`charge ${ctx.attempt}`);
      return "charged";
    });
    await step.sleep("cool down", "10 days");
    const approval = await step
      .waitForEvent<string>("approval", { type: "approved", timeout: "5 days" })
      .then(({ payload }) => payload)
      .catch((error: Error) => error.name);
    const parts: unknown[] = [];
    for (const part of ["a", "b"]) parts.push(await step.do("pack", async () => part));
    return { charge, approval, parts };
  });
  return { order, called };
}

async function begin() {
  const { order, called } = createOrder();
  const app = await createTestApp({ workflows: { order } });
  const instance = await introspectWorkflowInstance(app.workflows.order, "one");
  const create = () => app.workflows.order.create({ id: "one" });
  return { app, instance, create, called };
}

describe("an introspected instance", () => {
  test("runs as it is written where nothing was changed, and time passes while it is waited for", async () => {
    const { app, instance, create } = await begin();
    const start = app.now();
    await create();
    await instance.waitForStatus("complete");

    expect(await instance.getOutput()).toEqual({
      charge: "charged",
      approval: "EventTimeoutError",
      parts: ["a", "b"],
    });
    expect(app.now() - start).toBeGreaterThanOrEqual(15 * DAY);
  });

  test("doesn't sleep where sleeps are disabled", async () => {
    const { app, instance, create } = await begin();
    await instance.modify((modifier) => modifier.disableSleeps());
    const start = app.now();
    await create();
    await instance.waitForStepResult({ name: "charge" });
    await app.runUntilIdle();

    const { entries } = await (await app.workflows.order.get("one")).history();
    expect(entries.map(({ kind, name }) => `${name} ${kind}`)).toContain("cool down completed");
    expect(app.now()).toBe(start);
  });

  test("sleeps where only other sleeps are disabled", async () => {
    const { app, instance, create } = await begin();
    await instance.modify((modifier) => modifier.disableSleeps([{ name: "another" }, { name: "cool down", index: 2 }]));
    await create();
    await app.runUntilIdle();

    expect(await (await app.workflows.order.get("one")).status()).toMatchObject({ status: "waiting" });
  });

  test("gets a result in place of a step's function, which isn't called", async () => {
    const { instance, create, called } = await begin();
    await instance.modify(async (modifier) => {
      await modifier.mockStepResult({ name: "charge" }, { at: new Date(5) });
      await modifier.mockStepResult({ name: "pack", index: 2 }, "mocked");
    });
    await create();

    expect(await instance.waitForStepResult({ name: "charge" })).toEqual({ at: new Date(5) });
    await instance.waitForStatus("complete");
    expect(await instance.getOutput()).toMatchObject({ charge: { at: new Date(5) }, parts: ["a", "mocked"] });
    expect(called).toEqual([]);
  });

  test("gets errors for the mocked number of attempts, and waits between them", async () => {
    const { app, instance, create, called } = await begin();
    await instance.modify((modifier) => modifier.mockStepError({ name: "charge" }, new Error("declined"), 2));
    const start = app.now();
    await create();

    expect(await instance.waitForStepResult({ name: "charge" })).toBe("charged");
    expect(called).toEqual(["charge 3"]);
    expect(app.now() - start).toBe(2 * 3_600_000);
  });

  test("doesn't wait between attempts where delays are disabled", async () => {
    const { app, instance, create, called } = await begin();
    await instance.modify(async (modifier) => {
      await modifier.mockStepError({ name: "charge" }, new Error("declined"), 2);
      await modifier.disableRetryDelays([{ name: "charge" }]);
    });
    const start = app.now();
    await create();
    await instance.waitForStepResult({ name: "charge" });

    expect(called).toEqual(["charge 3"]);
    expect(app.now()).toBe(start);
  });

  test("fails when a step always does", async () => {
    const { instance, create, called } = await begin();
    await instance.modify((modifier) =>
      modifier.mockStepError({ name: "charge" }, new NonRetryableError("no", "Refused")),
    );
    await create();
    await expect(instance.waitForStepResult({ name: "charge" })).rejects.toThrow("no");
    await instance.waitForStatus("errored");

    expect(await instance.getError()).toMatchObject({ name: "Refused", message: "no" });
    await expect(instance.getOutput()).rejects.toMatchObject({ code: "testing.no_outcome" });
    await expect(instance.waitForStatus("complete")).rejects.toMatchObject({ code: "testing.not_reached" });
    expect(called).toEqual([]);
  });

  test("sees a step time out at once, as often as it was mocked", async () => {
    const { app, instance, create, called } = await begin();
    await instance.modify(async (modifier) => {
      await modifier.forceStepTimeout({ name: "charge" }, 1);
      await modifier.disableRetryDelays();
    });
    await create();
    await instance.waitForStepResult({ name: "charge" });

    expect(called).toEqual(["charge 2"]);
    const { entries } = await (await app.workflows.order.get("one")).history();
    expect(entries[0]).toMatchObject({ kind: "failed", error: { message: expect.stringContaining("in time") } });
  });

  test("receives a mocked event when it waits for one", async () => {
    const { app, instance, create } = await begin();
    await instance.modify(async (modifier) => {
      await modifier.disableSleeps();
      await modifier.mockEvent({ type: "approved", payload: "by me" });
    });
    const start = app.now();
    await create();
    expect(await instance.waitForStepResult({ name: "approval" })).toBe("by me");
    await instance.waitForStatus("complete");

    expect(await instance.getOutput()).toMatchObject({ approval: "by me" });
    expect(app.now()).toBe(start);
  });

  test("misses an event where its timeout is forced, though it was sent", async () => {
    const { app, instance, create } = await begin();
    await instance.modify(async (modifier) => {
      await modifier.disableSleeps();
      await modifier.forceEventTimeout({ name: "approval" });
    });
    const start = app.now();
    const created = await create();
    await created.sendEvent({ type: "approved", payload: "too early" });
    await instance.waitForStatus("complete");

    expect(await instance.getOutput()).toMatchObject({ approval: "EventTimeoutError" });
    expect(app.now() - start).toBeLessThan(10);
  });

  test("keeps what was changed through a crash", async () => {
    const { app, instance, create, called } = await begin();
    await instance.modify(async (modifier) => {
      await modifier.mockStepResult({ name: "charge" }, "mocked");
      await modifier.mockEvent({ type: "approved", payload: "once" });
    });
    await create();
    await app.runUntilIdle();
    await app.crash();
    await instance.waitForStatus("complete");

    expect(await instance.getOutput()).toMatchObject({ charge: "mocked", approval: "once" });
    expect(called).toEqual([]);
  });

  test("runs as it is written again when the introspector is disposed of", async () => {
    const { app, create, called } = await begin();
    {
      await using other = await introspectWorkflowInstance(app.workflows.order, "one");
      await other.modify((modifier) => modifier.mockStepResult({ name: "charge" }, "mocked"));
    }
    await create();
    await app.runUntilIdle();

    expect(called).toEqual(["charge 1"]);
  });

  test("isn't waited for in vain when nothing is left to do", async () => {
    const { instance } = await begin();

    await expect(instance.waitForStatus("complete")).rejects.toMatchObject({ code: "testing.not_reached" });
  });
});

describe("an introspected workflow", () => {
  test("changes all instances that begin from now on, and gives each of them", async () => {
    const { order, called } = createOrder();
    await using app = await createTestApp({ workflows: { order } });
    await using workflow = await introspectWorkflow(app.workflows.order);
    await workflow.modifyAll(async (modifier) => {
      await modifier.disableSleeps();
      await modifier.mockStepResult({ name: "charge" }, "mocked");
      await modifier.mockEvent({ type: "approved", payload: "yes" });
    });
    await app.workflows.order.create({ id: "one" });
    await app.workflows.order.createBatch([{ id: "two" }]);

    const instances = await workflow.get();
    expect(instances.map(({ id }) => id)).toEqual(["one", "two"]);
    for (const instance of instances) {
      await instance.waitForStatus("complete");
      expect(await instance.getOutput()).toEqual({ charge: "mocked", approval: "yes", parts: ["a", "b"] });
    }
    expect(called).toEqual([]);
  });

  test.each<[string, object]>([
    ["the workflows", {}],
    ["an env of its own", { env: (workflows: object) => ({ ...workflows, SHOP: "shop" }) }],
  ])("is begun by a Worker's fetch, which has %s", async (_, options) => {
    const { order } = createOrder();
    await using app = await createTestApp({ workflows: { ORDER: order }, ...options });
    await using workflow = await introspectWorkflow(app.workflows.ORDER);
    await workflow.modifyAll((modifier) => modifier.mockEvent({ type: "approved", payload: "yes" }));
    const worker = {
      fetch: async (_request: Request, env: Record<string, unknown>) => {
        const { id } = await (env["ORDER"] as typeof app.workflows.ORDER).create({ id: "one" });
        return Response.json([id, Object.keys(env)]);
      },
    };
    const response = await createWorkerFetch(worker, app)(new Request("http://shop/"));
    const [instance] = await workflow.get();
    await instance?.waitForStatus("complete");

    expect(await response.json()).toEqual(["one", ["ORDER", ...("env" in options ? ["SHOP"] : [])]]);
    expect(await instance?.getOutput()).toMatchObject({ approval: "yes" });
  });

  test("runs as it is written again when its introspector is disposed of, whatever was changed about each instance", async () => {
    const { order, called } = createOrder();
    await using app = await createTestApp({ workflows: { order } });
    const workflow = await introspectWorkflow(app.workflows.order);
    await app.workflows.order.create({ id: "one" });
    for (const instance of await workflow.get()) {
      await instance.modify((modifier) => modifier.mockStepResult({ name: "charge" }, "mocked"));
    }
    await workflow.dispose();
    await app.runUntilIdle();

    expect(called).toEqual(["charge 1"]);
  });
});

describe("an introspection", () => {
  test("is refused for an application that isn't a test's", async () => {
    const { order } = createOrder();
    await using app = await perdure({ database: ":memory:", workflows: { order } });

    await expect(introspectWorkflow(app.workflows.order)).rejects.toMatchObject({ code: "options.invalid" });
  });

  test("is refused for steps without a name, and for attempts that are no number", async () => {
    const { instance } = await begin();

    for (const change of [
      () => instance.modify((modifier) => modifier.mockStepResult({} as never, 1)),
      () => instance.modify((modifier) => modifier.disableSleeps([{ name: "a", index: 0 }])),
      () => instance.modify((modifier) => modifier.mockStepError({ name: "a" }, new Error("no"), 0)),
    ]) {
      await expect(change()).rejects.toMatchObject({ code: "options.invalid" });
    }
  });

  test("is refused for waits that are too short, as in production", async () => {
    const hasty = defineWorkflow({ name: "hasty" }, (_event, step) =>
      step.waitForEvent("wait", { type: "a", timeout: 10 }),
    );
    await using app = await createTestApp({ workflows: { hasty } });
    const instance = await app.workflows.hasty.create();
    await app.runUntilIdle();

    expect(await instance.status()).toMatchObject({
      status: "errored",
      error: { message: expect.stringContaining("1 second") },
    });
  });
});
