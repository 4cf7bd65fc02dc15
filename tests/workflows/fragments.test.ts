import { describe, expect, test } from "vitest";
import { createDurableHooksDispatcher } from "../../src/dispatchers/node.ts";
import {
  createDurableHooksProcessor,
  type DurableHooksProcessor,
  defineWorkflow,
  instantiate,
  migrate,
  WorkflowEntrypoint,
  type WorkflowEvent,
  type WorkflowStep,
  workflowsFragment,
} from "../../src/index.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { ENGINES } from "../support/engines.ts";

class Double extends WorkflowEntrypoint<{ factor: number }, number> {
  override async run(event: Readonly<WorkflowEvent<number>>, step: WorkflowStep) {
    return step.do("multiply", () => event.payload * this.env.factor);
  }
}

const plain = defineWorkflow({ name: "plain" }, async (_event, _step, { env }) => env);

describe.each(ENGINES)("the workflows fragment on $name", (engine) => {
  test("is migrated, processed and used as any other fragment, and several share a database", async () => {
    const logger = new LogBook();
    const database = await engine.createEmpty({ logger });
    try {
      const build = (namespace: string, factor: number) =>
        instantiate(workflowsFragment)
          .withConfig({
            namespace,
            workflows: { DOUBLE: { name: "double", workflow: Double }, PLAIN: { name: "renamed", workflow: plain } },
            env: { factor },
          })
          .withOptions({ databaseAdapter: database.adapter })
          .build();
      const twice = build("twice", 2);
      const thrice = build("thrice", 3);
      await migrate(twice);
      await migrate(thrice);
      const processor = createDurableHooksProcessor([twice, thrice]) as DurableHooksProcessor;
      const dispatcher = createDurableHooksDispatcher({ processor, logger });
      dispatcher.startPolling();
      const first = await twice.workflows.DOUBLE.create({ id: "same", params: 5 });
      const second = await thrice.workflows.DOUBLE.create({ id: "same", params: 5 });
      const third = await thrice.workflows.PLAIN.create();

      await expect(first.result()).resolves.toBe(10);
      await expect(second.result()).resolves.toBe(15);
      await expect(third.result()).resolves.toEqual({ factor: 3 });
      expect(third.workflowName).toBe("renamed");
      await dispatcher.stopPolling();
    } finally {
      await database.dispose();
    }
  });

  test("refuses two workflows of one name", async () => {
    const database = await engine.createEmpty({ logger: new LogBook() });
    const fragment = instantiate(workflowsFragment)
      .withConfig({ workflows: { a: plain, b: { name: "plain", workflow: Double } } })
      .withOptions({ databaseAdapter: database.adapter });

    expect(() => fragment.build()).toThrow(expect.objectContaining({ code: "workflow.invalid" }));
    await database.dispose();
  });
});
