import { describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { useWorkflowGroup } from "../support/workflow-group.ts";

const HOUR_MS = 3_600_000;
const HOLD_STEPS = ["first", "held", "last"];

describe.each(ENGINES)("a process that is killed in the middle of a step ($name)", (engine) => {
  const group = useWorkflowGroup();

  test("leaves its instances to a process that runs already, which continues after the last committed step", async () => {
    await group.open(engine);
    const killed = await group.start({ worker: { leaseMs: 3000 } });
    await group.create("hold", ["one"]);
    await killed.seen("began", "one", "held");
    const other = await group.start({ worker: { leaseMs: 3000 } });
    killed.kill("SIGKILL");
    await killed.ended;

    await other.seen("began", "one", "held");
    await other.request({ do: "open" });
    await group.finished("hold", 1);

    await group.expectComplete("hold", ["one"], HOLD_STEPS);
    expect(killed.began.map(({ step, attempt }) => [step, attempt])).toEqual([
      ["first", 1],
      ["held", 1],
    ]);
    expect(other.began.map(({ step, attempt }) => [step, attempt])).toEqual([
      ["held", 2],
      ["last", 1],
    ]);
  });

  test("continues when it is started again, and doesn't wait for its own lease", async () => {
    await group.open(engine);
    const killed = await group.start({ worker: { leaseMs: HOUR_MS } });
    await group.create("hold", ["one", "two"]);
    await group.create("wait", ["parked"], { timeout: "3600 seconds", times: 1 });
    for (const id of ["one", "two"]) await killed.seen("began", id, "held");
    await group.until("wait", "parked", "waiting");
    killed.kill("SIGKILL");
    await killed.ended;

    const again = await group.start({ worker: { leaseMs: HOUR_MS } });
    await again.request({ do: "open" });
    await group.finished("hold", 2);
    await (await group.app.workflows.wait.get("parked")).sendEvent({ type: "go", payload: 1 });
    await group.finished("wait", 1);

    await group.expectComplete("hold", ["one", "two"], HOLD_STEPS);
    await group.expectComplete("wait", ["parked"], ["first", "last"]);
    expect(again.began.filter(({ step }) => step === "first")).toEqual([]);
  });

  test("loses nothing of what it had committed, whenever that is", async () => {
    await group.open(engine);
    const STEPS = Array.from({ length: 600 }, (_, number) => (number === 0 ? "step" : `step#${number + 1}`));
    await group.create("steps", ["long"], STEPS.length);
    // A supervisor starts it again each time.
    for (let round = 1; round <= 3; round++) {
      const killed = await group.start({ worker: { leaseMs: HOUR_MS } });
      await waitUntil(
        "it has ended some steps",
        () => killed.bodies.filter(({ event }) => event === "ended").length > 5,
      );
      killed.kill("SIGKILL");
      await killed.ended;
    }
    await group.start();
    await group.finished("steps", 1);

    const runs = await group.expectComplete("steps", ["long"], STEPS);
    // Only what was under way when the process was killed may have run again.
    expect(runs.filter((times) => times > 1).length).toBeLessThanOrEqual(3);
    expect(Math.max(...runs)).toBeLessThanOrEqual(2);
  });
});
