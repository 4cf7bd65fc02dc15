import { afterEach, describe, expect, test, vi } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { comesToRest } from "./support/sample.ts";
import { SITUATIONS } from "./support/situations.ts";
import { eventually, useWorkflows } from "./support/use-workflows.ts";

describe.each(ENGINES)("instances that a process has nothing to do with, on $name", (engine) => {
  const subject = useWorkflows(engine);
  const known = defineWorkflow({ name: "known" }, async () => "known");
  const unknown = defineWorkflow({ name: "unknown" }, async () => "unknown");

  afterEach(() => {
    vi.restoreAllMocks();
  });

  test("because it lacks their workflow are left alone, and it says so", async () => {
    const newer = subject.process({ known, unknown });
    await newer.workflows.unknown.create({ id: "one" });
    await newer.workflows.known.create({ id: "two" });
    const older = subject.start({ known });
    await expect((await older.workflows.known.get("two")).result()).resolves.toBe("known");
    const claim = vi.spyOn(older.store.instances.statements, "claim");
    await subject.clock.advanceAndSettle(600_000);
    await eventually(() => expect(older.logs.lines).not.toEqual([]));

    expect(older.logs.lines[0]).toMatchObject({
      level: "warn",
      details: { namespace: subject.namespace, workflows: ["unknown"] },
    });
    expect(older.logs.lines.length).toBeLessThanOrEqual(3); // at the start, about once an hour, and that no live worker runs it
    expect(claim.mock.calls.length).toBeLessThan(3);
    expect(await (await newer.workflows.unknown.get("one")).status()).toMatchObject({ status: "queued" });
    newer.start();
    await expect((await newer.workflows.unknown.get("one")).result()).resolves.toBe("unknown");
  });

  test.each(SITUATIONS.filter(({ status }) => ["paused", "complete", "errored", "terminated"].includes(status)))(
    "because they are one $situation cost it no claim",
    async ({ enter }) => {
      const { sample, runner } = await enter(subject);
      await runner.stop();
      const idle = subject.start({ sample: sample.workflow });
      const { statements } = idle.store.instances;
      const nextWake = vi.spyOn(statements, "nextWake");
      await eventually(() => expect(nextWake).toHaveBeenCalled());
      await comesToRest(idle);
      await subject.clock.advanceAndSettle(1000); // what it looks for when it starts is over
      const spies = (["claim", "load", "commit", "renew", "loadEvents"] as const).map((name) =>
        vi.spyOn(statements, name),
      );
      nextWake.mockClear();
      for (let second = 0; second < 60; second++) await subject.clock.advanceAndSettle(1000);

      for (const spy of spies) expect(spy).not.toHaveBeenCalled();
      expect(nextWake.mock.calls.length).toBeLessThanOrEqual(31); // every two seconds, where no writer announces anything
    },
  );
});
