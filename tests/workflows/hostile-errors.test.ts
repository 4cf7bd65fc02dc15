import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowEvent } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { HOSTILE } from "../support/hostile.ts";
import { useWorkflows } from "./support/use-workflows.ts";

const ONCE = { retries: { limit: 0, delay: 1 } };

describe.each(ENGINES)("an error that throws when it is read, on $name", (engine) => {
  const subject = useWorkflows(engine);

  test.each(HOSTILE)("fails the workflow that throws it, and no other: $what", async ({ make }) => {
    const sample = defineWorkflow({ name: "sample" }, async ({ payload }: WorkflowEvent<string>, step) => {
      if (payload === "workflow") throw make();
      if (payload === "step") {
        await step.do("throws", ONCE, () => {
          throw make();
        });
      }
      if (payload === "retried") {
        await step.do("throws", { retries: { limit: 1, delay: 1 } }, async () => {
          throw make();
        });
      }
      if (payload === "rollback") {
        const rollback = async () => {
          throw make();
        };
        await step.do("undone badly", async () => 1, { rollback, rollbackConfig: ONCE });
        throw make();
      }
      if (payload === "delay") {
        const delay = () => {
          throw make();
        };
        await step.do("throws", { retries: { limit: 1, delay } }, async () => {
          throw new Error("no");
        });
      }
      return "done";
    });
    const process = subject.start({ sample });
    const kinds = ["workflow", "step", "retried", "rollback", "delay"];
    const failing = await Promise.all(kinds.map((kind) => process.workflows.sample.create({ id: kind, params: kind })));
    const neighbour = await process.workflows.sample.create({ params: "none" });

    await expect(neighbour.result()).resolves.toBe("done");
    for (const instance of failing) {
      const result = instance.result({ timeout: "1 hour" }).catch((error: unknown) => error);
      while (!(await Promise.race([result, subject.clock.advanceAndSettle(1000)]))) {}
      await expect(result).resolves.toMatchObject({ code: "workflow.failed" });
      expect(await instance.status()).toMatchObject({ status: "errored", error: { message: expect.any(String) } });
    }
  });

  test.each(HOSTILE.slice(0, 4))("fails the step that gives it, and no other: $what", async ({ make }) => {
    const sample = defineWorkflow({ name: "sample" }, async ({ payload }: WorkflowEvent<string>, step) => {
      if (payload === "workflow") return make();
      return payload === "step" ? step.do("gives", ONCE, make) : "done";
    });
    const process = subject.start({ sample });
    const failing = await Promise.all(
      ["workflow", "step"].map((kind) => process.workflows.sample.create({ params: kind })),
    );
    const neighbour = await process.workflows.sample.create({ params: "none" });

    await expect(neighbour.result()).resolves.toBe("done");
    for (const instance of failing) await expect(instance.result()).rejects.toMatchObject({ code: "workflow.failed" });
  });
});
