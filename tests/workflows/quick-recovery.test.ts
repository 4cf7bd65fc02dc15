import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { forever } from "../hooks/support/handlers.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually, LEASE_MS, untilStatus, useWorkflows } from "./support/use-workflows.ts";

describe.each(ENGINES)("instances that are lost together on $name", (engine) => {
  const subject = useWorkflows(engine);

  test("are recovered together: twelve steps run at a time", async () => {
    let lost = true;
    let running = 0;
    let most = 0;
    let begun = 0;
    const gate = Promise.withResolvers<void>();
    const workflow = defineWorkflow({ name: "slow" }, (_event, step) =>
      step.do("slow", async () => {
        begun++;
        if (lost) return forever();
        most = Math.max(most, ++running);
        await gate.promise;
        running--;
      }),
    );
    const dying = subject.start({ workflow }, { clock: subject.anotherClock(), concurrency: 20 });
    const instances = await Promise.all(
      Array.from({ length: 12 }, (_, n) => dying.workflows.workflow.create({ id: `${n}` })),
    );
    await eventually(() => expect(begun).toBe(12));
    lost = false;
    await subject.clock.advanceAndSettle(LEASE_MS);
    subject.start({ workflow }, { concurrency: 20 });
    await eventually(() => expect(running).toBe(12));
    gate.resolve();
    for (const instance of instances) await untilStatus(subject.clock, instance, "complete");

    expect(most).toBe(12);
  });

  test("are recovered within seconds where some of them wait for others", async () => {
    let lost = true;
    let begun = 0;
    const child = defineWorkflow({ name: "child" }, (_event, step) =>
      step.do("work", () => {
        begun++;
        return lost ? forever() : "done";
      }),
    );
    const parent = defineWorkflow({ name: "parent" }, async (_event, step, { workflows }) => {
      const one = await workflows["child"]?.create({ id: `${_event.instanceId}-child` });
      return step.do("wait", { timeout: "1 hour" }, () => one?.result());
    });
    const registry = { parent, child };
    const dying = subject.start(registry, { clock: subject.anotherClock() });
    const parents = await Promise.all(["a", "b", "c"].map((id) => dying.workflows.parent.create({ id })));
    await eventually(() => expect(begun).toBe(3));
    lost = false;
    await subject.clock.advanceAndSettle(LEASE_MS);
    const start = subject.clock.now();
    const process = subject.start(registry);
    for (const { id } of parents) {
      await untilStatus(subject.clock, await process.workflows.parent.get(id), "complete");
    }

    expect(subject.clock.now() - start).toBeLessThan(20_000);
  });
});
