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

  test("runs its new steps, and reports old ones that it doesn't reach", async () => {
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

  test("says nothing of steps inside a step that has ended", async () => {
    const same = async (step: WorkflowStep) =>
      step.do("outer", async () => {
        await step.do("inner", () => 1);
        return step.do("inner", () => 2);
      });
    const { result, warnings } = await change(same, same);

    expect(result).toBe(2);
    expect(warnings).toEqual([]);
  });

  test("may put a step in front of others, between them and after them: only that runs", async () => {
    const ran: string[] = [];
    const note = (name: string) => () => {
      ran.push(name);
      return name;
    };
    const { result, warnings } = await change(
      async (step) => [await step.do("a", () => "old a"), await step.do("b", () => "old b")],
      async (step) => [
        await step.do("front", note("front")),
        await step.do("a", note("a")),
        await step.do("between", note("between")),
        await step.do("b", note("b")),
        await step.do("after", note("after")),
      ],
    );

    expect(result).toEqual(["front", "old a", "between", "old b", "after"]);
    expect(ran).toEqual(["front", "between", "after"]);
    expect(warnings).toEqual([]);
  });

  test("may call its steps in another order, or all at once", async () => {
    let runs = 0;
    const { result, warnings } = await change(
      async (step) => [await step.do("a", () => 1), await step.do("b", () => 2), await step.do("c", () => 3)],
      async (step) => {
        const c = await step.do("c", () => ++runs);
        return [c, ...(await Promise.all([step.do("b", () => ++runs), step.do("a", () => ++runs)]))];
      },
    );

    expect(result).toEqual([3, 2, 1]);
    expect(runs).toBe(0);
    expect(warnings).toEqual([]);
  });

  test("that calls one name more often gives the stored results to the first calls, wherever they are now", async () => {
    const { result } = await change(
      async (step) => [await step.do("send", () => "to Ada"), await step.do("send", () => "to Bob")],
      async (step) => [
        await step.do("send", () => "to Cid"),
        await step.do("send", () => "to Ada"),
        await step.do("send", () => "to Bob"),
      ],
    );

    expect(result).toEqual(["to Ada", "to Bob", "to Bob"]);
  });

  test("that changes the kind of a step runs it again", async () => {
    const { result, warnings } = await change(
      async (step) => step.do("pause", () => "done"),
      async (step) => {
        await step.sleep("pause", "1 second");
        return step.do("after", () => "slept");
      },
    );

    expect(result).toBe("slept");
    expect(warnings).toEqual([{ workflow: "changed", instance: "one", steps: ["do:pause"] }]);
  });

  test("doesn't move a deadline that is stored", async () => {
    const sleeper = (duration: string) =>
      defineWorkflow({ name: "sleeper" }, (_event, step) => step.sleep("rest", duration as "1 hour"));
    const first = subject.start({ sleeper: sleeper("1 hour") });
    const created = await first.workflows.sleeper.create({ id: "one" });
    await untilParked(created);
    const second = await replaceProcess(subject, first, { sleeper: sleeper("300 days") });
    const before = subject.clock.now();
    const instance = await second.workflows.sleeper.get("one");
    await afterLong(subject, instance, "complete");

    expect(subject.clock.now() - before).toBeLessThan(2 * 3_600_000);
  });
});
