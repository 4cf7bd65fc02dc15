import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { untilStatus, useWorkflows } from "./support/use-workflows.ts";

describe.each(ENGINES)("the events of a rollback on $name", (engine) => {
  const subject = useWorkflows(engine);

  async function eventsOf(failures: number): Promise<string[]> {
    const order = defineWorkflow({ name: "order" }, async (_event, step) => {
      await step.do("first", () => 1, { rollback: async () => {} });
      await step.do("second", () => 2, {
        rollback: async ({ ctx }) => {
          if (ctx.attempt <= failures) throw new Error("not yet");
        },
        rollbackConfig: { retries: { limit: 1, delay: 100 } },
      });
      throw new Error("no truck");
    });
    const { workflows } = subject.start({ order });
    const instance = await workflows.order.create();
    await untilStatus(subject.clock, instance, "errored");
    const subscription = await instance.subscribe({ cursor: 0 });
    const told: string[] = [];
    for (;;) {
      const { value, done } = await subscription.next();
      if (done || value === undefined) return told;
      const { type } = value;
      const name = "stepName" in value ? ` ${value.stepName}` : "";
      const attempt = "attempt" in value ? ` ${value.attempt}` : "";
      if (type.startsWith("rollback") || type.startsWith("step") || type === "workflow_errored") {
        told.push(`${type}${name}${attempt}`);
      }
    }
  }

  const FORWARD = ["step_started first", "step_completed first", "step_started second", "step_completed second"];

  test("are Cloudflare's, in order, and say that everything is rolled back", async () => {
    expect(await eventsOf(1)).toEqual([
      ...FORWARD,
      "rollback_started",
      "rollback_step_started second",
      "rollback_attempt_started second 1",
      "rollback_attempt_errored second 1",
      "rollback_attempt_started second 2",
      "rollback_attempt_completed second 2",
      "rollback_step_completed second",
      "rollback_step_started first",
      "rollback_attempt_started first 1",
      "rollback_attempt_completed first 1",
      "rollback_step_completed first",
      "rollback_completed",
      "workflow_errored",
    ]);
  });

  test("say where it failed", async () => {
    expect((await eventsOf(2)).slice(-4)).toEqual([
      "rollback_attempt_errored second 2",
      "rollback_step_errored second",
      "rollback_errored",
      "workflow_errored",
    ]);
  });
});
