import { describe, expect, test } from "vitest";
import { defineHook } from "../../src/hooks/define-hook.ts";
import { settle } from "../support/controlled-clock.ts";
import { ENGINES } from "../support/engines.ts";
import { recordCalls } from "./support/handlers.ts";
import { eventually, useHooks } from "./support/use-hooks.ts";

const HOUR = 3_600_000;

describe.each(ENGINES)("triggers on $name", (engine) => {
  const fixture = useHooks(engine);

  test("run the hook once, after the transaction that made them", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });

    await process.unitOfWork(async (uow) => {
      uow.triggerHook("greet", "ada");
      expect(greet.calls).toEqual([]);
    });
    await process.drain();
    await process.drain();

    expect(greet.payloads).toEqual(["ada"]);
  });

  test("are run at once by a dispatcher of the same process", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    process.start();

    await process.unitOfWork(async (uow) => uow.triggerHook("greet", "ada"));
    await eventually(() => expect(greet.payloads).toEqual(["ada"]));
    await process.hooks.greet.trigger("bob");
    await eventually(() => expect(greet.payloads).toEqual(["ada", "bob"]));
  });

  test("leave nothing when the transaction is rolled back", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    process.start();

    const failure = process.unitOfWork(async (uow) => {
      uow.triggerHook("greet", "ada");
      throw new Error("changed my mind");
    });

    await expect(failure).rejects.toThrow("changed my mind");
    await settle();
    await process.store.hooks.idle();
    expect((await process.durableHooks.list()).hooks).toEqual([]);
    await process.hooks.greet.trigger("bob");
    await eventually(async () => expect((await process.durableHooks.list()).hooks).toEqual([]));
    expect(greet.payloads).toEqual(["bob"]);
  });

  test("of one transaction are all written, in their order", async () => {
    const greet = recordCalls<number>();
    const process = fixture.process({ greet: greet.definition }, { concurrency: 1 });
    await process.unitOfWork(async (uow) => {
      for (let number = 0; number < 1200; number++) uow.triggerHook("greet", number);
    });

    expect(await process.durableHooks.statistics()).toMatchObject({ pending: 1200 });
    const { hooks } = await process.durableHooks.list({ order: "oldest", limit: 1000 });
    expect(hooks.map(({ payload }) => payload)).toEqual(Array.from({ length: 1000 }, (_, number) => number));
  });

  test("of a name that isn't known throw at once and name those that are", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition, wave: greet.definition });

    const failure = process.unitOfWork(async (uow) => {
      uow.triggerHook("greet", "ada");
      // @ts-expect-error there is no such hook
      uow.triggerHook("gret", "ada");
    });

    await expect(failure).rejects.toMatchObject({
      name: "NotFoundError",
      code: "hook.unknown",
      message: `"${fixture.namespace}" has no hook "gret"; it has greet, wave.`,
    });
    expect((await process.durableHooks.list()).hooks).toEqual([]);
  });

  test("that threw don't spoil a transaction that caught the error", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });

    await process.unitOfWork(async (uow) => {
      uow.triggerHook("greet", "ada");
      // @ts-expect-error there is no such hook
      expect(() => uow.triggerHook("gret", "bob")).toThrow();
    });
    await process.drain();

    expect(greet.payloads).toEqual(["ada"]);
  });

  describe("with processAt", () => {
    test.each([
      ["a date", (time: number) => new Date(time)],
      ["milliseconds", (time: number) => time],
    ])("run at that time and not before: %s", async (_, toTime) => {
      const greet = recordCalls<string>();
      const process = fixture.process({ greet: greet.definition });
      const processAt = toTime(fixture.clock.now() + HOUR);
      await process.hooks.greet.trigger("ada", { processAt });

      await fixture.clock.advanceAndSettle(HOUR - 1);
      await process.drain();
      expect(greet.calls).toEqual([]);
      expect(await process.processor.getNextWakeAt()).toEqual(new Date(processAt));
      await fixture.clock.advanceAndSettle(1);
      await process.drain();

      expect(greet.payloads).toEqual(["ada"]);
    });

    test("are waited for by a running dispatcher", async () => {
      const greet = recordCalls<string>();
      const process = fixture.process({ greet: greet.definition });
      process.start();
      await process.unitOfWork(async (uow) => {
        uow.triggerHook("greet", "later", { processAt: new Date(fixture.clock.now() + HOUR) });
        uow.triggerHook("greet", "now");
      });

      await eventually(() => expect(greet.payloads).toEqual(["now"]));
      await fixture.clock.advanceAndSettle(HOUR);
      await eventually(() => expect(greet.payloads).toEqual(["now", "later"]));
    });

    test("in the past run at once, with the time of the trigger", async () => {
      const greet = recordCalls<string>();
      const process = fixture.process({ greet: greet.definition });
      await process.hooks.greet.trigger("ada", { processAt: new Date(0) });
      await process.drain();

      expect(greet.calls[0]?.hook.processAt).toEqual(new Date(fixture.clock.now()));
    });
  });

  test("may be made by a handler", async () => {
    const seen: string[] = [];
    const process = fixture.process({
      first: defineHook(async (name: string) => {
        await process.unitOfWork(async (uow) => uow.triggerHook("second", `${name} again`));
      }),
      second: defineHook((name: string) => void seen.push(name)),
    });
    await process.unitOfWork(async (uow) => uow.triggerHook("first", "ada"));
    await process.drain();

    expect(seen).toEqual(["ada again"]);
  });

  test("carry values as they were", async () => {
    const greet = recordCalls<unknown>();
    const process = fixture.process({ greet: greet.definition });
    const payload = { when: new Date(5), tags: new Map([["a", new Set([1n])]]), none: undefined, text: "\0 \ud800" };
    await process.hooks.greet.trigger(payload);
    await process.hooks.greet.trigger(null);
    await process.hooks.greet.trigger();
    await process.drain();

    expect(greet.payloads).toEqual([payload, null, undefined]);
  });
});
