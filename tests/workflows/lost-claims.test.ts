import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { Unanswered } from "../hooks/support/unanswered.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually, LEASE_MS, untilStatus, useWorkflows, withTime } from "./support/use-workflows.ts";

describe.each(ENGINES)("an instance whose claim isn't answered on $name", (engine) => {
  const subject = useWorkflows(engine);

  function careful(limit: number) {
    const attempts: number[] = [];
    const workflow = defineWorkflow({ name: "careful" }, (_event, step) =>
      step.do("charge", { retries: { limit } }, ({ attempt }) => void attempts.push(attempt)),
    );
    return { workflow, attempts };
  }

  test("is given back within its lease, and runs as if it had never been claimed", async () => {
    const { workflow, attempts } = careful(1);
    const writer = subject.process({ workflow });
    const instance = await writer.workflows.workflow.create({ id: "one" });
    const process = subject.process({ workflow });
    const claims = new Unanswered(process.store.instances.statements, "claim", 3);
    const start = subject.clock.now();
    process.start();
    await untilStatus(subject.clock, instance, "complete");

    expect(claims.lost).toBe(3);
    expect(subject.clock.now() - start).toBeLessThan(LEASE_MS);
    expect(attempts).toEqual([1]);
  });

  test("counts one loss at most, however many owners are cut off before they begin", async () => {
    const { workflow, attempts } = careful(1);
    const writer = subject.process({ workflow });
    const instance = await writer.workflows.workflow.create({ id: "one" });
    for (let losses = 0; losses < 4; losses++) {
      const owner = subject.process({ workflow }, { clock: subject.anotherClock() });
      const claims = new Unanswered(owner.store.instances.statements, "claim");
      new Unanswered(owner.store.instances.statements, "findLeased");
      owner.start();
      await eventually(() => expect(claims.lost).toBeGreaterThan(0));
      await subject.clock.advanceAndSettle(LEASE_MS);
    }
    subject.start({ workflow });
    await untilStatus(subject.clock, instance, "complete");

    expect(attempts).toEqual([2]);
  });

  test("runs soon when the answer to its creation never comes", async () => {
    const { workflow, attempts } = careful(1);
    const process = subject.start({ workflow });
    const { id } = await process.workflows.workflow.create();
    await untilStatus(subject.clock, await process.workflows.workflow.get(id), "complete");
    const inserts = new Unanswered(process.store.instances.statements, "insert");
    let refused = false;
    process.workflows.workflow.create({ id: "unknown" }).catch(() => {
      refused = true;
    });
    await withTime(subject.clock, () => expect(refused).toBe(true));
    inserts.end();
    const start = subject.clock.now();
    await untilStatus(subject.clock, await process.workflows.workflow.get("unknown"), "complete");

    expect(subject.clock.now() - start).toBeLessThan(LEASE_MS);
    expect(attempts).toEqual([1, 1]);
  });
});
