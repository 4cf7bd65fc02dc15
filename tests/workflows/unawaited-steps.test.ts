import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowStep } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { useWorkflows } from "./support/use-workflows.ts";

describe.each(ENGINES)("a step that isn't awaited on $name", (engine) => {
  const subject = useWorkflows(engine);

  async function run(code: (step: WorkflowStep) => Promise<unknown>, strict?: boolean) {
    const option = strict === undefined ? {} : { strict };
    const workflow = defineWorkflow({ name: "hasty", ...option }, async (_event, step) => code(step));
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    const result = await instance.result().catch((error: Error) => error.cause);
    const warnings = process.logs.lines.flatMap(({ details = {} }) => ("steps" in details ? [details.steps] : []));
    return { instance, result, warnings };
  }

  const forgotten = async (step: WorkflowStep) => {
    await step.do("charge", async () => {});
    void step.do("mail", () => new Promise(() => {}));
    void step.do("log", () => new Promise(() => {}));
    return "done";
  };

  test("is named in the log and in the history when the function ends", async () => {
    const { instance, result, warnings } = await run(forgotten);
    expect(result).toBe("done");
    expect(warnings).toEqual([["do:mail", "do:log"]]);
    expect((await instance.history()).entries).toMatchObject([
      { kind: "completed", name: "charge" },
      { kind: "unawaited", name: "mail" },
      { kind: "unawaited", name: "log" },
    ]);
  });

  test("fails a strict workflow with an error that names the step", async () => {
    const { instance, result, warnings } = await run(forgotten, true);
    expect(result).toMatchObject({
      code: "workflow.unawaited_steps",
      message: expect.stringContaining("do:mail and 1 more"),
    });
    expect(warnings).toEqual([["do:mail", "do:log"]]);
    expect(await instance.status()).toMatchObject({ status: "errored", error: { code: "workflow.unawaited_steps" } });
  });

  const unheard = async (step: WorkflowStep) => {
    void step.do("mail", { retries: { limit: 0, delay: 1 } }, () => Promise.reject(new Error("no such address")));
    await step.do("charge", async () => {});
    await step.do("ship", async () => {});
    return "done";
  };

  test("is named in the log if it has failed before the function ends, and no code waited for it", async () => {
    const { instance, result, warnings } = await run(unheard);
    expect(result).toBe("done");
    expect(warnings).toEqual([["do:mail"]]);
    expect((await instance.history()).entries).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ kind: "failed", name: "mail" })]),
    );
  });

  test("fails a strict workflow if it has failed before the function ends, and no code waited for it", async () => {
    const { result } = await run(unheard, true);
    expect(result).toMatchObject({ code: "workflow.unawaited_steps", message: expect.stringContaining("do:mail") });
  });

  const broken = (step: WorkflowStep) =>
    step.do("broken", { retries: { limit: 0, delay: 1 } }, () => Promise.reject(new Error("no")));
  const charge = (step: WorkflowStep) => step.do("charge", async () => {});

  test.each<[string, (step: WorkflowStep) => Promise<unknown>]>([
    [
      "a failure is caught",
      async (step) => {
        broken(step).catch(() => {});
        await charge(step);
        await charge(step);
      },
    ],
    [
      "a failure is awaited later",
      async (step) => {
        const one = broken(step);
        await charge(step);
        await charge(step);
        await one.catch(() => {});
      },
    ],
    [
      "a failure is awaited with others",
      async (step) => {
        const all = Promise.allSettled([broken(step), charge(step)]);
        await charge(step);
        await all;
      },
    ],
    ["a failure is awaited", (step) => broken(step).catch(() => {})],
    [
      "a failure is awaited in a try block",
      async (step) => {
        try {
          await broken(step);
        } catch {}
      },
    ],
    ["all steps are awaited", async (step) => Promise.all([step.do("a", async () => 1), step.do("b", async () => 2)])],
    ["it calls none", async () => 1],
    [
      "a sleep has lost a race",
      async (step) => Promise.race([step.do("a", async () => 1), step.sleep("rest", "1 hour")]),
    ],
  ])("isn't reported where %s, even in a strict workflow", async (_what, code) => {
    const { instance, warnings } = await run(code, true);
    expect(warnings).toEqual([]);
    expect(await instance.status()).toMatchObject({ status: "complete" });
  });

  test("isn't reported where the function throws because another step has failed", async () => {
    const { warnings, result } = await run(
      (step) =>
        Promise.all([
          step.do("slow", () => new Promise(() => {})),
          step.do("broken", { retries: { limit: 0, delay: 1 } }, async () => {
            throw new Error("no");
          }),
        ]),
      true,
    );
    expect(result).toMatchObject({ message: "no" });
    expect(warnings).toEqual([]);
  });

  test("is refused after the function has ended, instead of hanging", async () => {
    const calls: Promise<unknown>[] = [];
    let late: WorkflowStep | undefined;
    const { result } = await run(async (step) => {
      late = step;
      return "done";
    });
    expect(result).toBe("done");
    calls.push(
      (late as WorkflowStep).do("late", async () => 1),
      (late as WorkflowStep).sleep("late", 1),
      (late as WorkflowStep).waitForEvent("late", { type: "late" }),
    );
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: "step.after_end" });
  });

  test.each([["yes"], [1], [null]])("can't be forbidden with strict: %j", (strict) => {
    expect(() => defineWorkflow({ name: "hasty", strict } as never, async () => {})).toThrow(
      /strict must be true or false/,
    );
  });
});
