import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually, LEASE_MS, untilStatus, useWorkflows } from "./support/use-workflows.ts";

describe.each(ENGINES)("an instance that was to be paused when its process was lost, on $name", (engine) => {
  const subject = useWorkflows(engine);

  test("comes to rest in the process that takes it over, and begins nothing until it is resumed", async () => {
    const begun: string[] = [];
    const workflow = defineWorkflow({ name: "lost" }, async (_event, step) => {
      await step.do("hangs at first", async () => {
        begun.push("hangs at first");
        if (begun.length === 1) await new Promise(() => {});
      });
    });
    const lost = subject.start({ workflow }, { clock: subject.anotherClock() });
    await lost.workflows.workflow.create({ id: "one" });
    await eventually(() => expect(begun).toHaveLength(1));
    const other = subject.process({ workflow });
    const instance = await other.workflows.workflow.get("one");
    await instance.pause();
    expect((await instance.status()).status).toBe("waitingForPause");

    await subject.clock.advanceAndSettle(LEASE_MS + 1);
    other.start();
    await untilStatus(subject.clock, instance, "paused");
    expect(begun).toHaveLength(1);

    await instance.resume();
    await untilStatus(subject.clock, instance, "complete");
    expect(begun).toHaveLength(2);
  });
});
