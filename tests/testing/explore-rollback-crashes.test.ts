import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowEvent } from "../../src/index.ts";
import { exploreCrashes, type TestApp } from "../../src/testing/index.ts";

/** A workflow with rollbacks, which fails, or sleeps until it is terminated. What is charged and refunded is counted by key. */
function createOrder() {
  const charged = new Set<string>();
  const refunded = new Set<string>();
  const order: string[] = [];
  const workflow = defineWorkflow({ name: "order" }, async (event: WorkflowEvent<"fail" | "sleep">, step) => {
    const undo = (name: string, failures = 0) => ({
      rollback: async ({ ctx, output }: { ctx: { attempt: number; idempotencyKey: string }; output: unknown }) => {
        if (ctx.attempt <= failures) throw new Error("not yet");
        if (!refunded.has(ctx.idempotencyKey)) order.push(`${name} of ${output}`);
        refunded.add(ctx.idempotencyKey);
      },
      rollbackConfig: { retries: { limit: 100, delay: "1 minute" as const } },
    });
    const charge = (key: string, value: number) => {
      charged.add(key);
      return value;
    };
    await step.do("first", (ctx) => charge(ctx.idempotencyKey, 1), undo("first", 1));
    await Promise.all([
      step.do("left", (ctx) => charge(ctx.idempotencyKey, 2), undo("left")),
      step.do("right", (ctx) => charge(ctx.idempotencyKey, 3), undo("right")),
    ]);
    await step.sleep("a while", event.payload === "fail" ? "1 minute" : "100 days");
    throw new Error("no truck");
  });
  return { workflows: { order: workflow }, charged, refunded, order };
}
type App = TestApp<Record<never, never>, ReturnType<typeof createOrder>["workflows"]>;

async function check(app: App, { charged, refunded, order }: ReturnType<typeof createOrder>) {
  const { status, rollback, run } = await (await app.workflows.order.get("one")).status();
  return { status, rollback, run, charged: charged.size, refunded: refunded.size, order };
}

const REFUNDED = ["right of 3", "left of 2", "first of 1"];

describe("crashes at every commit of a rollback", () => {
  test("make no difference to what is rolled back, nor to its order", async () => {
    const report = await exploreCrashes(
      {
        setUp: createOrder,
        run: async (app: App) =>
          void (await app.workflows.order.create({ id: "one", params: "fail", onConflict: "return" })),
        check,
      },
      { runAgain: true },
    );
    expect(report.outcomes.map(({ outcome }) => outcome)).toEqual([
      { status: "errored", rollback: { outcome: "complete" }, run: 1, charged: 3, refunded: 3, order: REFUNDED },
    ]);
    const points = report.outcomes.flatMap(({ crashes }) => crashes).map(({ during }) => during);
    expect(points).toEqual(expect.arrayContaining([expect.stringContaining("keep the error")]));
    expect(points).toEqual(expect.arrayContaining([expect.stringContaining("rollback failed attempt 1, park")]));
    expect(points).toEqual(expect.arrayContaining([expect.stringContaining("step left rolled back")]));
  });

  test("make no difference where terminating requests it, and requests it again", async () => {
    const report = await exploreCrashes(
      {
        setUp: createOrder,
        async run(app: App) {
          const instance = await app.workflows.order.create({ id: "one", params: "sleep", onConflict: "return" });
          await app.advance("1 hour");
          const { status } = await instance.status();
          if (status !== "terminated") await instance.terminate({ rollback: true });
        },
        check,
      },
      { runAgain: true },
    );
    expect(report.outcomes.map(({ outcome }) => outcome)).toEqual([
      { status: "terminated", rollback: { outcome: "complete" }, run: 1, charged: 3, refunded: 3, order: REFUNDED },
    ]);
  });
});
