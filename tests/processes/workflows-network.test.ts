import { afterEach, beforeEach, expect, test } from "vitest";
import { COMMIT_ANY, COMMIT_STEPS } from "../support/cut-texts.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { ENGINES, type TestEngine } from "../support/engines.ts";
import { useWorkflowGroup } from "../support/workflow-group.ts";

const postgres = ENGINES.find(({ dialect }) => dialect === "postgres") as TestEngine;
const group = useWorkflowGroup();
let proxy: CuttingProxy;

beforeEach(async () => {
  await group.open(postgres);
  proxy = await CuttingProxy.start(group.location);
});

afterEach(() => proxy.stop());

test.each(["request", "answer"] as const)(
  "a connection that is cut at the commit of a step, so that the %s is lost, leaves one entry for each step",
  async (lost) => {
    const runner = await group.start({ database: proxy.url });
    const steps = ["step", "step#2", "step#3"];
    for (const commit of COMMIT_STEPS) {
      const cut = proxy.cut(commit, lost);
      await group.create("steps", [commit], steps.length);
      await cut;
      await runner.seen("ended", commit, "step#3");
    }
    await group.finished("steps", 2);

    const runs = await group.expectComplete("steps", COMMIT_STEPS, steps);
    expect(runs).toEqual(runs.map(() => 1)); // what is sent again is the commit, not the step
  },
);

test.each(["request", "answer"] as const)(
  "a connection that is cut when an instance is parked, so that the %s is lost, loses neither its wait nor its event",
  async (lost) => {
    const runner = await group.start({ database: proxy.url });
    const cut = proxy.cut(COMMIT_ANY, lost);
    await group.create("wait", ["one"], { timeout: "3600 seconds", times: 1 });
    await cut;
    await group.until("wait", "one", "waiting");
    await (await group.app.workflows.wait.get("one")).sendEvent({ type: "go", payload: "here" });
    await runner.seen("ended", "one", "last");
    await group.finished("wait", 1);

    const runs = await group.expectComplete("wait", ["one"], ["first", "last"]);
    expect(runs).toEqual([1, 1]);
    const kinds = (await group.journal("wait", "one")).map(({ kind, name }) => `${name} ${kind}`);
    expect(kinds).toEqual(["first completed", "event waiting", "event received", "last completed"]);
  },
);
