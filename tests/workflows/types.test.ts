import type {
  WorkflowInstanceRestartOptions as CloudflareRestart,
  WorkflowInstanceTerminateOptions as CloudflareTerminate,
  CloudflareWorkersModule,
} from "@cloudflare/workers-types";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import {
  type Application,
  defineWorkflow,
  type ReceivedEvent,
  type TypedBindings,
  WorkflowEntrypoint,
  type WorkflowEvent,
  type WorkflowInstance,
  type WorkflowStep,
  type WorkflowStepContext,
} from "../../src/index.ts";

type CloudflareStep = CloudflareWorkersModule.WorkflowStep;
type CloudflareOptions<Output> = CloudflareWorkersModule.WorkflowStepRollbackOptions<Output>;

interface Order {
  readonly total: number;
}

class Checkout extends WorkflowEntrypoint<{ currency: string }, Order> {
  override async run(event: Readonly<WorkflowEvent<Order>>, step: WorkflowStep) {
    expectTypeOf(this.env).toEqualTypeOf<{ currency: string }>();
    return step.do("charge", () => ({ charged: event.payload.total }));
  }
}

const workflows = {
  checkout: { name: "checkout", workflow: Checkout },
  direct: Checkout,
  approval: defineWorkflow(
    {
      name: "approval",
      input: z.object({ amount: z.coerce.number<string>() }),
      output: z.object({ by: z.string().default("nobody") }),
      events: { approved: z.object({ by: z.string() }), denied: z.object({ why: z.number() }) },
    },
    async (event, step) => {
      expectTypeOf(event.payload).toEqualTypeOf<Readonly<{ amount: number }>>();
      const approved = await step.waitForEvent("wait", { type: "approved" });
      expectTypeOf(approved).toEqualTypeOf<ReceivedEvent<{ by: string }>>();
      return { by: approved.payload.by };
    },
  ),
  plain: defineWorkflow({ name: "plain" }, async (_event, step) => step.do("count", () => 5)),
  ordered: defineWorkflow({ name: "ordered" }, async (event: WorkflowEvent<Order>) => event.payload.total),
};
type Bindings = TypedBindings<typeof workflows>;

/** Compiled, never run: the type checker is the test. */
function compile(_body: () => unknown): void {}

describe("the types of workflows", () => {
  test("give steps their results and contexts", () => {
    compile(async (step = {} as WorkflowStep) => {
      expectTypeOf(await step.do("a", () => 5)).toEqualTypeOf<number>();
      expectTypeOf(await step.do("a", { timeout: "1 minute" }, async () => "x")).toEqualTypeOf<string>();
      await step.do("a", (ctx) => expectTypeOf(ctx).toEqualTypeOf<WorkflowStepContext>());
      expectTypeOf(await step.waitForEvent<Order>("a", { type: "order" })).toEqualTypeOf<ReceivedEvent<Order>>();
      expectTypeOf(await (await step.create(workflows.plain)).result()).toEqualTypeOf<number>();
      // @ts-expect-error not a unit of time
      await step.sleep("a", "2 moons");
      // @ts-expect-error no such backoff
      await step.do("a", { retries: { backoff: "square" } }, () => 5);
      // @ts-expect-error no such field
      await step.do("a", { retry: {} }, () => 5);
    });
    expectTypeOf<WorkflowStepContext["signal"]>().toEqualTypeOf<AbortSignal>();
    expect(workflows.plain.kind).toBe("workflow");
  });

  test("give rollbacks what their steps gave, and take Cloudflare's", () => {
    compile(async (step = {} as WorkflowStep, theirs = {} as CloudflareStep, instance = {} as WorkflowInstance) => {
      await step.do("a", () => 5, {
        rollback: async ({ output, error, ctx, stepName }) => {
          expectTypeOf(output).toEqualTypeOf<number | undefined>();
          expectTypeOf(error).toEqualTypeOf<Error>();
          expectTypeOf(ctx).toEqualTypeOf<WorkflowStepContext>();
          expectTypeOf(stepName).toEqualTypeOf<string>();
        },
        rollbackConfig: { retries: { limit: 3, delay: "1 minute", backoff: "linear" }, timeout: "1 hour" },
      });
      const given = await step.do("a", { timeout: "1 minute" }, async () => "x", {
        rollback: async ({ output }) => {
          expectTypeOf(output).toEqualTypeOf<string | undefined>();
        },
      });
      expectTypeOf(given).toEqualTypeOf<string>();
      // What is written for Cloudflare's types is accepted by ours.
      const handler: CloudflareOptions<number> = { rollback: async ({ ctx }) => void ctx.attempt };
      await theirs.do("a", async () => 5, handler);
      await step.do("a", async () => 5, handler);
      await step.do("a", { retries: { limit: 1, delay: 5 } }, async () => 5, handler);
      // @ts-expect-error there is no rollback
      await step.do("a", () => 5, { rollbackConfig: {} });
      // @ts-expect-error no such option
      await step.do("a", () => 5, { rollback: async () => {}, rollbackConfig: { aliases: [] } });

      const terminate: CloudflareTerminate = { rollback: true };
      const restart: CloudflareRestart = { from: { name: "a", count: 2, type: "do" } };
      await instance.terminate(terminate);
      await instance.restart(restart);
      await instance.retryFailedStep();
      // @ts-expect-error no such type
      await instance.restart({ from: { name: "a", type: "wait" } });
    });
    expectTypeOf<"rollingBack">().toExtend<Awaited<ReturnType<WorkflowInstance["status"]>>["status"]>();
    expect(workflows.plain.kind).toBe("workflow");
  });

  test("know what create takes, and what result gives", () => {
    compile(async (bindings = {} as Bindings) => {
      const checkout = await bindings.checkout.create({ params: { total: 5 } });
      expectTypeOf(await checkout.result()).toEqualTypeOf<{ charged: number }>();
      expectTypeOf(await (await bindings.direct.get("a")).result()).toEqualTypeOf<{ charged: number }>();
      expectTypeOf(await (await bindings.plain.create()).result()).toEqualTypeOf<number>();
      const approval = await bindings.approval.create({ id: "a", params: { amount: "5" } });
      expectTypeOf(await approval.result()).toEqualTypeOf<{ by: string }>();
      expectTypeOf((await approval.status()).output).toEqualTypeOf<{ by: string } | undefined>();
      await bindings.ordered.create({ params: { total: 1 } });
      // @ts-expect-error params are missing
      await bindings.checkout.create();
      // @ts-expect-error the params are others
      await bindings.checkout.create({ params: { sum: 5 } });
      // @ts-expect-error the schema takes a text
      await bindings.approval.create({ params: { amount: 5 } });
      // @ts-expect-error there is no such workflow
      bindings.nobody;
      // @ts-expect-error no such choice
      await bindings.plain.create({ onConflict: "replace" });
    });
    expect(Object.keys(workflows)).toContain("approval");
  });

  test("ask for params wherever something is created", () => {
    compile(async (bindings = {} as Bindings, step = {} as WorkflowStep) => {
      await bindings.plain.createBatch([{}, { id: "a" }]);
      await bindings.plain.createBatch({ count: 2, priority: 5 });
      await bindings.ordered.createBatch([{ params: { total: 1 } }]);
      await bindings.ordered.createBatch({ count: 2, params: { total: 1 } });
      await step.create(workflows.ordered, { params: { total: 1 } });
      await step.create("ordered", { params: { total: 1 } });
      await step.create("plain");
      // @ts-expect-error params are missing
      await bindings.ordered.createBatch([{ id: "a" }]);
      // @ts-expect-error params are missing
      await bindings.ordered.createBatch({ instances: [{ id: "a" }] });
      // @ts-expect-error params are missing
      await bindings.ordered.createBatch({ count: 2 });
      // @ts-expect-error params are missing
      await step.create(workflows.ordered);
      // @ts-expect-error the params are others
      await step.create(workflows.ordered, { params: { sum: 1 } });
    });
    expect(workflows.ordered.kind).toBe("workflow");
  });

  test("know the events and what each carries", () => {
    compile(async (instance = {} as Awaited<ReturnType<Bindings["approval"]["create"]>>) => {
      await instance.sendEvent({ type: "approved", payload: { by: "me" } });
      await instance.sendEvent({ type: "denied", payload: { why: 5 }, id: "one" });
      // @ts-expect-error not what this event carries
      await instance.sendEvent({ type: "approved", payload: { why: 5 } });
      // @ts-expect-error no such event
      await instance.sendEvent({ type: "forgotten" });
    });
    const dated = defineWorkflow(
      { name: "dated", events: { on: z.string().transform((text) => new Date(text)), ping: z.undefined() } },
      async (_event, step) => {
        // What is sent is what the schema takes, and what is received is what it gives.
        expectTypeOf((await step.waitForEvent("day", { type: "on" })).payload).toEqualTypeOf<Readonly<Date>>();
        // @ts-expect-error no such event: no caller could send it
        await step.waitForEvent("day", { type: "no" });
        const helper = async (any: WorkflowStep) => any.waitForEvent<string>("day", { type: "whatever" });
        await helper(step);
      },
    );
    compile(async (bindings = {} as TypedBindings<{ dated: typeof dated }>) => {
      const instance = await bindings.dated.get("a");
      const show = (one: WorkflowInstance) => one.status();
      await show(instance);
      await instance.sendEvent({ type: "on", payload: "2031-05-06" });
      await instance.sendEvent({ type: "ping" });
      // @ts-expect-error the schema takes a text
      await instance.sendEvent({ type: "on", payload: new Date() });
    });
    compile(async (instance = {} as Awaited<ReturnType<Bindings["checkout"]["create"]>>) => {
      await instance.sendEvent({ type: "whatever", payload: [1] });
    });
    expect(workflows.approval.events?.size).toBe(2);
  });

  test("are those of an application too", () => {
    compile((app = {} as Application<Record<never, never>, typeof workflows>) => {
      expectTypeOf(app.workflows).toEqualTypeOf<Bindings>();
    });
    expect(workflows.checkout.workflow).toBe(Checkout);
  });
});

describe("terminal hooks", () => {
  test("knows the output by its schema, and leaves the function's own result as it is", () => {
    const typed = defineWorkflow(
      {
        name: "typed",
        output: z.object({ sum: z.number() }),
        schedules: ["0 9 * * *"],
        onCompleted: ({ output, run }) => {
          expectTypeOf(output).toEqualTypeOf<{ sum: number }>();
          expectTypeOf(run).toEqualTypeOf<number>();
        },
      },
      async () => ({ sum: 1 }),
    );
    const untyped = defineWorkflow(
      { name: "untyped", onCompleted: ({ output }) => expectTypeOf(output).toEqualTypeOf<unknown>() },
      async () => 7,
    );
    expectTypeOf<TypedBindings<{ typed: typeof typed; untyped: typeof untyped }>["untyped"]["create"]>()
      .returns.resolves.toHaveProperty("result")
      .returns.resolves.toEqualTypeOf<number>();
  });

  test("knows the params of schedules by the schema of the input", () => {
    const input = z.object({ full: z.boolean() });
    const run = async () => {};
    defineWorkflow({ name: "typed", input, schedules: [{ cron: "0 9 * * *", params: { full: true } }] }, run);
    const schedules = [{ cron: "@daily", params: { full: "" } }];
    // @ts-expect-error: it must be true or false
    const wrong = () => defineWorkflow({ name: "typed", input, schedules }, run);
    expect(wrong).toThrow("params");
  });
});
