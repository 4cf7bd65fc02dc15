import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowEvent } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { useWorkflows } from "./support/use-workflows.ts";

describe.each(ENGINES)("many children on $name", (engine) => {
  const subject = useWorkflows(engine);

  // A test in a Durable Object must end within the thirty seconds for which an object may keep its events waiting.
  const count = engine.name === "durable object" ? 1000 : 5000;

  test("a parent gathers the results of thousands of children", async () => {
    const child = defineWorkflow({ name: "child" }, async (event: WorkflowEvent<number>) => event.payload * 2);
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
      const numbers = Array.from({ length: count }, (_, index) => index);
      const children = await Promise.all(numbers.map((params) => step.create(child, { params })));
      const results = await Promise.all(children.map((one) => one.result()));
      return results.reduce((sum, result) => sum + result, 0);
    });
    const process = subject.start({ parent, child }, { concurrency: 100 });
    const instance = await process.workflows.parent.create();

    await expect(instance.result()).resolves.toBe(count * (count - 1));
  });

  test("200 levels of parents each wait for the next", async () => {
    const level: ReturnType<typeof define> = define();
    function define() {
      return defineWorkflow({ name: "level" }, async (event: WorkflowEvent<number>, _step, { workflows }) => {
        if (event.payload === 0) return 0;
        const below = await workflows["level"]?.create({ params: event.payload - 1 });
        return ((await below?.result()) as number) + 1;
      });
    }
    const process = subject.start({ level }, { concurrency: 10 });
    const instance = await process.workflows.level.create({ params: 200 });

    await expect(instance.result()).resolves.toBe(200);
  });
});
