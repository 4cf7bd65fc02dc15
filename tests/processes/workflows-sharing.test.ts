import { describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { idsOf, useWorkflowGroup } from "../support/workflow-group.ts";

const STEPS = ["step", "step#2", "step#3"];
const HOUR = { timeout: "3600 seconds", times: 1 };

describe.each(ENGINES)("several processes that run workflows on one database ($name)", (engine) => {
  const group = useWorkflowGroup();

  test("share six hundred instances: each finishes once, and no body of a step runs twice", async () => {
    await group.open(engine);
    const before = idsOf("before", 300);
    await group.create("steps", before, STEPS.length);
    const processes = await Promise.all([1, 2, 3].map(() => group.start({ worker: { concurrency: 10 } })));
    const meanwhile = idsOf("meanwhile", 200);
    const own = idsOf("own", 100);
    await Promise.all([
      group.create("steps", meanwhile, STEPS.length),
      processes[0]?.request({ do: "create", program: "steps", ids: own, params: STEPS.length }),
    ]);
    const all = [...before, ...meanwhile, ...own];
    await group.finished("steps", all.length, 90_000);

    const runs = await group.expectComplete("steps", all, STEPS);
    expect(runs).toEqual(runs.map(() => 1));
    expect(group.began).toHaveLength(all.length * STEPS.length);
    for (const { began } of processes) expect(began).not.toHaveLength(0);
  });

  test("take up what was begun, and what is resumed, before new runs", async () => {
    await group.open(engine);
    const first = await group.start();
    const waiting = idsOf("waiting", 4);
    await group.create("wait", waiting, HOUR);
    await group.create("hold", ["held"]);
    for (const id of waiting) await group.until("wait", id, "waiting");
    await first.seen("began", "held", "held");
    await (await group.app.workflows.hold.get("held")).pause();
    await first.request({ do: "open" });
    await group.until("hold", "held", "paused");
    await first.request({ do: "stop" });

    const fresh = idsOf("fresh", 20);
    await group.create("steps", fresh, 1);
    await (await group.app.workflows.hold.get("held")).resume();
    for (const id of waiting) await (await group.app.workflows.wait.get(id)).sendEvent({ type: "go" });
    const processes = await Promise.all([1, 2].map(() => group.start({ worker: { concurrency: 1 } })));
    await group.finished("steps", fresh.length);
    await group.finished("wait", waiting.length);
    await group.until("hold", "held", "complete");

    const orders = processes.map(({ began }) => began.map(({ instance }) => fresh.includes(instance)));
    for (const order of orders) expect(order).toEqual(order.toSorted());
    expect(orders.flat().filter((isFresh) => !isFresh)).toHaveLength(waiting.length + 1);
  });
});
