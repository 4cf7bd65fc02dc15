import { describe, expect, test } from "vitest";
import { Jobs } from "../../src/jobs/jobs.ts";
import { runSlice } from "../../src/jobs/run-job.ts";
import { withoutWorkflows } from "../../src/workflows/hook-supplements.ts";
import { ENGINES } from "../support/engines.ts";
import { recordCalls } from "./support/handlers.ts";
import { useHooks } from "./support/use-hooks.ts";

describe.each(ENGINES)("jobs for hooks on $name", (engine) => {
  const fixture = useHooks(engine);

  /** Hooks that fail until they are repaired. */
  function begin() {
    const state = { broken: true };
    const greet = recordCalls<string>(
      (name) => {
        if (state.broken) throw new Error(`no ${name}`);
      },
      { retries: { limit: 0 } },
    );
    const process = fixture.process({ greet: greet.definition, other: greet.definition });
    const runtime = withoutWorkflows(process.store, fixture.namespace);
    return { state, greet, process, runtime, jobs: new Jobs(runtime) };
  }

  async function triggerAndFail(process: ReturnType<typeof begin>["process"], count: number) {
    for (let index = 0; index < count; index++) await process.hooks.greet.trigger(`dead ${index}`);
    await process.drain();
  }

  test("redrive all dead letters that match, once each, even if they die again", async () => {
    const { greet, process, jobs } = begin();
    await triggerAndFail(process, 60);
    await process.hooks.other.trigger("another");
    await process.drain();
    expect(greet.calls).toHaveLength(61);
    const request = { action: "redrive", hooks: { name: "greet", error: "NO DEAD" } } as const;
    expect(await jobs.count(request)).toEqual({ matching: 60, bounded: false });
    const job = await jobs.start(request);
    await process.drain();

    expect(await job.status()).toMatchObject({
      target: "hooks",
      state: "finished",
      filter: { ...request.hooks, status: "failed" },
      matching: 60,
      done: 60,
      skipped: 0,
    });
    expect(greet.calls).toHaveLength(121); // each has failed again
    expect((await process.durableHooks.statistics()).failed).toBe(61);
  });

  test("leave a dead letter alone whose key another holds, and change the rest", async () => {
    const { state, process, jobs } = begin();
    for (const text of ["one", "two"]) {
      await process.hooks.greet.trigger(text, { key: "shared" });
      await process.drain();
    }
    await triggerAndFail(process, 3);
    state.broken = false;
    const job = await jobs.start({ action: "redrive", hooks: { all: true } });
    await process.drain();
    expect(await job.status()).toMatchObject({ matching: 5, done: 4, skipped: 1 });
    expect((await process.durableHooks.deadLetters()).hooks).toHaveLength(1);
  });

  test("discard dead letters, and completed hooks only if they are asked for", async () => {
    const { state, process, jobs } = begin();
    await triggerAndFail(process, 3);
    state.broken = false;
    await process.hooks.greet.trigger("kept", { id: "kept" });
    await process.drain();
    const job = await jobs.start({ action: "discard", hooks: { all: true } });
    await process.drain();
    expect(await job.status()).toMatchObject({ matching: 3, done: 3 });
    const { hooks } = await process.durableHooks.list();
    expect(hooks.map(({ status }) => status)).toEqual(["completed"]);
    await jobs.start({ action: "discard", hooks: { status: "completed" } });
    await process.drain();
    expect((await process.durableHooks.list()).hooks).toEqual([]);
  });

  test("cancel hooks that wait, and not those that were triggered later", async () => {
    const { process, jobs } = begin();
    const processAt = new Date(fixture.clock.now() + 3_600_000);
    for (let index = 0; index < 3; index++) await process.hooks.greet.trigger("later", { processAt });
    const job = await jobs.start({ action: "cancel", hooks: { name: "greet" } });
    fixture.clock.advance(10);
    await process.hooks.greet.trigger("after the job", { processAt });
    await process.drain();
    expect(await job.status()).toMatchObject({ state: "finished", matching: 3, done: 3 });
    const { hooks } = await process.durableHooks.list();
    expect(hooks.map(({ payload }) => payload)).toEqual(["after the job"]);
  });

  test("that lose their owner continue without doing anything twice", async () => {
    const { greet, process, runtime, jobs } = begin();
    await triggerAndFail(process, 70);
    const job = await jobs.start({ action: "redrive", hooks: { name: "greet" } });
    const { engine } = process.store;
    const { changeHooks } = engine.jobs;
    let batches = 0;
    engine.jobs.changeHooks = async (...parameters) => {
      const result = await changeHooks.apply(engine.jobs, parameters);
      if (++batches === 1) throw new Error("its answer was lost");
      return result;
    };
    await expect(runSlice(runtime, job.id)).rejects.toThrow("lost");
    expect(await job.status()).toMatchObject({ state: "running", done: 50 });
    await process.drain(); // the fifty die again
    fixture.clock.advance(20_000);
    await process.drain();
    expect(await job.status()).toMatchObject({ state: "finished", done: 70, skipped: 0 });
    expect(greet.calls).toHaveLength(140);
  });

  test("whose last owner was lost before it heard of the end have ended", async () => {
    const { greet, process, runtime, jobs } = begin();
    await triggerAndFail(process, 2);
    const job = await jobs.start({ action: "redrive", hooks: { name: "greet" } });
    const { engine } = process.store;
    const { changeHooks } = engine.jobs;
    engine.jobs.changeHooks = async (...parameters) => {
      await changeHooks.apply(engine.jobs, parameters);
      throw new Error("its answer was lost");
    };
    await expect(runSlice(runtime, job.id)).rejects.toThrow("lost");
    fixture.clock.advance(20_000);
    await process.drain();
    await process.drain();
    expect(await job.status()).toMatchObject({ state: "finished", done: 2 });
    expect(greet.calls).toHaveLength(4);
  });
});
