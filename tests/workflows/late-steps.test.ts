import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { Gate } from "../hooks/support/handlers.ts";
import { ENGINES } from "../support/engines.ts";
import { becomes, comesToRest } from "./support/sample.ts";
import { eventually, useWorkflows, withTime } from "./support/use-workflows.ts";

describe.each(ENGINES)("steps that are called after the instance was parked, on $name", (engine) => {
  const subject = useWorkflows(engine);

  /** Sleeps, and beside that waits for something that isn't a step. */
  async function begin(after: "step" | "return") {
    const gate = new Gate();
    const begun: string[] = [];
    let calls = 0;
    const workflow = defineWorkflow({ name: "late" }, async (_event, step) => {
      calls++;
      const sleep = step.sleep("long", "1 hour");
      if (after === "return") {
        await gate.opened;
        return "early";
      }
      const work = gate.opened.then(() => step.do("beside", () => void begun.push("beside")));
      await Promise.all([sleep, work]);
      return "done";
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    await becomes(instance, "waiting");
    await comesToRest(process);
    return { gate, begun, process, instance, workflow, calls: () => calls };
  }

  test("run at once, in the same call of the function, and the instance continues waiting", async () => {
    const { gate, begun, process, instance, calls } = await begin("step");
    gate.open();
    await eventually(() => expect(begun).toEqual(["beside"]));
    await comesToRest(process);
    expect(await instance.status()).toMatchObject({ status: "waiting" });
    expect(calls()).toBe(1);
    await subject.clock.advanceAndSettle(3_600_000);

    await withTime(subject.clock, async () => expect(await instance.status()).toMatchObject({ status: "complete" }));
    expect(begun).toEqual(["beside"]);
  });

  test("may be none: a function that returns ends its instance", async () => {
    const { gate, instance, calls } = await begin("return");
    gate.open();

    await withTime(subject.clock, async () => expect(await instance.status()).toMatchObject({ status: "complete" }));
    await expect(instance.result()).resolves.toBe("early");
    expect(calls()).toBe(1);
  });

  test.each(["pause", "terminate", "delete"] as const)("do nothing after a %s", async (operation) => {
    const { gate, begun, instance, process } = await begin("step");
    await instance[operation]();
    gate.open();
    await subject.clock.advanceAndSettle(60_000);
    await comesToRest(process);

    expect(begun).toEqual([]);
    if (operation !== "pause") return;
    await instance.resume();
    await eventually(() => expect(begun).toEqual(["beside"]));
  });

  test("do nothing if another worker has claimed the instance meanwhile", async () => {
    const { gate, begun, instance, process, workflow } = await begin("step");
    const { statements } = process.store.instances;
    const scopes = [{ namespace: subject.namespace, names: [workflow.name] }];
    await process.stop();
    await instance.sendEvent({ type: "wake" }); // makes it due
    const claimed = await statements.claim({
      scopes,
      limit: 1,
      takeOver: true,
      lock: "somebody.1",
      leaseMs: 1_000_000,
    });
    expect(claimed).toHaveLength(1);
    process.start();
    gate.open();
    await subject.clock.advanceAndSettle(10_000);

    expect(begun).toEqual([]);
    expect(await statements.leaseTokens([subject.namespace])).toEqual(["somebody.1"]);
  });
});
