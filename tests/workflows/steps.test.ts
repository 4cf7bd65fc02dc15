import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually, useWorkflows } from "./support/use-workflows.ts";

describe.each(ENGINES)("steps on $name", (engine) => {
  const subject = useWorkflows(engine);

  test("run one after the other, and give the workflow's output", async () => {
    const three = defineWorkflow({ name: "three" }, async (event, step) => {
      const first = await step.do("first", () => Number(event.payload));
      const second = await step.do("second", async () => first + 1);
      return step.do("third", () => ({ sum: first + second }));
    });
    const process = subject.start({ three });

    const instance = await process.workflows.three.create({ params: 1 as never });

    await expect(instance.result()).resolves.toEqual({ sum: 3 });
    expect(await instance.status()).toMatchObject({ status: "complete", output: { sum: 3 }, run: 1 });
  });

  test("are given back to another process, which doesn't run them again", async () => {
    const runs: string[] = [];
    const workflow = defineWorkflow({ name: "resumed" }, async (_event, step) => {
      await step.do("before", () => void runs.push("before"));
      await step.sleep("rest", "1 hour");
      await step.do("after", () => void runs.push("after"));
    });
    const first = subject.start({ workflow });
    const created = await first.workflows.workflow.create({ id: "one" });
    await subject.clock.advanceAndSettle(10);
    await eventually(async () => expect((await created.status()).status).toBe("waiting"));
    await first.close();
    const second = subject.start({ workflow });
    await subject.clock.advanceAndSettle(3_600_000);
    const instance = await second.workflows.workflow.get("one");

    await expect(instance.result()).resolves.toBeUndefined();
    expect(runs).toEqual(["before", "after"]);
  });

  test("give their bodies a context that can be spread and taken apart", async () => {
    const workflow = defineWorkflow({ name: "contexts" }, async (_event, step) =>
      step.do("work", { timeout: 5000 }, (ctx) => {
        const { signal, emit, ...rest } = { ...ctx };
        return { ...rest, aborted: signal.aborted, same: signal === ctx.signal, emits: typeof emit };
      }),
    );
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });

    const { idempotencyKey, ...context } = (await instance.result()) as Record<string, unknown>;
    expect(context).toEqual({
      step: { name: "work", count: 1 },
      attempt: 1,
      config: { retries: { limit: 5, delay: 1000, backoff: "exponential" }, timeout: 5000 },
      aborted: false,
      same: true,
      emits: "function",
    });
    expect(idempotencyKey).toMatch(/\/1\/do:work$/);
  });

  test("inside another are known to have begun before they run, where they run only once", async () => {
    const workflow = defineWorkflow({ name: "inner" }, async (_event, step) =>
      step.do("outer", () => step.do("inner", { retries: { limit: 0 } }, () => 1)),
    );
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    await expect(instance.result()).resolves.toBe(1);

    const { entries } = await instance.history();
    expect(entries.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
      "inner started",
      "inner completed",
      "outer completed",
    ]);
  });
});
