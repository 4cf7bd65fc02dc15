import { describe, expect, test } from "vitest";
import {
  type CompletedEvent,
  defineHook,
  defineWorkflow,
  type ErroredEvent,
  type HookContext,
  perdure,
  type TerminatedEvent,
  WorkflowEntrypoint,
  type WorkflowEvent,
  type WorkflowStep,
} from "../../src/index.ts";
import { exploreCrashes } from "../../src/testing/index.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually, useWorkflows, withTime } from "./support/use-workflows.ts";

type Told = readonly [string, CompletedEvent | ErroredEvent | TerminatedEvent, HookContext];

/** A workflow that returns, throws or waits, as its params say, and what its hooks were told. */
function createJob() {
  const told: Told[] = [];
  const tell = (ending: string) => (event: CompletedEvent | ErroredEvent | TerminatedEvent, hook: HookContext) => {
    told.push([ending, event, hook]);
  };
  const hooks = {
    onCompleted: tell("completed"),
    onErrored: tell("errored"),
    onTerminated: tell("terminated"),
  };
  const run = async (event: WorkflowEvent<string>, step: WorkflowStep) => {
    if (event.payload === "fail") throw new RangeError("too much");
    if (event.payload === "wait") await step.sleep("long", "1 day");
    return { got: event.payload, at: new Date(5) };
  };
  return { told, hooks, run, job: defineWorkflow({ name: "job", ...hooks }, run) };
}

describe.each(ENGINES)("terminal hooks on $name", (engine) => {
  const subject = useWorkflows(engine);

  test("a run that completes tells its hook of its output", async () => {
    const { job, told } = createJob();
    const process = subject.start({ job });
    await (await process.workflows.job.create({ id: "one", params: "work" })).result();
    await eventually(() => expect(told).toHaveLength(1));

    expect(told[0]?.slice(0, 2)).toEqual([
      "completed",
      { workflowName: "job", instanceId: "one", run: 1, output: { got: "work", at: new Date(5) } },
    ]);
    expect(told[0]?.[2]).toMatchObject({ hookName: "$job.completed", attempts: 1, namespace: subject.namespace });
  });

  test("a run that fails tells its hook of the error", async () => {
    const { job, told } = createJob();
    const process = subject.start({ job });
    const instance = await process.workflows.job.create({ id: "one", params: "fail" });
    await expect(instance.result()).rejects.toThrow("too much");
    await eventually(() => expect(told).toHaveLength(1));

    const [ending, event] = told[0] as Told;
    expect([ending, event]).toMatchObject(["errored", { workflowName: "job", instanceId: "one", run: 1 }]);
    expect((event as ErroredEvent).error).toBeInstanceOf(RangeError);
  });

  test("a terminate by any process triggers the hook; one that is refused doesn't", async () => {
    const { job, told } = createJob();
    const process = subject.start({ job });
    const other = subject.process({ job });
    await process.workflows.job.create({ id: "one", params: "wait" });
    const instance = await other.workflows.job.get("one");
    await instance.terminate();
    await expect(instance.terminate()).rejects.toMatchObject({ code: "instance.finished" });
    await withTime(subject.clock, () => expect(told).toHaveLength(1));
    await process.drain();

    expect(told.map(([ending, event]) => [ending, event])).toEqual([
      ["terminated", { workflowName: "job", instanceId: "one", run: 1 }],
    ]);
  });

  test("each run has its own", async () => {
    const { job, told } = createJob();
    const process = subject.start({ job });
    const instance = await process.workflows.job.create({ id: "one", params: "work" });
    await instance.result();
    await instance.restart();
    await eventually(() => expect(told.map(([, { run }]) => run).sort()).toEqual([1, 2]));
    expect(new Set(told.map(([, , { idempotencyKey }]) => idempotencyKey)).size).toBe(2);
  });

  test("a class has them by the registry", async () => {
    const { hooks, told } = createJob();
    class Job extends WorkflowEntrypoint<unknown, number> {
      async run(event: WorkflowEvent<number>) {
        return event.payload + 1;
      }
    }
    const process = subject.start({ job: { name: "job", workflow: Job, ...hooks } });
    await (await process.workflows.job.create({ id: "one", params: 1 })).result();
    await eventually(() => expect(told).toHaveLength(1));
    expect(told[0]?.[1]).toEqual({ workflowName: "job", instanceId: "one", run: 1, output: 2 });
  });

  test("a hook that fails is tried again, and is a dead letter in the end", async () => {
    let attempts = 0;
    const onCompleted = defineHook({ retries: { limit: 1, delay: 10 } }, async (_event: CompletedEvent) => {
      attempts++;
      throw new Error("no mail today");
    });
    const job = defineWorkflow({ name: "job", onCompleted }, async () => "done");
    const process = subject.start({ job });
    await (await process.workflows.job.create({ id: "one" })).result();
    const { durableHooks } = process.fragment;
    await withTime(subject.clock, async () => expect((await durableHooks.deadLetters()).hooks).toHaveLength(1));

    expect(attempts).toBe(2);
    const { hooks } = await durableHooks.list({ name: "$job.completed" });
    expect(hooks).toMatchObject([
      { name: "$job.completed", status: "failed", payload: { instanceId: "one", output: "done" } },
    ]);
  });

  test("a process that lacks the hook leaves it to one that has it", async () => {
    const { job, told, run } = createJob();
    const ready = subject.process({ job });
    const without = subject.process({ job: defineWorkflow({ name: "job" }, run) });
    const instance = await ready.workflows.job.create({ id: "one", params: "wait" });
    await instance.terminate();
    await without.drain();
    expect((await ready.fragment.durableHooks.list()).hooks).toMatchObject([{ status: "pending", attempts: 0 }]);
    await ready.drain();
    expect(told).toHaveLength(1);
  });

  test("workflows without them write no hook", async () => {
    const { run } = createJob();
    const process = subject.process({ job: defineWorkflow({ name: "job" }, run) });
    await process.workflows.job.create({ params: "work" });
    await process.workflows.job.create({ params: "fail" });
    await process.drain();
    expect((await process.fragment.durableHooks.list()).hooks).toEqual([]);
  });
});

test("a crash at any commit makes no difference: each run that is over has one hook", async () => {
  const report = await exploreCrashes(
    {
      setUp() {
        const { job, told } = createJob();
        return { workflows: { job }, told };
      },
      async run(app) {
        await app.workflows.job.create({ id: "good", params: "work", onConflict: "return" });
        await app.workflows.job.create({ id: "bad", params: "fail", onConflict: "return" });
        const stopped = await app.workflows.job.create({ id: "stopped", params: "wait", onConflict: "return" });
        await app.runUntilIdle();
        await stopped.terminate().catch(() => {}); // it may be so already
      },
      async check(app, { told }) {
        const runs = Map.groupBy(told, ([ending, { instanceId, run }]) => `${instanceId} ${run} ${ending}`);
        // A handler may run again when its process is lost; it is still the same hook.
        const hooks = Array.from(runs.values(), (one) => new Set(one.map(([, , { hookId }]) => hookId)).size);
        return { runs: [...runs.keys()].sort(), hooks, left: (await app.durableHooks.list()).hooks.length };
      },
    },
    { runAgain: true },
  );
  expect(report.outcomes.map(({ outcome }) => outcome)).toEqual([
    { runs: ["bad 1 errored", "good 1 completed", "stopped 1 terminated"], hooks: [1, 1, 1], left: 0 },
  ]);
  expect(report.runs).toBeGreaterThan(20);
});

describe("an application", () => {
  test("has terminal hooks beside its own hooks, and callers can't trigger them", async () => {
    const { job, told } = createJob();
    const mails: string[] = [];
    const mail = defineHook({}, async (text: string) => void mails.push(text));
    await using app = await perdure({ database: ":memory:", workflows: { job }, hooks: { mail } });
    await (await app.workflows.job.create({ params: "work" })).result();
    await app.hooks.mail.trigger("hello");
    await eventually(() => expect([told.length, mails.length]).toEqual([1, 1]));

    expect(Object.keys(app.hooks)).toEqual(["mail"]);
    const trigger = app.unitOfWork(async (uow) => uow.triggerHook("$job.completed" as never, {} as never));
    await expect(trigger).rejects.toMatchObject({ code: "hook.unknown" });
  });

  test.each([
    ["onCompleted", "mail"],
    ["onErrored", {}],
    ["onTerminated", null],
    [
      "onCompleted",
      defineHook({ input: { "~standard": { version: 1, vendor: "x", validate: () => ({ value: 1 }) } } }, () => {}),
    ],
  ])("%s is refused if it can't be called", (option, value) => {
    expect(() => defineWorkflow({ name: "job", [option]: value } as never, async () => {})).toThrow(
      `${option} must be a function`,
    );
  });
});
