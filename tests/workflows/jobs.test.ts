import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { Jobs } from "../../src/jobs/jobs.ts";
import { runSlice } from "../../src/jobs/run-job.ts";
import type { Workflows } from "../../src/workflows/define/workflow-types.ts";
import type { WorkflowRuntime } from "../../src/workflows/workflow-runtime.ts";
import { ENCRYPTED_SQLITE, ENGINES } from "../support/engines.ts";
import { useWorkflows, type WorkflowProcess, withTime } from "./support/use-workflows.ts";

const waits = defineWorkflow({ name: "waits" }, async (_event, step) => step.waitForEvent("go", { type: "go" }));
const fails = defineWorkflow({ name: "fails" }, async (_event, step) => {
  await step.do("work", { retries: { limit: 0, delay: 0 } }, () => {
    throw new Error("no");
  });
});
const WORKFLOWS = { waits, fails };

describe.each([...ENGINES, ENCRYPTED_SQLITE])("jobs on $name", (engine) => {
  const subject = useWorkflows(engine);

  const jobsOf = (process: WorkflowProcess<Workflows>) => new Jobs(process.fragment.parts.workflows as WorkflowRuntime);

  async function begin(count: number, { workflow = "waits", tenant = "acme" } = {}) {
    const process = subject.process(WORKFLOWS, { workflowLimits: { batchSize: 1000 } });
    const instances = Array.from({ length: count }, (_, index) => ({
      id: `${tenant}-${index}`,
      labels: { tenant, half: index % 2 === 0 ? "even" : "odd" },
    }));
    await process.workflows[workflow as "waits"].createBatch(instances);
    await process.drain();
    const counts = async () => {
      const { total, atLeast, ...statuses } = await process.workflows[workflow as "waits"].counts();
      return Object.fromEntries(Object.entries(statuses).filter(([, number]) => number > 0));
    };
    return { process, jobs: jobsOf(process as unknown as WorkflowProcess<Workflows>), counts };
  }

  test("act on every instance that matches, and count what they do", async () => {
    const { process, jobs, counts } = await begin(130);
    const job = await jobs.start({ action: "terminate", instances: { workflow: "waits", labels: { half: "even" } } });
    expect(await job.status()).toEqual({
      id: job.id,
      action: "terminate",
      target: "instances",
      filter: { workflow: "waits", labels: { half: "even" } },
      options: {},
      state: "running",
      matching: 65,
      bounded: false,
      done: 0,
      skipped: 0,
      failed: 0,
      errors: [],
      startedAt: new Date(subject.clock.now()),
      endedAt: null,
      actor: null,
    });
    await process.drain();

    const ended = { state: "finished", done: 65, skipped: 0, failed: 0, endedAt: new Date(subject.clock.now()) };
    expect(await job.status()).toMatchObject(ended);
    expect(await counts()).toEqual({ waiting: 65, terminated: 65 });
  });

  test("leave alone what is created after them, and ends", async () => {
    const { process, jobs, counts } = await begin(3);
    await jobs.start({ action: "terminate", instances: { all: true } });
    await process.workflows.waits.createBatch([{ id: "later" }, { id: "latest" }]);
    await process.drain();
    expect(await counts()).toEqual({ waiting: 2, terminated: 3 });
  });

  test("do only what an action is for: others don't match", async () => {
    const { process, jobs, counts } = await begin(4);
    await (await process.workflows.waits.get("acme-0")).terminate();
    const filter = { workflow: "waits" };
    expect(await jobs.count({ action: "terminate", instances: filter })).toEqual({ matching: 3, bounded: false });
    expect(await jobs.count({ action: "delete", instances: filter })).toEqual({ matching: 4, bounded: false });
    expect(await jobs.count({ action: "resume", instances: filter })).toEqual({ matching: 0, bounded: false });
    expect(await jobs.count({ action: "pause", instances: { idPrefix: "acme-1" } })).toEqual({
      matching: 1,
      bounded: false,
    });
    expect(await counts()).toEqual({ waiting: 3, terminated: 1 }); // counting changes nothing
    expect(await jobs.list()).toEqual({ jobs: [], cursor: null });
  });

  test("pause, resume, restart, retry and delete", async () => {
    const { process, jobs, counts } = await begin(3);
    const finish = async (action: "pause" | "resume" | "restart" | "retry" | "delete", workflow = "waits") => {
      const job = await jobs.start({ action, instances: { workflow } });
      await process.drain();
      expect(await job.status()).toMatchObject({ state: "finished", matching: 3, done: 3, skipped: 0, failed: 0 });
    };
    await finish("pause");
    expect(await counts()).toEqual({ paused: 3 });
    await finish("resume");
    expect(await counts()).toEqual({ waiting: 3 });
    await finish("restart");
    expect((await (await process.workflows.waits.get("acme-0")).status()).run).toBe(2);
    await finish("delete");
    expect(await counts()).toEqual({});

    const failed = await begin(3, { workflow: "fails" });
    expect(await failed.counts()).toEqual({ errored: 3 });
    await finish("retry", "fails");
    // Each has failed again while the job ran, and was retried once.
    expect((await (await process.workflows.fails.get("acme-0")).status()).run).toBe(2);
  });

  test("list failures, and continue with the others", async () => {
    const { process, jobs, counts } = await begin(12);
    const job = await jobs.start({
      action: "restart",
      instances: { all: true },
      options: { from: { name: "unknown" } },
    });
    await process.drain();
    const { errors, ...state } = await job.status();
    expect(state).toMatchObject({ state: "finished", done: 0, failed: 12 });
    expect(errors).toHaveLength(10);
    expect(errors[0]).toMatchObject({ workflowName: "waits", instanceId: "acme-0" });
    expect(await counts()).toEqual({ waiting: 12 });
  });

  test("continue where a lost owner stopped, do nothing twice, and count everything once", async () => {
    const { process, jobs } = await begin(60);
    const job = await jobs.start({ action: "pause", instances: { workflow: "waits" } });
    const runtime = process.fragment.parts.workflows as WorkflowRuntime;
    const { engine } = process.store;
    // Its owner is lost in the second batch, after some of its instances.
    let paused = 0;
    const lost = new Error("lost");
    const { pause } = engine.instances;
    engine.instances.pause = async (...parameters) => {
      if (paused === 55) throw lost;
      paused++;
      return pause.apply(engine.instances, parameters);
    };
    await expect(runSlice(runtime, job.id)).rejects.toBe(lost);
    engine.instances.pause = pause;
    expect(await job.status()).toMatchObject({ state: "running", done: 50 });
    for (const id of ["acme-3", "acme-52"]) await (await process.workflows.waits.get(id)).resume();
    expect(await runSlice(runtime, job.id)).toBe(false); // it is still leased

    subject.clock.advance(20_000);
    await process.drain();
    expect(await job.status()).toMatchObject({ state: "finished", done: 60, skipped: 0 });
    const { instances } = await process.workflows.waits.list({ status: "waiting" });
    expect(instances.map(({ id }) => id).sort()).toEqual(["acme-3", "acme-52"]); // paused once, by the first owner
  });

  test("that were cancelled stop, and have counted what they did", async () => {
    const { process, jobs, counts } = await begin(60);
    const waiting = await jobs.start({ action: "terminate", instances: { workflow: "waits" } });
    expect(await waiting.cancel()).toMatchObject({ state: "cancelled", done: 0, endedAt: expect.any(Date) });
    await process.drain();
    expect(await counts()).toEqual({ waiting: 60 });

    const running = await jobs.start({ action: "terminate", instances: { workflow: "waits" } });
    const { engine } = process.store;
    const { terminate } = engine.instances;
    let terminated = 0;
    engine.instances.terminate = async (...parameters) => {
      if (++terminated === 15) expect(await running.cancel()).toMatchObject({ state: "cancelled", endedAt: null });
      return terminate.apply(engine.instances, parameters);
    };
    await process.drain();
    const ended = await running.status();
    expect(ended).toMatchObject({ state: "cancelled", endedAt: expect.any(Date), skipped: 0 });
    expect(ended.done).toBeLessThan(60);
    expect(await counts()).toEqual({ waiting: 60 - ended.done, terminated: ended.done });
    expect(await running.cancel()).toEqual(ended);
  });

  test("that were cancelled and lost count what was done", async () => {
    const { process, jobs, counts } = await begin(40);
    const job = await jobs.start({ action: "terminate", instances: { workflow: "waits" } });
    const { engine } = process.store;
    const { terminate } = engine.instances;
    let terminated = 0;
    engine.instances.terminate = async (...parameters) => {
      if (terminated === 25) throw new Error("lost");
      terminated++;
      return terminate.apply(engine.instances, parameters);
    };
    const runtime = process.fragment.parts.workflows as WorkflowRuntime;
    await expect(runSlice(runtime, job.id)).rejects.toThrow("lost");
    engine.instances.terminate = terminate;
    await job.cancel();
    subject.clock.advance(20_000);
    await process.drain();
    expect(await job.status()).toMatchObject({ state: "cancelled", done: 25, endedAt: expect.any(Date) });
    expect(await counts()).toEqual({ waiting: 15, terminated: 25 });
  });

  test("whose owner stood still do nothing after another has taken over", async () => {
    const { process, jobs, counts } = await begin(20);
    const job = await jobs.start({ action: "terminate", instances: { workflow: "waits" } });
    const runtime = process.fragment.parts.workflows as WorkflowRuntime;
    const { engine } = process.store;
    const { write } = engine.jobs;
    let stood = false;
    engine.jobs.write = async (request) => {
      const written = await write.call(engine.jobs, request);
      if (!stood) {
        stood = true;
        subject.clock.advance(20_000);
        await runSlice(runtime, job.id); // another owner
      }
      return written;
    };
    await runSlice(runtime, job.id);
    expect(await job.status()).toMatchObject({ state: "finished", done: 20, skipped: 0 });
    expect(await counts()).toEqual({ terminated: 20 });
  });

  test("run in other processes than the one that started them, beside each other", async () => {
    const { process, jobs, counts } = await begin(6);
    process.start();
    const other = jobsOf(subject.process(WORKFLOWS) as unknown as WorkflowProcess<Workflows>);
    await jobs.start({ action: "terminate", instances: { labels: { half: "even" } } });
    const second = await other.start({ action: "delete", instances: { labels: { half: "odd" } } });
    await withTime(subject.clock, async () => {
      expect(await second.status()).toMatchObject({ state: "finished", done: 3 });
      expect(await counts()).toEqual({ terminated: 3 });
    });
  });

  test("are listed, the newest first, and are deleted with the first job that is started a week after their end", async () => {
    const { process, jobs } = await begin(1);
    const started: string[] = [];
    for (let index = 0; index < 3; index++) {
      started.unshift((await jobs.start({ action: "pause", instances: { idPrefix: "none" } })).id);
    }
    const first = await jobs.list({ limit: 2 });
    expect(first.jobs.map(({ id }) => id)).toEqual(started.slice(0, 2));
    const second = await jobs.list({ limit: 2, cursor: first.cursor as string });
    expect(second).toMatchObject({ jobs: [{ id: started[2] }], cursor: null });
    await process.drain();
    subject.clock.advance(6 * 86_400_000);
    await jobs.start({ action: "pause", instances: { idPrefix: "none" } });
    expect((await jobs.list()).jobs).toHaveLength(4);
    subject.clock.advance(2 * 86_400_000);
    await jobs.start({ action: "pause", instances: { idPrefix: "none" } });
    expect((await jobs.list()).jobs).toHaveLength(2);
    await expect(jobs.get(started[0] as string)).rejects.toMatchObject({ code: "job.not_found" });
  });

  test("refuse what they can't do, and an empty filter", async () => {
    const { jobs } = await begin(0);
    const refused: [unknown, string][] = [
      [{ action: "terminate", instances: {} }, "job.filter_required"],
      [{ action: "terminate", instances: { status: undefined } }, "job.filter_required"],
      [{ action: "terminate", instances: { all: false } }, "job.filter_required"],
      [{ action: "terminate", instances: { all: true, workflow: "waits" } }, "job.filter_required"],
      [{ action: "terminate", instances: { all: 1 } }, "options.invalid"],
      [{ action: "terminate" }, "options.invalid"],
      [{ action: "terminate", instances: { all: true }, hooks: { all: true } }, "options.invalid"],
      [{ action: "redrive", instances: { all: true } }, "options.invalid"],
      [{ action: "explode", instances: { all: true } }, "options.invalid"],
      [{ action: "terminate", instances: { colour: "red" } }, "options.invalid"],
      [{ action: "terminate", instances: { status: "dead" } }, "options.invalid"],
      [{ action: "pause", instances: { all: true }, options: { rollback: true } }, "options.invalid"],
      [{ action: "terminate", instances: { all: true }, options: { rollback: "yes" } }, "options.invalid"],
      [{ action: "restart", instances: { all: true }, options: { version: 1 } }, "options.invalid"],
      [{ action: "redrive", hooks: { status: "pending" } }, "options.invalid"],
      [null, "options.invalid"],
    ];
    for (const [request, code] of refused) {
      await expect(jobs.start(request as never), JSON.stringify(request)).rejects.toMatchObject({ code });
      await expect(jobs.count(request as never), JSON.stringify(request)).rejects.toMatchObject({ code });
    }
    await expect(jobs.get("none")).rejects.toMatchObject({ code: "job.not_found" });
    await expect(jobs.list({ limit: 0 })).rejects.toMatchObject({ code: "options.invalid" });
  });
});
