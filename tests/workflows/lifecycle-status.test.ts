import { describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { SITUATIONS } from "./support/situations.ts";
import { useWorkflows } from "./support/use-workflows.ts";

describe.each(ENGINES)("the status of instances on $name", (engine) => {
  const subject = useWorkflows(engine);

  test.each(SITUATIONS)("is $status of one $situation", async ({ status, enter, attended }) => {
    const begunAt = new Date(subject.clock.now());
    const { instance, runner } = await enter(subject);
    const { params, ...state } = await instance.status();
    const finished = ["complete", "errored", "terminated"].includes(status);

    expect(params).toEqual(expect.any(String));
    expect(state).toEqual({
      status,
      ...(status === "complete" ? { output: "complete" } : {}),
      ...(status === "errored"
        ? { error: { name: "TypeError", message: "no", stack: expect.stringContaining("TypeError: no") } }
        : {}),
      run: 1,
      labels: {},
      createdAt: begunAt,
      startedAt: attended ? begunAt : null,
      finishedAt: finished ? begunAt : null,
    });
    const { instances } = await runner.workflows.sample.list();
    expect(instances).toEqual([{ id: "one", workflowName: "sample", ...state }]);
  });

  test.each(SITUATIONS)("is the same for other processes of one $situation", async ({ situation, status, enter }) => {
    const { sample } = await enter(subject);
    const other = subject.process({ sample: sample.workflow });
    const held = situation === "that sleeps for a moment"; // only who holds it in memory knows that it sleeps

    const instance = await other.workflows.sample.get("one");
    expect(await instance.status()).toMatchObject({ status: held ? "running" : status });
  });
});
