import { describe, expect, test } from "vitest";
import { defineHook, defineWorkflow } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { Gate } from "./support/handlers.ts";
import { eventually, LEASE_MS, useHooks } from "./support/use-hooks.ts";

/** Notes what runs at a time, and what has run. */
class Runs {
  readonly gate = new Gate();
  running: string[] = [];
  most = 0;
  readonly begun: string[] = [];

  async run(name: string): Promise<void> {
    this.begun.push(name);
    this.running.push(name);
    this.most = Math.max(this.most, this.running.length);
    await this.gate.opened;
    this.running = this.running.filter((one) => one !== name);
  }
}

describe.each(ENGINES)("the limits of hooks on $name", (engine) => {
  const fixture = useHooks(engine);
  const settle = () => fixture.clock.advanceAndSettle(10);

  async function holds(expectation: () => void): Promise<void> {
    await eventually(async () => {
      await settle();
      expectation();
    });
  }

  test("so many run at a time, in all processes together, and the others follow in order", async () => {
    const runs = new Runs();
    const hooks = { sync: defineHook({ concurrency: { limit: 2 } }, (name: string) => runs.run(name)) };
    const [first, second] = [fixture.process(hooks), fixture.process(hooks)];
    first.start();
    second.start();
    for (const name of ["a", "b", "c", "d", "e"]) await first.hooks.sync.trigger(name);
    await holds(() => expect(runs.begun).toHaveLength(2));
    for (let second = 0; second < 5; second++) await fixture.clock.advanceAndSettle(1000);
    expect(runs.begun).toEqual(["a", "b"]);
    runs.gate.open();
    await holds(() => expect(runs.begun).toHaveLength(5));

    expect(runs.most).toBe(2);
    expect(runs.begun.toSorted()).toEqual(["a", "b", "c", "d", "e"]);
    await eventually(async () => expect((await first.durableHooks.statistics()).processing).toBe(0));
  });

  test("each key has slots of its own, so that one tenant's hooks don't hold up another's", async () => {
    const runs = new Runs();
    const sync = defineHook({ concurrency: { limit: 1, key: (job: { tenant: string }) => job.tenant } }, (job) =>
      runs.run(job.tenant),
    );
    const process = fixture.process({ sync });
    process.start();
    for (const tenant of ["a", "a", "a", "b"]) await process.hooks.sync.trigger({ tenant });
    await holds(() => expect(runs.begun.toSorted()).toEqual(["a", "b"]));
    runs.gate.open();
    await holds(() => expect(runs.begun.toSorted()).toEqual(["a", "a", "a", "b"]));
  });

  test("so many attempts begin in a period, retries included, and the next when it is over", async () => {
    const begun: number[] = [];
    const call = defineHook(
      { rateLimit: { limit: 2, period: "1 minute" }, retries: { limit: 1, delay: "1 second" } },
      (number: number) => {
        begun.push(number);
        if (begun.length === 1) throw new Error("busy");
      },
    );
    const process = fixture.process({ call });
    process.start();
    for (const number of [1, 2, 3, 4]) await process.hooks.call.trigger(number);
    await holds(() => expect(begun).toHaveLength(2));
    for (let second = 0; second < 50; second++) await fixture.clock.advanceAndSettle(1000);
    expect(begun).toEqual([1, 2]);
    for (let second = 0; second < 15; second++) await fixture.clock.advanceAndSettle(1000);
    await holds(() => expect(begun).toHaveLength(4));
    expect(begun.toSorted()).toEqual([1, 1, 2, 3]);
    for (let second = 0; second < 65; second++) await fixture.clock.advanceAndSettle(1000);
    await holds(() => expect(begun.toSorted()).toEqual([1, 1, 2, 3, 4]));
  });

  test("a slot of a lost process is neither freed nor given away before its hook is taken over", async () => {
    const lostRuns = new Runs();
    const nextRuns = new Runs();
    nextRuns.gate.open();
    const hooksOf = (runs: Runs) => ({
      sync: defineHook({ concurrency: { limit: 1 } }, (name: string) => runs.run(name)),
    });
    const lost = fixture.process(hooksOf(lostRuns), { clock: fixture.anotherClock() });
    lost.start();
    await lost.hooks.sync.trigger("held");
    await lost.hooks.sync.trigger("waiting");
    await eventually(async () => {
      await lost.clock.advanceAndSettle(1);
      expect(lostRuns.begun).toEqual(["held"]);
    });
    const next = fixture.process(hooksOf(nextRuns));
    next.start();
    for (let second = 0; second < LEASE_MS / 1000 - 5; second++) await fixture.clock.advanceAndSettle(1000);
    expect(nextRuns.begun).toEqual([]);
    for (let second = 0; second < 30; second++) await fixture.clock.advanceAndSettle(1000);
    await holds(() => expect(nextRuns.begun.toSorted()).toEqual(["held", "waiting"]));
    expect(nextRuns.most).toBe(1);
    lostRuns.gate.open();
  });

  test("a failed hook frees its slot while it waits for its retry, and a dead letter for good; a redriven one waits in line", async () => {
    const begun: string[] = [];
    let broken = true;
    const sync = defineHook(
      { concurrency: { limit: 1 }, retries: { limit: 1, delay: "10 seconds" } },
      (name: string) => {
        begun.push(name);
        if (name === "bad" && broken) throw new Error("bad");
      },
    );
    const process = fixture.process({ sync });
    process.start();
    await process.hooks.sync.trigger("bad");
    await process.hooks.sync.trigger("good");
    await holds(() => expect(begun).toEqual(["bad", "good"]));
    for (let second = 0; second < 12; second++) await fixture.clock.advanceAndSettle(1000);
    await holds(() => expect(begun).toEqual(["bad", "good", "bad"]));
    const [letter] = (await process.durableHooks.deadLetters()).hooks;
    broken = false;
    await process.durableHooks.redrive([letter?.id ?? ""]);
    await holds(() => expect(begun).toEqual(["bad", "good", "bad", "bad"]));
    await eventually(async () => expect((await process.durableHooks.statistics()).failed).toBe(0));
  });

  test("keys, delays, units of work and ids keep to the limits", async () => {
    const runs = new Runs();
    const sync = defineHook({ concurrency: { limit: 1 } }, (name: string) => runs.run(name));
    const process = fixture.process({ sync });
    process.start();
    await process.hooks.sync.trigger("first");
    await holds(() => expect(runs.begun).toEqual(["first"]));
    await process.hooks.sync.trigger("old", { key: "k" });
    await process.hooks.sync.trigger("new", { key: "k" });
    await process.hooks.sync.trigger("own", { id: "own" });
    await process.hooks.sync.trigger("own again", { id: "own" });
    await process.hooks.sync.trigger("later", { processAt: fixture.clock.now() + 5000 });
    await process.unitOfWork(async (uow) => uow.triggerHook("sync", "unit"));
    for (let second = 0; second < 8; second++) await fixture.clock.advanceAndSettle(1000);
    expect(runs.begun).toEqual(["first"]);
    runs.gate.open();
    await holds(() => expect(runs.begun).toHaveLength(5));

    expect(runs.most).toBe(1);
    expect(runs.begun.toSorted()).toEqual(["first", "later", "new", "own", "unit"]);
  });

  test("hooks whose limits are gone from the code are admitted without", async () => {
    const runs = new Runs();
    runs.gate.open();
    const limited = { sync: defineHook({ concurrency: { limit: 1 } }, (name: string) => runs.run(name)) };
    const former = fixture.process(limited);
    for (const name of ["a", "b", "c"]) await former.hooks.sync.trigger(name);
    const next = fixture.process({ sync: defineHook((name: string) => runs.run(name)) });
    next.start();
    await holds(() => expect(runs.begun.toSorted()).toEqual(["a", "b", "c"]));
  });

  test("hooks with limits are drained", async () => {
    const runs = new Runs();
    runs.gate.open();
    const sync = defineHook({ concurrency: { limit: 2 } }, (name: string) => runs.run(name));
    const process = fixture.process({ sync });
    for (const name of ["a", "b", "c", "d", "e"]) await process.hooks.sync.trigger(name);
    await process.drain();

    expect(runs.begun.toSorted()).toEqual(["a", "b", "c", "d", "e"]);
    expect(runs.most).toBeLessThanOrEqual(2);
  });

  test("are checked when the hook is defined and triggered", async () => {
    const invalid = expect.objectContaining({ code: "hook.invalid" });
    const define = (options: object) => () => defineHook(options, () => {});
    expect(define({ concurrency: { limit: 0 } })).toThrow(invalid);
    expect(define({ concurrency: 3 })).toThrow(invalid);
    expect(define({ rateLimit: { limit: 1 } })).toThrow();
    expect(define({ rateLimit: { limit: 1, period: "1 minute", key: "k" } })).toThrow(invalid);
    const limited = defineHook({ concurrency: { limit: 1 } }, () => {});
    expect(() => defineWorkflow({ name: "one", onCompleted: limited as never }, async () => {})).toThrow("limits");
    const sync = defineHook({ concurrency: { limit: 1, key: () => "" } }, (_name: string) => {});
    const process = fixture.process({ sync });
    await expect(process.hooks.sync.trigger("a")).rejects.toMatchObject({ code: "trigger.invalid" });
    expect(await process.durableHooks.statistics()).toMatchObject({ pending: 0 });
  });
});
