import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import {
  defineHook,
  defineWorkflow,
  type TypedBindings,
  WorkflowEntrypoint,
  type WorkflowEvent,
  type WorkflowStep,
} from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { createTour } from "./support/tour.ts";

const MINUTE = 60_000;

/** Lets whatever could run, run. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe("running workflows", () => {
  test("nothing runs until it is told to, and then to the end", async () => {
    const { tour, ran } = createTour(async () => "not at all");
    await using app = await createTestApp({ workflows: { tour } });
    const instance = await app.workflows.tour.create({ id: "one" });
    expect(await instance.status()).toMatchObject({ status: "queued" });
    expect(ran).toEqual([]);
    await app.runUntilIdle();
    expect(ran).toEqual(["first", "second"]);
    expect(await instance.status()).toMatchObject({ status: "complete", output: { waited: "not at all" } });
    expect(await instance.result()).toEqual({ waited: "not at all" });
  });

  test("leaves an instance that sleeps for long alone until its time has come", async () => {
    const { tour, ran } = createTour((step) => step.sleep("a while", "3 days"));
    await using app = await createTestApp({ workflows: { tour } });
    const instance = await app.workflows.tour.create();
    await app.runUntilIdle();
    await app.runUntilIdle();
    expect(ran).toEqual(["first"]);
    expect(await instance.status()).toMatchObject({ status: "waiting" });
    await app.advance("2 days");
    expect(ran).toEqual(["first"]);
    await app.advance("1 day");
    expect(ran).toEqual(["first", "second"]);
    expect(await instance.result()).toEqual({});
  });

  test("returns while an instance waits in memory for a few seconds, and advancing the clock ends the wait", async () => {
    const { tour, ran } = createTour((step) => step.sleep("a moment", "3 seconds"));
    await using app = await createTestApp({ workflows: { tour } });
    const instance = await app.workflows.tour.create();
    await app.runUntilIdle();
    await app.runUntilIdle();
    expect(ran).toEqual(["first"]);
    expect(await instance.status()).toMatchObject({ status: "waiting" });
    await app.advance("2 seconds");
    expect(ran).toEqual(["first"]);
    await app.advance("1 second");
    expect(ran).toEqual(["first", "second"]);
    expect(await instance.status()).toMatchObject({ status: "complete" });
  });

  test("an instance that a test creates waits for its turn, even while another one is held in memory", async () => {
    const { tour, ran } = createTour((step) => step.sleep("a moment", "3 seconds"));
    await using app = await createTestApp({ workflows: { tour } });
    await app.workflows.tour.create();
    await app.runUntilIdle();
    const other = await app.workflows.tour.create();
    await settle();
    expect(ran).toEqual(["first"]);
    expect(await other.status()).toMatchObject({ status: "queued" });
    await app.runUntilIdle();
    expect(ran).toEqual(["first", "first"]);
  });

  test("steps run again at their own times", async () => {
    const tries: number[] = [];
    const pay = defineWorkflow({ name: "pay" }, async (_event, step) =>
      step.do("charge", { retries: { limit: 3, delay: "2 seconds", backoff: "exponential" } }, ({ attempt }) => {
        tries.push(app.now() - start);
        if (attempt < 4) throw new Error("declined");
        return "paid";
      }),
    );
    const app = await createTestApp({ workflows: { pay } });
    const start = app.now();
    const instance = await app.workflows.pay.create();
    await app.advance("1 minute");
    expect(tries).toEqual([0, 2000, 6000, 14_000]);
    expect(await instance.result()).toBe("paid");
    await app.stop();
  });

  test("an event reaches the waiting instance, in memory or not, and one that doesn't come in time is missed", async () => {
    for (const timeout of ["3 seconds", "1 hour"] as const) {
      const { tour } = createTour((step) =>
        step.waitForEvent<string>("word", { type: "word", timeout }).then(
          ({ payload }) => payload,
          (error: { code: string }) => error.code,
        ),
      );
      await using app = await createTestApp({ workflows: { tour } });
      const answered = await app.workflows.tour.create();
      const ignored = await app.workflows.tour.create();
      await app.runUntilIdle();
      await answered.sendEvent({ type: "word", payload: "yes" });
      await app.runUntilIdle();
      expect(await answered.result()).toEqual({ waited: "yes" });
      await app.advance(timeout);
      expect(await ignored.result()).toEqual({ waited: "step.event_timeout" });
    }
  });

  test("a step that waits for the result of a child receives it", async () => {
    const child = defineWorkflow({ name: "child" }, async (event: WorkflowEvent<number>, step) => {
      await step.sleep("think", "2 seconds");
      return event.payload * 2;
    });
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
      const started = await step.create(child, { params: 21 });
      return step.do("wait", () => started.result());
    });
    await using app = await createTestApp({ workflows: { parent, child } });
    const instance = await app.workflows.parent.create();
    await app.advance("10 seconds");
    expect(await instance.result()).toBe(42);
    expect((await app.workflows.child.list()).instances).toHaveLength(1);
  });

  test("a step that is called after its instance was let go still runs at once", async () => {
    const order: string[] = [];
    const opened = Promise.withResolvers<void>();
    const pair = defineWorkflow({ name: "pair" }, async (_event, step) => {
      const late = opened.promise.then(() => step.do("late", () => void order.push("late")));
      await step.sleep("long", "1 hour");
      order.push("woken");
      await late;
    });
    await using app = await createTestApp({ workflows: { pair } });
    const instance = await app.workflows.pair.create();
    await app.runUntilIdle();
    opened.resolve();
    await app.runUntilIdle();
    expect(order).toEqual(["late"]);
    await app.advance("1 hour");
    expect(order).toEqual(["late", "woken"]);
    expect(await instance.status()).toMatchObject({ status: "complete" });
  });

  test("hooks and workflows start each other", async () => {
    const said: string[] = [];
    const greet = defineWorkflow({ name: "greet" }, async (event: WorkflowEvent<string>, step) => {
      await step.do("tell", async () => void (await app.hooks.say.trigger(`hello ${event.payload}`)));
    });
    const app = await createTestApp({
      hooks: {
        arrive: defineHook(async (name: string) => void (await app.workflows.greet.create({ params: name }))),
        say: defineHook((text: string) => void said.push(text)),
      },
      workflows: { greet },
    });
    await app.hooks.arrive.trigger("Ada");
    await app.runUntilIdle();
    expect(said).toEqual(["hello Ada"]);
    await app.stop();
  });

  test("a workflow's error is stored, and rejects the promise of its result", async () => {
    const fail = defineWorkflow({ name: "fail" }, async (): Promise<string> => {
      throw new TypeError("no such thing");
    });
    await using app = await createTestApp({ workflows: { fail } });
    const instance = await app.workflows.fail.create({ id: "one" });
    await app.runUntilIdle();
    expect(app.errors).toMatchObject([{ description: "workflow fail one", error: { message: "no such thing" } }]);
    await expect(instance.result()).rejects.toMatchObject({ code: "workflow.failed", cause: { name: "TypeError" } });
  });

  test("env, classes and limits are those of perdure", async () => {
    class Shout extends WorkflowEntrypoint<{ sign: string }, string> {
      async run(event: Readonly<WorkflowEvent<string>>, step: WorkflowStep) {
        return step.do("shout", () => `${event.payload}${this.env.sign}`);
      }
    }
    const many = defineWorkflow({ name: "many" }, async (_event, step) => {
      for (let index = 0; index < 4; index++) await step.do("one", () => {});
    });
    await using app = await createTestApp({
      workflows: { shout: { name: "shout", workflow: Shout }, many },
      env: { sign: "!" },
      workflowLimits: { steps: 3 },
    });
    const shouted = await app.workflows.shout.create({ params: "hey" });
    const failed = await app.workflows.many.create();
    await app.runUntilIdle();
    expect(await shouted.result()).toBe("hey!");
    await expect(failed.result()).rejects.toMatchObject({ cause: { name: "TooManyStepsError" } });
  });
});

describe("types and options", () => {
  test("are inferred as by perdure", async () => {
    const order = defineWorkflow(
      {
        name: "order",
        input: z.object({ total: z.coerce.number<string>() }),
        events: { approved: z.object({ by: z.string() }) },
      },
      async (event, step) => {
        const { payload } = await step.waitForEvent("approval", { type: "approved" });
        return { total: event.payload.total, by: payload.by };
      },
    );
    await using app = await createTestApp({ workflows: { order } });
    expectTypeOf(app.workflows).toEqualTypeOf<TypedBindings<{ readonly order: typeof order }>>();
    const instance = await app.workflows.order.create({ params: { total: "12" } });
    await instance.sendEvent({ type: "approved", payload: { by: "Ada" } });
    await app.runUntilIdle();
    const result = await instance.result();
    expectTypeOf(result).toEqualTypeOf<{ total: number; by: string }>();
    expect(result).toEqual({ total: 12, by: "Ada" });
    // @ts-expect-error there is no such event
    await expect(instance.sendEvent({ type: "rejected" })).rejects.toMatchObject({ code: "event.invalid" });
    // @ts-expect-error there is no such workflow
    expect(app.workflows.unknown).toBeUndefined();
  });

  test("a test application refuses the options that perdure() refuses", async () => {
    for (const options of [{ workflowLimits: { steps: 0 } }, { workflowLimits: { colour: 1 } }]) {
      await expect(createTestApp(options as never)).rejects.toMatchObject({ code: "options.invalid" });
    }
    await expect(createTestApp({ workflows: { one: 5 } as never })).rejects.toMatchObject({ code: "workflow.invalid" });
  });

  test("schedules fire on the way, and finished instances are deleted when their time is over", async () => {
    const nightly = defineWorkflow(
      {
        name: "nightly",
        schedules: [{ cron: "0 2 * * *", name: "night" }],
        retention: { successRetention: "3 days" },
      },
      async (event) => event.schedule?.scheduledTime,
    );
    await using app = await createTestApp({ workflows: { nightly } });
    await app.advance("2 days");
    const { instances } = await app.instances.list({ order: "oldest" });
    expect(instances.map(({ id, status }) => [id, status])).toEqual([
      ["night:2031-05-07T02:00:00.000Z", "complete"],
      ["night:2031-05-08T02:00:00.000Z", "complete"],
    ]);
    await app.schedules.pause({ workflow: "nightly" });
    await app.advance("4 days");
    expect((await app.instances.counts()).total.total).toBe(0);
  });

  test("the time that a workflow sees passes, too", async () => {
    const { tour } = createTour((step) => step.sleep("long", "1 minute"));
    await using app = await createTestApp({ workflows: { tour } });
    const start = app.now();
    const instance = await app.workflows.tour.create();
    await app.advance("5 minutes");
    const { createdAt, finishedAt } = await instance.status();
    expect([createdAt.getTime(), finishedAt?.getTime()]).toEqual([start, start + MINUTE]);
  });
});

describe("versions of a workflow", () => {
  const waiting = (version?: number) =>
    defineWorkflow({ name: "order", ...(version === undefined ? {} : { version }) }, async (_event, step) => {
      await step.sleep("rest", "1 hour");
      return step.do("tell", () => `version ${version ?? "none"}`);
    });

  test("are registered side by side, listed, and new instances get the newest", async () => {
    await using app = await createTestApp({ workflows: { order: [waiting(2), waiting()] } });
    const instance = await app.workflows.order.create({ id: "one" });
    await app.runUntilIdle();
    expect(await app.workflows.order.versions()).toEqual([
      { version: 2, unfinished: 1, registered: true },
      { version: null, unfinished: 0, registered: true },
    ]);
    await app.crash();
    await app.advance("1 hour");
    expect(await instance.result()).toBe("version 2");
    await instance.restart({ version: "newest" });
    await app.runUntilIdle();
    expect(await instance.status()).toMatchObject({ run: 2, version: 2 });
  });
});
