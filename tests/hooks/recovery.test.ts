import { describe, expect, test } from "vitest";
import { defineHook } from "../../src/hooks/define-hook.ts";
import { ENGINES } from "../support/engines.ts";
import { forever, Gate, recordCalls } from "./support/handlers.ts";
import { loseProcess } from "./support/lost-process.ts";
import { eventually, LEASE_MS, useHooks, withTime } from "./support/use-hooks.ts";

/** How long a recovered hook waits for others to end, and others for it. */
const ISOLATION_MS = 5000;

describe.each(ENGINES)("recovery on $name", (engine) => {
  const fixture = useHooks(engine);

  /** Notes what runs beside each handler when it starts. */
  function observe() {
    const running = new Set<string>();
    const gates = new Map<string, Gate>();
    const started: Record<string, string[]> = {};
    const greet = recordCalls<string>(async (name) => {
      started[name] = [...running];
      running.add(name);
      await gates.get(name)?.opened;
      running.delete(name);
    });
    const hold = (name: string) => {
      const gate = new Gate();
      gates.set(name, gate);
      return gate;
    };
    return { greet, running, started, hold };
  }

  test("uses up an attempt each time that a process is lost", async () => {
    const [id] = await loseProcess(fixture, ["ada"]);
    await fixture.clock.advanceAndSettle(LEASE_MS);
    const second = recordCalls<string>(() => forever());
    const dying = fixture.process({ greet: second.definition }, { clock: fixture.anotherClock() });
    dying.drainBehind();
    await eventually(() => expect(second.calls).toHaveLength(1));
    await fixture.clock.advanceAndSettle(LEASE_MS);
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    await process.drain();

    expect(second.calls[0]?.hook).toMatchObject({ hookId: id, attempts: 2, maxAttempts: 20 });
    expect(greet.calls[0]?.hook).toMatchObject({ hookId: id, attempts: 3, maxAttempts: 20 });
    expect(greet.calls[0]?.hook.lastAttemptAt).toEqual(new Date(fixture.clock.now() - LEASE_MS));
  });

  test("keeps attempts at the hook's limit, however its process is lost", async () => {
    const calls: number[] = [];
    const lost = defineHook({ retries: { limit: 1 } }, (_: string, hook) => {
      calls.push(hook.attempts);
      return forever();
    });
    const first = fixture.process({ greet: lost }, { clock: fixture.anotherClock() });
    const { id } = await first.hooks.greet.trigger("ada");
    first.drainBehind();
    await eventually(() => expect(calls).toEqual([1]));
    await fixture.clock.advanceAndSettle(LEASE_MS);
    const second = fixture.process({ greet: lost }, { clock: fixture.anotherClock() });
    second.drainBehind();
    await eventually(() => expect(calls).toEqual([1, 2]));
    await fixture.clock.advanceAndSettle(LEASE_MS);
    const third = fixture.process({ greet: lost });
    await third.drain();

    expect(calls).toEqual([1, 2]);
    expect(await third.durableHooks.get(id)).toMatchObject({
      status: "failed",
      error: {
        name: "PerdureError",
        code: "hook.crash_loop",
        message: expect.stringContaining("was lost with its process 2 times in a row"),
      },
    });
    expect(third.errors).toMatchObject([{ error: { code: "hook.crash_loop" }, attempt: { final: true } }]);
  });

  test("gives a hook that was lost for good fresh attempts when it is redriven", async () => {
    const [id] = (await loseProcess(fixture, ["ada"], { retries: { limit: 0 } })) as [string];
    await fixture.clock.advanceAndSettle(LEASE_MS);
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    await process.drain();
    expect(await process.statusOf(id)).toBe("failed");
    expect(await process.durableHooks.redrive(id)).toEqual([id]);
    await process.drain();

    expect(greet.calls.map(({ hook }) => hook.attempts)).toEqual([1]);
    expect(await process.statusOf(id)).toBeNull();
  });

  test("runs a recovered hook when what ran before has ended, and nothing beside it", async () => {
    const { greet, running, started, hold } = observe();
    const process = fixture.process({ greet: greet.definition });
    await loseProcess(fixture, ["lost"]);
    const [neighbour, lost] = [hold("neighbour"), hold("lost")];
    process.start();
    await process.hooks.greet.trigger("neighbour");
    await eventually(() => expect(running).toEqual(new Set(["neighbour"])));
    await process.passTime(LEASE_MS);
    await process.hooks.greet.trigger("late");
    await eventually(async () => expect((await process.durableHooks.statistics()).processing).toBe(2));
    expect(running).toEqual(new Set(["neighbour"]));

    neighbour.open();
    await eventually(() => expect(running).toEqual(new Set(["lost"])));
    for (const name of ["after 1", "after 2"]) await process.hooks.greet.trigger(name);
    process.dispatcher.wake();
    await process.durableHooks.list();
    await fixture.clock.advanceAndSettle(ISOLATION_MS - 1);
    expect(running).toEqual(new Set(["lost"]));
    lost.open();
    await eventually(() => expect(greet.calls).toHaveLength(5));

    expect(started["lost"]).toEqual([]);
    for (const name of ["after 1", "after 2"]) expect(started[name]).not.toContain("lost");
  });

  test("doesn't let a slow recovered hook hold up others for long", async () => {
    const { greet, running, hold } = observe();
    hold("lost");
    const process = fixture.process({ greet: greet.definition });
    await loseProcess(fixture, ["lost"]);
    await fixture.clock.advanceAndSettle(LEASE_MS);
    process.start();
    await eventually(() => expect(running).toEqual(new Set(["lost"])));
    await process.hooks.greet.trigger("ada");
    expect(greet.payloads).toEqual(["lost"]);
    await fixture.clock.advanceAndSettle(ISOLATION_MS);

    await eventually(() => expect(greet.payloads).toEqual(["lost", "ada"]));
    expect(running).toEqual(new Set(["lost"]));
  });

  test("doesn't let a slow neighbour hold up a recovered hook for long", async () => {
    const { greet, running, hold } = observe();
    hold("neighbour");
    const process = fixture.process({ greet: greet.definition });
    await loseProcess(fixture, ["lost"]);
    process.start();
    await process.hooks.greet.trigger("neighbour");
    await eventually(() => expect(running).toEqual(new Set(["neighbour"])));
    await withTime(fixture.clock, () => expect(greet.payloads).toEqual(["neighbour", "lost"]));
  });

  test("takes over together what was lost once, and starts nothing else beside it", async () => {
    const { greet, running, started, hold } = observe();
    const names = Array.from({ length: 12 }, (_, index) => `lost ${index}`);
    const gates = names.map(hold);
    await loseProcess(fixture, names);
    const process = fixture.process({ greet: greet.definition }, { concurrency: 20 });
    await fixture.clock.advanceAndSettle(LEASE_MS);
    process.start();
    await eventually(() => expect(running).toEqual(new Set(names)));
    await process.hooks.greet.trigger("fresh");
    await process.durableHooks.list();
    expect(greet.payloads).not.toContain("fresh");
    for (const gate of gates) gate.open();

    await eventually(() => expect(greet.payloads).toContain("fresh"));
    expect(started["fresh"]).toEqual([]);
  });

  test("takes over everything that is left in one drain", async () => {
    const { greet } = observe();
    const names = Array.from({ length: 30 }, (_, index) => `lost ${index}`);
    await loseProcess(fixture, names);
    const process = fixture.process({ greet: greet.definition });
    await process.hooks.greet.trigger("fresh");
    await fixture.clock.advanceAndSettle(LEASE_MS);
    await process.drain();

    expect(greet.payloads.toSorted()).toEqual([...names, "fresh"].toSorted());
  });

  test("lets slow recovered hooks run beside others, and beside further ones, after a bounded time", async () => {
    const { greet, running, hold } = observe();
    for (const name of ["lost 1", "lost 2"]) hold(name);
    const process = fixture.process({ greet: greet.definition }, { concurrency: 1 });
    await loseProcess(fixture, ["lost 1", "lost 2"]);
    await fixture.clock.advanceAndSettle(LEASE_MS);
    const roomy = fixture.process({ greet: greet.definition });
    process.start();
    await eventually(() => expect(running).toEqual(new Set(["lost 1"])));
    roomy.start();
    await eventually(() => expect(running).toEqual(new Set(["lost 1", "lost 2"])));
    await roomy.hooks.greet.trigger("fresh");
    await fixture.clock.advanceAndSettle(ISOLATION_MS);

    await eventually(() => expect(greet.payloads).toContain("fresh"));
  });

  test.each([
    ["was lost twice", {}, 2],
    ["has its last attempt", { retries: { limit: 1 } }, 1],
  ])("runs what %s alone, one after the other", async (_, options, losses) => {
    const names = ["lost 1", "lost 2", "lost 3"];
    await loseProcess(fixture, names, options);
    for (let lost = 1; lost < losses; lost++) {
      await fixture.clock.advanceAndSettle(LEASE_MS);
      const stuck = recordCalls<string>(() => forever());
      const dying = fixture.process({ greet: stuck.definition }, { clock: fixture.anotherClock() });
      dying.drainBehind();
      await eventually(() => expect(stuck.calls).toHaveLength(names.length));
    }
    await fixture.clock.advanceAndSettle(LEASE_MS);
    const { greet, started } = observe();
    const process = fixture.process({ greet: greet.definition });
    await process.hooks.greet.trigger("fresh");
    await process.drain();

    expect(greet.payloads.toSorted()).toEqual(["fresh", ...names]);
    for (const name of names) expect(started[name]).toEqual([]);
  });

  test("ends with a dead letter for what kills its process every time, and completes all others", async () => {
    const completed: string[] = [];
    const companions: number[] = [];
    const names = Array.from({ length: 20 }, (_, index) => `neighbour ${index}`);

    /** A process that dies with everything that runs in it as soon as it meets the poison. */
    const mortal = () => {
      const life = { over: false, running: 0 };
      const greet = defineHook({ retries: { limit: 3 } }, async (name: string) => {
        if (name === "poison") {
          companions.push(life.running);
          life.over = true;
        }
        life.running++;
        await Promise.resolve();
        if (life.over) await forever();
        life.running--;
        completed.push(name);
      });
      return { life, process: fixture.process({ greet }, { clock: fixture.anotherClock(), concurrency: 5 }) };
    };

    const { process: writer } = mortal();
    await writer.unitOfWork(async (uow) => {
      for (const name of names.slice(0, 10)) uow.triggerHook("greet", name);
      uow.triggerHook("greet", "poison", { id: "poison" });
      for (const name of names.slice(10)) uow.triggerHook("greet", name);
    });
    for (let lives = 1; ; lives++) {
      expect(lives).toBeLessThan(15);
      const { life, process } = mortal();
      const drained = process.drain().then(() => "drained");
      const ended = eventually(() => expect(life.over).toBe(true)).then(() => "dead");
      ended.catch(() => {});
      const fate = await Promise.race([drained, ended]);
      await fixture.clock.advanceAndSettle(LEASE_MS);
      if (fate === "drained" && (await process.processor.getNextWakeAt()) === null) break;
    }

    expect(companions).toHaveLength(4);
    expect(companions.slice(2)).toEqual([0, 0]); // nothing else is lost with it any more
    expect(new Set(completed)).toEqual(new Set(names));
    expect((await writer.durableHooks.list()).hooks).toMatchObject([
      { id: "greet/poison", status: "failed", error: { code: "hook.crash_loop" } },
    ]);
  });
});
