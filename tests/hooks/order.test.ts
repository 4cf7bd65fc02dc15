import { afterEach, describe, expect, test, vi } from "vitest";
import { createDurableHooksDispatcher } from "../../src/dispatchers/node.ts";
import { createDurableHooksProcessor, type DurableHooksProcessor } from "../../src/fragment/create-processor.ts";
import { ENGINES } from "../support/engines.ts";
import { Gate, recordCalls } from "./support/handlers.ts";
import { loseProcess } from "./support/lost-process.ts";
import { eventually, LEASE_MS, useHooks } from "./support/use-hooks.ts";

describe.each(ENGINES)("the order of hooks on $name", (engine) => {
  const fixture = useHooks(engine);

  afterEach(() => {
    vi.restoreAllMocks();
  });

  test("is that of their due times", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition }, { concurrency: 1 });
    const now = fixture.clock.now();
    for (const [name, delay] of [
      ["third", 3000],
      ["first", 1000],
      ["second", 2000],
    ] as const) {
      await process.hooks.greet.trigger(name, { processAt: now + delay });
    }
    await fixture.clock.advanceAndSettle(10_000);
    await process.drain();

    expect(greet.payloads).toEqual(["first", "second", "third"]);
  });

  test("is that of their triggers, where they are due at the same time", async () => {
    const greet = recordCalls<number>();
    const process = fixture.process({ greet: greet.definition }, { concurrency: 1 });
    const numbers = Array.from({ length: 30 }, (_, number) => number);
    for (const number of numbers) await process.hooks.greet.trigger(number);
    await process.drain();

    expect(greet.payloads).toEqual(numbers);
  });

  test("puts hooks that have begun before new ones, however long those have been waiting", async () => {
    const greet = recordCalls<string>((name, hook) => name === "begun" && hook.attempts < 2 && Promise.reject("no"), {
      retries: { delay: 5000, backoff: "constant" },
    });
    const process = fixture.process({ greet: greet.definition }, { concurrency: 1 });
    await process.hooks.greet.trigger("begun");
    await process.drain();
    for (const name of ["new 1", "new 2"]) await process.hooks.greet.trigger(name);
    await fixture.clock.advanceAndSettle(5000);
    await process.drain();

    expect(greet.payloads).toEqual(["begun", "begun", "new 1", "new 2"]);
  });

  test("puts a redriven dead letter before new hooks", async () => {
    const state = { broken: true };
    const greet = recordCalls<string>(() => state.broken && Promise.reject("no"), { retries: { limit: 0 } });
    const process = fixture.process({ greet: greet.definition }, { concurrency: 1 });
    const { id } = await process.hooks.greet.trigger("dead");
    await process.drain();
    state.broken = false;
    await process.hooks.greet.trigger("new");
    await process.durableHooks.redrive(id);
    await process.drain();

    expect(greet.payloads).toEqual(["dead", "dead", "new"]);
  });

  test("puts hooks of a lost process before all others", async () => {
    await loseProcess(fixture, ["lost"]);
    const greet = recordCalls<string>((name, hook) => name === "begun" && hook.attempts < 2 && Promise.reject("no"), {
      retries: { delay: 5000, backoff: "constant" },
    });
    const process = fixture.process({ greet: greet.definition }, { concurrency: 1 });
    await process.hooks.greet.trigger("begun");
    await process.drain();
    await process.hooks.greet.trigger("new");
    await fixture.clock.advanceAndSettle(LEASE_MS);
    await process.drain();

    expect(greet.payloads).toEqual(["begun", "lost", "begun", "new"]);
  });

  test("serves namespaces in turn: a long queue in one doesn't starve another", async () => {
    const order: string[] = [];
    const record = () => recordCalls<string>((name) => order.push(name)).definition;
    const busy = fixture.process({ greet: record() });
    const calm = fixture.process(
      { greet: record() },
      { namespace: `${fixture.namespace}-calm`, adapter: busy.adapter },
    );
    await busy.unitOfWork(async (uow) => {
      for (let number = 0; number < 50; number++) uow.triggerHook("greet", "busy");
    });
    await calm.hooks.greet.trigger("calm");
    const processor = createDurableHooksProcessor([busy.fragment, calm.fragment]) as DurableHooksProcessor;
    await createDurableHooksDispatcher({ processor, concurrency: 1 }).drain();

    expect(order).toHaveLength(51);
    expect(order.indexOf("calm")).toBeLessThan(3);
  });

  test("is shared by processes that claim at the same time: each hook runs once", async () => {
    const greet = recordCalls<number>();
    const processes = Array.from({ length: 3 }, () => fixture.process({ greet: greet.definition }));
    const numbers = Array.from({ length: 300 }, (_, number) => number);
    await processes[0]?.unitOfWork(async (uow) => {
      for (const number of numbers) uow.triggerHook("greet", number);
    });
    await Promise.all(processes.map((process) => process.drain()));

    expect(greet.payloads.toSorted((left, right) => left - right)).toEqual(numbers);
    expect((await processes[0]?.durableHooks.list())?.hooks).toEqual([]);
  });

  test("lets no worker have more hooks at a time than slots", async () => {
    const gate = new Gate();
    let running = 0;
    let most = 0;
    const greet = recordCalls<number>(async () => {
      most = Math.max(most, ++running);
      await gate.opened;
      running--;
    });
    const process = fixture.process({ greet: greet.definition }, { concurrency: 3 });
    await process.unitOfWork(async (uow) => {
      for (let number = 0; number < 20; number++) uow.triggerHook("greet", number);
    });
    const drained = process.drain();
    await eventually(() => expect(running).toBe(3));
    expect(await process.durableHooks.statistics()).toMatchObject({ processing: 3, pending: 17 });
    gate.open();
    await drained;

    expect(most).toBe(3);
    expect(greet.calls).toHaveLength(20);
  });

  test("leaves hooks alone that this process doesn't know, and isn't woken by them", async () => {
    const newer = recordCalls<string>();
    const newest = fixture.process({ greet: newer.definition, wave: newer.definition });
    await newest.hooks.wave.trigger("ada");
    const older = recordCalls<string>();
    const process = fixture.process({ greet: older.definition });

    expect(await process.processor.getNextWakeAt()).toBeNull();
    await process.drain();
    expect(await newest.processor.getNextWakeAt()).toEqual(new Date(fixture.clock.now()));
    await newest.drain();
    expect(newer.payloads).toEqual(["ada"]);
  });

  test("leaves a slot for a hook that becomes due while a running dispatcher claims", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    await process.hooks.greet.trigger("ada", { processAt: fixture.clock.now() + 1 });
    const { statements } = process.store.hooks;
    const claim = statements.claim.bind(statements);
    vi.spyOn(statements, "claim").mockImplementationOnce(async (request) => {
      const claimed = await claim(request);
      fixture.clock.advance(1);
      return claimed;
    });
    process.start();

    await eventually(() => expect(greet.payloads).toEqual(["ada"])); // although no more time has passed
  });

  test("leaves a slot for a trigger that comes while a running dispatcher claims", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    const { statements } = process.store.hooks;
    const claim = statements.claim.bind(statements);
    vi.spyOn(statements, "claim").mockImplementationOnce(async (request) => {
      const claimed = await claim(request);
      await process.hooks.greet.trigger("ada", { key: "k" }); // with a key it isn't started where it was triggered
      return claimed;
    });
    process.start();

    await eventually(() => expect(greet.payloads).toEqual(["ada"])); // although no time has passed
  });
});
