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
});
