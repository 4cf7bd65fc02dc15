import { describe, expect, test, vi } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { readMetrics } from "../../src/monitoring/metrics.ts";
import { ENGINES } from "../support/engines.ts";
import { becomes, comesToRest } from "./support/sample.ts";
import { useWorkflows, withTime } from "./support/use-workflows.ts";

describe.each(ENGINES)("metrics of workflows on $name", (engine) => {
  const subject = useWorkflows(engine);

  function start() {
    const good = defineWorkflow({ name: "good" }, async (_event, step) => {
      await step.do("first", () => 1);
      await step.do("second", async () => 2);
    });
    let failures = 0;
    const bad = defineWorkflow({ name: "bad" }, async (_event, step) => {
      const retries = { limit: 1, delay: "1 second" } as const;
      await step.do("fail", { retries }, () => Promise.reject(new Error(`secret ${++failures}`)));
    });
    const sleepy = defineWorkflow({ name: "sleepy" }, async (_event, step) => {
      await step.sleep("long", "1 hour");
    });
    return subject.start({ good, bad, sleepy });
  }

  test("count what has begun and how it ended, by workflow, with steps, durations and flushes", async () => {
    const process = start();
    const { good, bad, sleepy } = process.workflows;
    const results = [await good.create(), await good.create(), await bad.create()].map((instance) =>
      instance.result().catch(() => {}),
    );
    const ended = Promise.all(results);
    await withTime(subject.clock, () => Promise.race([ended, Promise.reject(new Error("not yet"))]));
    const sleeping = await sleepy.create({ id: "sleeping" });
    await becomes(sleeping, "waiting");
    await sleeping.terminate();

    const metrics = await readMetrics(process.store, subject.namespace);
    const { workflows, flushes, claims } = metrics;
    const none = { completed: 0, errored: 0, terminated: 0, running: 0 };
    expect(workflows["good"]).toMatchObject({ ...none, started: 2, completed: 2 });
    expect(workflows["good"]?.steps).toEqual({ completed: 4, retried: 0, failed: 0 });
    expect(workflows["good"]?.stepSeconds.count).toBe(4);
    expect(workflows["good"]?.durationSeconds.count).toBe(2);
    expect(workflows["good"]?.queueSeconds.count).toBe(2);
    expect(workflows["bad"]).toMatchObject({ ...none, started: 1, errored: 1 });
    expect(workflows["bad"]?.steps).toEqual({ completed: 0, retried: 1, failed: 1 });
    expect(workflows["bad"]?.durationSeconds.sum).toBeGreaterThanOrEqual(1);
    expect(workflows["sleepy"]).toMatchObject({ ...none, started: 1, terminated: 1 });
    expect(flushes.create.writes).toBe(4);
    expect(flushes.commit.writes).toBeGreaterThanOrEqual(6);
    expect(flushes.commit.items.count).toBe(flushes.commit.durationSeconds.count);
    expect(flushes.commit.failures).toBe(0);
    expect(claims.workflows.durationSeconds.count).toBeGreaterThan(0);
    expect(JSON.stringify(metrics)).not.toMatch(/secret|sleeping/);
    expect(process.store.meter.of(subject.namespace).activity.last(180)).toSatisfy((minutes) => {
      const sum = (field: "instancesStarted" | "instancesCompleted" | "instancesErrored" | "instancesTerminated") =>
        (minutes as Record<string, number>[]).reduce((total, minute) => total + (minute[field] as number), 0);
      expect(sum("instancesStarted")).toBe(4);
      return sum("instancesCompleted") === 2 && sum("instancesErrored") === 1 && sum("instancesTerminated") === 1;
    });
  });

  test("of an instance that replays count each attempt and each beginning once", async () => {
    const nap = defineWorkflow({ name: "nap" }, async (_event, step) => {
      await step.do("before", () => 1);
      await step.sleep("nap", "1 hour");
      await step.do("after", () => 2);
    });
    const first = subject.start({ nap });
    const instance = await first.workflows.nap.create({ id: "one" });
    await becomes(instance, "waiting");
    await first.stop();
    const second = subject.start({ nap });
    subject.clock.advance(3_600_000);
    await withTime(subject.clock, async () => {
      if ((await instance.status()).status !== "complete") throw new Error("It still sleeps.");
    });

    const [before, after] = await Promise.all(
      [first, second].map(({ store }) => readMetrics(store, subject.namespace)),
    );
    expect(before?.workflows["nap"]).toMatchObject({ started: 1, completed: 0, steps: { completed: 1 } });
    expect(after?.workflows["nap"]).toMatchObject({ started: 0, completed: 1, steps: { completed: 1 } });
  });

  test("ask the database once, however many callers ask at a time and shortly after", async () => {
    const process = start();
    await comesToRest(process);
    const read = vi.spyOn(process.store.engine.backlog, "read");
    const ask = () => readMetrics(process.store, subject.namespace);

    const [one, ...others] = await Promise.all([ask(), ask(), ask()]);
    for (const other of others) expect(other.queue).toEqual(one.queue);
    expect(read).toHaveBeenCalledTimes(1);
    subject.clock.advance(4000);
    await ask();
    expect(read).toHaveBeenCalledTimes(1);
    subject.clock.advance(1500);
    await ask();
    expect(read).toHaveBeenCalledTimes(2);
    read.mockRestore();
  });

  test("ask a slow database less often, and one that failed again soon, however long it took", async () => {
    const process = start();
    await comesToRest(process);
    const read = vi.spyOn(process.store.engine.backlog, "read");
    const ask = () => readMetrics(process.store, subject.namespace);
    const answered = { due: 0, waiting: 0, running: 0, inLine: 0, oldestDueMs: null };
    read.mockImplementation(async () => {
      subject.clock.advance(400);
      return { hooks: answered, instances: answered, deadLetters: 7 };
    });
    expect((await ask()).queue?.deadLetters).toBe(7);
    subject.clock.advance(39_000);
    await ask();
    expect(read).toHaveBeenCalledTimes(1);
    subject.clock.advance(1500);
    read.mockImplementation(async () => {
      subject.clock.advance(4000);
      throw new Error("gone");
    });
    expect((await ask()).queue).toBeNull();
    read.mockResolvedValue({ hooks: answered, instances: answered, deadLetters: 8 });
    subject.clock.advance(5100);
    expect((await ask()).queue?.deadLetters).toBe(8);
    read.mockRestore();
  });

  test("have no gauges while the database doesn't answer, and don't wait for it for ever", async () => {
    const process = start();
    await comesToRest(process);
    const read = vi.spyOn(process.store.engine.backlog, "read");
    read.mockRejectedValueOnce(new Error("gone"));
    expect((await readMetrics(process.store, subject.namespace)).queue).toBeNull();

    subject.clock.advance(6000);
    read.mockReturnValueOnce(new Promise(() => {}));
    const asked = readMetrics(process.store, subject.namespace);
    const { queue } = await withTime(subject.clock, () => Promise.race([asked, Promise.reject(new Error("not yet"))]));
    expect(queue).toBeNull();
    read.mockRestore();
  });
});
