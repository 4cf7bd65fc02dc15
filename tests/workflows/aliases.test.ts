import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowStep } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { afterLong, replaceProcess, untilParked } from "./support/lose-process.ts";
import { useWorkflows } from "./support/use-workflows.ts";

const UNREACHED = "Steps that had run before were not reached by this code. If one was renamed, give it an alias.";

describe.each(ENGINES)("changed code on $name", (engine) => {
  const subject = useWorkflows(engine);

  /** Runs the old code up to a sleep of an hour, and the new one from there. */
  async function change(
    before: (step: WorkflowStep) => Promise<unknown>,
    after: (step: WorkflowStep) => Promise<unknown>,
  ) {
    const old = defineWorkflow({ name: "changed" }, async (_event, step) => {
      await before(step);
      await step.sleep("rest", "1 hour");
    });
    const renewed = defineWorkflow({ name: "changed" }, async (_event, step) => {
      const result = await after(step);
      await step.sleep("rest", "1 hour");
      return result;
    });
    const first = subject.start({ changed: old });
    const created = await first.workflows.changed.create({ id: "one" });
    await untilParked(created);
    const second = await replaceProcess(subject, first, { changed: renewed });
    const instance = await second.workflows.changed.get("one");
    await afterLong(subject, instance, "complete");
    const warnings = second.logs.lines.filter(({ message }) => message === UNREACHED).map(({ details }) => details);
    return { result: await instance.result(), warnings };
  }

  test("keeps the results of a renamed step by its alias", async () => {
    let runs = 0;
    const { result, warnings } = await change(
      async (step) => {
        await step.do("old", () => "one");
        await step.do("old", () => "two");
      },
      async (step) => [
        await step.do("new", { aliases: ["older", "old"] }, () => ++runs),
        await step.do("new", { aliases: ["older", "old"] }, () => ++runs),
      ],
    );

    expect(result).toEqual(["one", "two"]);
    expect(runs).toBe(0);
    expect(warnings).toEqual([]);
  });

  test("runs its new steps, and tells of old ones that it doesn't reach", async () => {
    const { result, warnings } = await change(
      async (step) => {
        await step.do("kept", () => 1);
        await step.do("gone", () => 2);
      },
      async (step) => [await step.do("kept", () => 10), await step.do("new", () => 20)],
    );

    expect(result).toEqual([1, 20]);
    expect(warnings).toEqual([{ workflow: "changed", instance: "one", steps: ["do:gone"] }]);
  });

  test("says nothing of steps inside of a step that has ended", async () => {
    const same = async (step: WorkflowStep) =>
      step.do("outer", async () => {
        await step.do("inner", () => 1);
        return step.do("inner", () => 2);
      });
    const { result, warnings } = await change(same, same);

    expect(result).toBe(2);
    expect(warnings).toEqual([]);
  });
});
