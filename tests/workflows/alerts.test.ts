import { describe, expect, test } from "vitest";
import { type Alert, defineWorkflow } from "../../src/index.ts";
import { forever } from "../hooks/support/handlers.ts";
import { ENGINES } from "../support/engines.ts";
import { replaceProcess, untilParked } from "./support/lose-process.ts";
import { eventually, LEASE_MS, useWorkflows, withTime } from "./support/use-workflows.ts";

const HOUR_MS = 3_600_000;

describe.each(ENGINES)("alerts of workflows on $name", (engine) => {
  const subject = useWorkflows(engine);

  test("tell once an hour of an instance whose code doesn't match its history", async () => {
    const alerts: Alert[] = [];
    const program = (first: string) => ({
      order: defineWorkflow({ name: "order", onDivergence: "stop" }, async (_event, step) => {
        await step.do(first, () => {});
        await step.sleep("rest", "1 minute");
      }),
    });
    const old = subject.start(program("charge"));
    await untilParked(await old.workflows.order.create({ id: "one" }));
    const changed = await replaceProcess(subject, old, program("bill"), {
      onAlert: (alert: Alert) => alerts.push(alert),
    });
    const instance = await changed.workflows.order.get("one");
    subject.clock.advance(60_000);
    await withTime(subject.clock, () =>
      expect(alerts).toMatchObject([
        {
          kind: "diverged",
          namespace: subject.namespace,
          target: { kind: "instance", workflowName: "order", instanceId: "one" },
          error: { message: expect.stringContaining("bill") },
        },
      ]),
    );
    for (let held = 0; held < 5; held++) await subject.clock.advanceAndSettle(60_000);
    expect((await instance.explain()).reason.reason).toBe("diverged");
    expect(alerts).toHaveLength(1);
    await subject.clock.advanceAndSettle(HOUR_MS);
    await withTime(subject.clock, () => expect(alerts).toHaveLength(2));
  });

  test("report an instance that is lost with its process three times in a row", async () => {
    const alerts: Alert[] = [];
    let begun = 0;
    const hangs = defineWorkflow({ name: "hangs" }, async () => {
      begun++;
      await forever();
    });
    await subject.process({ hangs }).workflows.hangs.create({ id: "one" });
    for (let losses = 0; losses <= 3; losses++) {
      const dying = subject.start({ hangs }, { clock: subject.anotherClock(), onAlert: (alert) => alerts.push(alert) });
      await eventually(() => expect(begun).toBe(losses + 1));
      expect(dying.errors).toEqual([]);
      await subject.clock.advanceAndSettle(LEASE_MS);
    }
    const target = { kind: "instance", workflowName: "hangs", instanceId: "one" };
    expect(alerts).toMatchObject([{ kind: "crashLoop", target, losses: 3 }]);
  });
});
