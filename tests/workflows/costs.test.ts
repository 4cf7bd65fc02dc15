import { afterEach, describe, expect, test, vi } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import type { InstanceCommit, InstanceInsert } from "../../src/store/instances/instance-records.ts";
import { ENGINES } from "../support/engines.ts";
import { becomes, comesToRest } from "./support/sample.ts";
import { eventually, useWorkflows, type WorkflowProcess, withTime } from "./support/use-workflows.ts";

/** Statements and rows of everything that is asked about instances. */
function count({ store }: Pick<WorkflowProcess<never>, "store">) {
  const { statements } = store.instances;
  const costs = { asked: [] as string[], rows: 0 };
  const names = ["insert", "claim", "load", "loadEvents", "commit", "renew", "reacquire", "sendEvents"] as const;
  for (const name of names) {
    const original = statements[name].bind(statements) as (...parameters: unknown[]) => Promise<unknown>;
    const counted = async (...parameters: unknown[]) => {
      costs.asked.push(name);
      if (name === "insert") costs.rows += (parameters[0] as InstanceInsert[]).length;
      if (name === "commit") costs.rows += rowsOf(parameters[0] as InstanceCommit[]);
      return original(...parameters);
    };
    vi.spyOn(statements, name).mockImplementation(counted as never);
  }
  return costs;
}

/** An entry is a row; the instance's own row is written unless it goes on. */
function rowsOf(commits: readonly InstanceCommit[]): number {
  return commits.reduce((sum, { entries, outcome }) => sum + entries.length + (outcome.kind === "running" ? 0 : 1), 0);
}

describe.each(ENGINES)("the cost of workflows on $name", (engine) => {
  const subject = useWorkflows(engine);

  afterEach(() => {
    vi.restoreAllMocks();
  });

  async function begin(steps: number) {
    let calls = 0;
    const workflow = defineWorkflow({ name: "steps" }, async (_event, step) => {
      calls++;
      for (let index = 0; index < steps; index++) await step.do(`step ${index}`, () => index);
      return steps;
    });
    const process = subject.start({ workflow });
    await comesToRest(process);
    await eventually(() =>
      expect(process.store.work.reserve("instance", subject.namespace, "steps")?.cancel()).toBeUndefined(),
    );
    const costs = count(process as never);
    return { process, costs, create: () => process.workflows.workflow.create(), calls: () => calls };
  }

  test("three steps are four commits and five rows: create; step; step; step and finish", async () => {
    const { costs, create, calls } = await begin(3);
    await expect((await create()).result()).resolves.toBe(3);

    expect(costs.asked.filter((name) => name !== "claim")).toEqual(["insert", "commit", "commit", "commit"]);
    expect(costs.rows).toBe(5);
    expect(calls()).toBe(1);
  });

  test("a thousand steps cost a thousand times one step, and the function is called once", async () => {
    const { costs, create, calls } = await begin(1000);
    await expect((await create()).result()).resolves.toBe(1000);

    expect(costs.asked.filter((name) => name === "commit")).toHaveLength(1000);
    expect(costs.asked.filter((name) => name === "load")).toEqual([]);
    expect(costs.rows).toBe(1002);
    expect(calls()).toBe(1);
  });

  test("a short sleep after a step is one row for its deadline, and no commit but its end", async () => {
    const workflow = defineWorkflow({ name: "steps" }, async (_event, step) => {
      await step.do("first", () => 1);
      await step.sleep("short", 1000);
    });
    const process = subject.start({ workflow });
    await comesToRest(process);
    await eventually(() =>
      expect(process.store.work.reserve("instance", subject.namespace, "steps")?.cancel()).toBeUndefined(),
    );
    const costs = count(process as never);
    const instance = await process.workflows.workflow.create();
    await becomes(instance, "waiting");
    await subject.clock.advanceAndSettle(1000);
    await becomes(instance, "complete");

    expect(costs.asked.filter((name) => name === "commit")).toHaveLength(2);
    expect(costs.rows).toBe(5); // the instance; the step and the deadline; the end of the sleep and the instance again
  });

  test("a long sleep is one commit to park and a claim, a load and a commit to continue", async () => {
    const workflow = defineWorkflow({ name: "steps" }, async (_event, step) => {
      await step.sleep("long", "1 hour");
    });
    const process = subject.start({ workflow });
    await comesToRest(process);
    const costs = count(process as never);
    const instance = await process.workflows.workflow.create();
    await becomes(instance, "waiting");
    await comesToRest(process);
    expect(costs.asked.filter((name) => name === "commit")).toHaveLength(1);
    const before = costs.rows;
    expect(before).toBe(3); // the instance, the deadline, the instance again
    costs.asked.length = 0;
    await subject.clock.advanceAndSettle(3_600_000);
    await withTime(subject.clock, async () => expect(await instance.status()).toMatchObject({ status: "complete" }));

    // Renewals depend on how long the database takes to answer while the clock of the test is moved.
    expect(costs.asked.filter((name) => name !== "claim" && name !== "renew")).toEqual(["load", "commit"]);
    expect(costs.rows - before).toBe(2);
  });
});
