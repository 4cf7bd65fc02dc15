import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowStep } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually, untilStatus, useWorkflows } from "./support/use-workflows.ts";

const WAITS: [string, (step: WorkflowStep) => Promise<unknown>][] = [
  ["a long sleep", (step) => step.sleep("nap", "1 hour")],
  ["a short sleep", (step) => step.sleep("nap", 10)],
  ["a sleep until a date", (step) => step.sleepUntil("nap", new Date(0))],
  ["a wait for an event", (step) => step.waitForEvent("nap", { type: "word", timeout: "1 day" })],
];

describe.each(ENGINES)("inside a step's function, on $name", (engine) => {
  const subject = useWorkflows(engine);

  test.each(WAITS)("%s is refused at once, with an error that says what to do", async (_, wait) => {
    let attempts = 0;
    const workflow = defineWorkflow({ name: "waits" }, async (_event, step) => {
      await step.do("work", () => {
        attempts++;
        return wait(step).then(() => "awake");
      });
    });
    const instance = await subject.start({ workflow }).workflows.workflow.create();
    await eventually(async () => expect((await instance.status()).status).toBe("errored"));

    expect(attempts).toBe(1);
    expect((await instance.status()).error).toMatchObject({
      name: "WaitInsideStepError",
      code: "step.wait_inside_step",
      message: expect.stringMatching(/"nap" is called inside the step "work".*Call it in the workflow's own function/),
    });
    expect((await instance.history()).entries.map(({ kind, name }) => `${name} ${kind}`)).toEqual(["work failed"]);
  });

  test("a wait is refused in an inner step, too, and fails all that it is inside", async () => {
    const attempts: string[] = [];
    const workflow = defineWorkflow({ name: "waits" }, async (_event, step) => {
      await step.do("outer", () => {
        attempts.push("outer");
        return step.do("inner", async () => {
          attempts.push("inner");
          await step.sleep("nap", "1 hour");
        });
      });
    });
    const instance = await subject.start({ workflow }).workflows.workflow.create();
    await eventually(async () => expect((await instance.status()).status).toBe("errored"));

    expect(attempts).toEqual(["outer", "inner"]);
    expect((await instance.status()).error).toMatchObject({ code: "step.wait_inside_step" });
  });

  test("a refused wait lets a function that catches the error continue", async () => {
    const workflow = defineWorkflow({ name: "waits" }, async (_event, step) =>
      step.do("work", () => step.sleep("nap", "1 hour").catch(({ code }: { code: string }) => code)),
    );
    const instance = await subject.start({ workflow }).workflows.workflow.create();

    expect(await instance.result()).toBe("step.wait_inside_step");
  });

  test("other steps can be called; and waits can beside it, after it, and when it is done", async () => {
    const workflow = defineWorkflow({ name: "waits" }, async (_event, step) => {
      const beside = step.sleep("beside", "1 minute");
      const inner = await step.do("work", () => step.do("inner", () => "inner"));
      const chained = step
        .do("again", () => "again")
        .then(async (again) => {
          await step.sleep("after", "1 minute");
          return again;
        });
      await step.sleep("long", "1 hour");
      await beside;
      return [inner, await chained];
    });
    const instance = await subject.start({ workflow }).workflows.workflow.create();
    await untilStatus(subject.clock, instance, "waiting");
    await subject.clock.advanceAndSettle(3_600_000);
    await untilStatus(subject.clock, instance, "complete");

    expect(await instance.result()).toEqual(["inner", "again"]);
  });

  test("a wait of another instance's workflow, which a step creates and waits for, isn't refused", async () => {
    const child = defineWorkflow({ name: "child" }, async (_event, step) => {
      await step.sleep("nap", "2 seconds");
      return "rested";
    });
    const parent = defineWorkflow({ name: "parent" }, async (_event, step, { workflows }) =>
      step.do("child", async () => (await workflows["child"]?.create({ id: "child" }))?.result()),
    );
    const { workflows } = subject.start({ child, parent });
    const instance = await workflows.parent.create();
    await untilStatus(subject.clock, instance, "complete");

    expect(await instance.result()).toBe("rested");
  });
});
