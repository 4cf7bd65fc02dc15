import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineHook } from "../../src/hooks/define-hook.ts";
import { settle } from "../support/controlled-clock.ts";
import { ENGINES } from "../support/engines.ts";
import { Gate, recordCalls } from "./support/handlers.ts";
import { eventually, useHooks } from "./support/use-hooks.ts";

const HOUR = 3_600_000;

describe.each(ENGINES)("triggers on $name", (engine) => {
  const test = useHooks(engine);

  it("run the hook once, after the transaction that made them", async () => {
    const greet = recordCalls<string>();
    const process = test.process({ greet: greet.definition });

    await process.unitOfWork(async (uow) => {
      uow.triggerHook("greet", "ada");
      expect(greet.calls).toEqual([]);
    });
    await process.drain();
    await process.drain();

    expect(greet.payloads).toEqual(["ada"]);
  });

  it("are run at once by a dispatcher of the same process", async () => {
    const greet = recordCalls<string>();
    const process = test.process({ greet: greet.definition });
    process.start();

    await process.unitOfWork(async (uow) => uow.triggerHook("greet", "ada"));
    await eventually(() => expect(greet.payloads).toEqual(["ada"]));
    await process.hooks.greet.trigger("bob");
    await eventually(() => expect(greet.payloads).toEqual(["ada", "bob"]));
  });

  it("leave nothing when the transaction is rolled back", async () => {
    const greet = recordCalls<string>();
    const process = test.process({ greet: greet.definition });
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

  it("of one transaction are all written, in their order", async () => {
    const greet = recordCalls<number>();
    const process = test.process({ greet: greet.definition }, { concurrency: 1 });
    await process.unitOfWork(async (uow) => {
      for (let number = 0; number < 1200; number++) uow.triggerHook("greet", number);
    });

    expect(await process.durableHooks.statistics()).toMatchObject({ pending: 1200 });
    const { hooks } = await process.durableHooks.list({ order: "oldest", limit: 1000 });
    expect(hooks.map(({ payload }) => payload)).toEqual(Array.from({ length: 1000 }, (_, number) => number));
  });

  it("of a name that isn't known throw at once and name those that are", async () => {
    const greet = recordCalls<string>();
    const process = test.process({ greet: greet.definition, wave: greet.definition });

    const failure = process.unitOfWork(async (uow) => {
      uow.triggerHook("greet", "ada");
      // @ts-expect-error there is no such hook
      uow.triggerHook("gret", "ada");
    });

    await expect(failure).rejects.toMatchObject({
      name: "NotFoundError",
      code: "hook.unknown",
      message: `"${test.namespace}" has no hook "gret"; it has greet, wave.`,
    });
    expect((await process.durableHooks.list()).hooks).toEqual([]);
  });

  it("that threw don't spoil a transaction that caught the error", async () => {
    const greet = recordCalls<string>();
    const process = test.process({ greet: greet.definition });

    await process.unitOfWork(async (uow) => {
      uow.triggerHook("greet", "ada");
      // @ts-expect-error there is no such hook
      expect(() => uow.triggerHook("gret", "bob")).toThrow();
    });
    await process.drain();

    expect(greet.payloads).toEqual(["ada"]);
  });

  describe("of a hook with a schema", () => {
    const Order = z.object({ id: z.string(), amount: z.coerce.number().positive() });

    it("store what comes out of the schema, and give it to the handler", async () => {
      const seen: unknown[] = [];
      const place = defineHook({ input: Order }, (order) => seen.push(order));
      const process = test.process({ place });
      const { id } = await process.hooks.place.trigger({ id: "1", amount: "12.50" });

      expect((await process.durableHooks.get(id))?.payload).toEqual({ id: "1", amount: 12.5 });
      await process.drain();
      expect(seen).toEqual([{ id: "1", amount: 12.5 }]);
    });

    it("throw at once when it refuses, and say what it refused", async () => {
      const place = defineHook({ input: Order }, () => {});
      const process = test.process({ place });
      let thrown: unknown;

      await process.unitOfWork(async (uow) => {
        try {
          uow.triggerHook("place", { id: "1", amount: "-1" });
        } catch (error) {
          thrown = error;
        }
      });

      expect(thrown).toMatchObject({ name: "InvalidInputError", code: "payload.invalid" });
      expect(String(thrown)).toMatch(/The payload of "place" didn't pass the schema\. amount: .*>0/);
      expect((await process.durableHooks.list()).hooks).toEqual([]);
    });

    it("roll back the transaction when they throw", async () => {
      const place = defineHook({ input: Order }, () => {});
      const process = test.process({ place });

      const failure = process.unitOfWork(async (uow) => {
        uow.triggerHook("place", { id: "1", amount: 1 });
        uow.triggerHook("place", { id: "2", amount: 0 });
      });

      await expect(failure).rejects.toMatchObject({ code: "payload.invalid" });
      expect((await process.durableHooks.list()).hooks).toEqual([]);
    });

    it("reject, outside of a transaction", async () => {
      const place = defineHook({ input: Order }, () => {});
      const process = test.process({ place });

      await expect(process.hooks.place.trigger({ id: "1", amount: 0 })).rejects.toMatchObject({
        code: "payload.invalid",
      });
      expect((await process.durableHooks.list()).hooks).toEqual([]);
    });
  });

  describe("of a hook with an asynchronous schema", () => {
    const Known = z.string().refine(async (name) => name !== "eve", "is not known here");

    it("are written when it accepts", async () => {
      const seen: string[] = [];
      const greet = defineHook({ input: Known }, (name) => seen.push(name));
      const process = test.process({ greet });
      await process.unitOfWork(async (uow) => uow.triggerHook("greet", "ada"));
      await process.drain();

      expect(seen).toEqual(["ada"]);
    });

    it("roll back the whole transaction when it refuses", async () => {
      const greet = defineHook({ input: Known }, () => {});
      const plain = recordCalls<string>();
      const process = test.process({ greet, plain: plain.definition });

      const failure = process.unitOfWork(async (uow) => {
        uow.triggerHook("plain", "before");
        uow.triggerHook("greet", "eve");
        uow.triggerHook("plain", "after");
        return "done";
      });

      await expect(failure).rejects.toMatchObject({
        code: "payload.invalid",
        message: expect.stringContaining("is not known here"),
      });
      expect((await process.durableHooks.list()).hooks).toEqual([]);
    });

    it("leave no rejection behind when the transaction fails for another reason", async () => {
      const greet = defineHook({ input: Known }, () => {});
      const process = test.process({ greet });

      const failure = process.unitOfWork(async (uow) => {
        uow.triggerHook("greet", "eve");
        throw new Error("changed my mind");
      });

      await expect(failure).rejects.toThrow("changed my mind"); // vitest fails on unhandled rejections
    });
  });

  describe("with processAt", () => {
    it.each([
      ["a date", (time: number) => new Date(time)],
      ["milliseconds", (time: number) => time],
    ])("run at that time and not before: %s", async (_, toTime) => {
      const greet = recordCalls<string>();
      const process = test.process({ greet: greet.definition });
      const processAt = toTime(test.clock.now() + HOUR);
      await process.hooks.greet.trigger("ada", { processAt });

      await test.clock.advanceAndSettle(HOUR - 1);
      await process.drain();
      expect(greet.calls).toEqual([]);
      expect(await process.processor.getNextWakeAt()).toEqual(new Date(processAt));
      await test.clock.advanceAndSettle(1);
      await process.drain();

      expect(greet.payloads).toEqual(["ada"]);
    });

    it("are waited for by a running dispatcher", async () => {
      const greet = recordCalls<string>();
      const process = test.process({ greet: greet.definition });
      process.start();
      await process.unitOfWork(async (uow) => {
        uow.triggerHook("greet", "later", { processAt: new Date(test.clock.now() + HOUR) });
        uow.triggerHook("greet", "now");
      });

      await eventually(() => expect(greet.payloads).toEqual(["now"]));
      await test.clock.advanceAndSettle(HOUR);
      await eventually(() => expect(greet.payloads).toEqual(["now", "later"]));
    });

    it("in the past run at once, with the time of the trigger", async () => {
      const greet = recordCalls<string>();
      const process = test.process({ greet: greet.definition });
      await process.hooks.greet.trigger("ada", { processAt: new Date(0) });
      await process.drain();

      expect(greet.calls[0]?.hook.processAt).toEqual(new Date(test.clock.now()));
    });
  });

  describe("with an id of the caller's own", () => {
    it("use it, and do nothing a second time while the hook waits", async () => {
      const greet = recordCalls<string>();
      const process = test.process({ greet: greet.definition });

      expect(await process.hooks.greet.trigger("ada", { id: "order 1/ä" })).toEqual({ id: "greet/order 1/ä" });
      expect(await process.hooks.greet.trigger("bob", { id: "order 1/ä" })).toEqual({ id: "greet/order 1/ä" });
      await process.drain();

      expect(greet.payloads).toEqual(["ada"]);
      expect(greet.calls[0]?.hook.hookId).toBe("greet/order 1/ä");
    });

    it("do nothing a second time while the hook runs", async () => {
      const gate = new Gate();
      const greet = recordCalls<string>(() => gate.opened);
      const process = test.process({ greet: greet.definition });
      await process.hooks.greet.trigger("ada", { id: "one" });
      const drained = process.drain();
      await eventually(() => expect(greet.calls).toHaveLength(1));
      await process.hooks.greet.trigger("bob", { id: "one" });
      gate.open();
      await drained;

      expect(greet.payloads).toEqual(["ada"]);
    });

    it("do nothing a second time after the hook has completed, for thirty days", async () => {
      const greet = recordCalls<string>();
      const process = test.process({ greet: greet.definition });
      await process.hooks.greet.trigger("ada", { id: "one" });
      await process.drain();
      await test.clock.advanceAndSettle(30 * 24 * HOUR - 1);
      await process.processor.sources[0]?.purge();
      await process.hooks.greet.trigger("bob", { id: "one" });
      await process.drain();

      expect(greet.payloads).toEqual(["ada"]);
      expect(await process.statusOf("greet/one")).toBe("completed");
      await test.clock.advanceAndSettle(1);
      await process.processor.sources[0]?.purge();
      await process.hooks.greet.trigger("cleo", { id: "one" });
      await process.drain();
      expect(greet.payloads).toEqual(["ada", "cleo"]);
    });

    it("do nothing a second time after the hook has failed for good", async () => {
      const greet = recordCalls<string>(() => Promise.reject(new Error("no")), { retries: { limit: 0 } });
      const process = test.process({ greet: greet.definition });
      await process.hooks.greet.trigger("ada", { id: "one" });
      await process.drain();
      await process.hooks.greet.trigger("bob", { id: "one" });
      await process.drain();

      expect(greet.payloads).toEqual(["ada"]);
      expect(await process.durableHooks.get("greet/one")).toMatchObject({ status: "failed", payload: "ada" });
    });

    it("are told apart from triggers of other hooks with the same id", async () => {
      const greet = recordCalls<string>();
      const thank = recordCalls<string>();
      const process = test.process({ greet: greet.definition, thank: thank.definition });
      await process.hooks.greet.trigger("ada", { id: "order-1" });
      await process.hooks.thank.trigger("ada", { id: "order-1" });
      await process.drain();

      expect([greet.payloads, thank.payloads]).toEqual([["ada"], ["ada"]]);
      expect(greet.calls[0]?.hook.idempotencyKey).not.toBe(thank.calls[0]?.hook.idempotencyKey);
    });

    it("do nothing a second time within one transaction", async () => {
      const greet = recordCalls<string>();
      const process = test.process({ greet: greet.definition });
      await process.unitOfWork(async (uow) => {
        uow.triggerHook("greet", "ada", { id: "one" });
        uow.triggerHook("greet", "bob", { id: "one" });
        uow.triggerHook("greet", "cleo");
      });
      await process.drain();

      expect(greet.payloads.toSorted()).toEqual(["ada", "cleo"]);
    });
  });

  describe("have an idempotency key", () => {
    it("of their own, also within one transaction", async () => {
      const greet = recordCalls<string>();
      const process = test.process({ greet: greet.definition });
      await process.unitOfWork(async (uow) => {
        uow.triggerHook("greet", "ada");
        uow.triggerHook("greet", "ada");
      });
      await process.drain();

      const keys = greet.calls.map(({ hook }) => hook.idempotencyKey);
      expect(keys).toHaveLength(2);
      expect(new Set(keys).size).toBe(2);
    });

    it("that stays the same over retries, on whichever process they run", async () => {
      const greet = recordCalls<string>((_, hook) => hook.attempts < 4 && Promise.reject(new Error("no")), {
        retries: { delay: 1, backoff: "constant" },
      });
      const first = test.process({ greet: greet.definition });
      const second = test.process({ greet: greet.definition });
      await first.hooks.greet.trigger("ada");
      for (const process of [first, second, first, second]) {
        await process.drain();
        await test.clock.advanceAndSettle(1);
      }

      expect(greet.calls).toHaveLength(4);
      expect(new Set(greet.calls.map(({ hook }) => hook.idempotencyKey)).size).toBe(1);
    });

    it("that is another one when the hook of a key is triggered again while it waits for a retry", async () => {
      const greet = recordCalls<string>((name) => name === "ada" && Promise.reject(new Error("no")), {
        retries: { delay: 1000, backoff: "constant" },
      });
      const process = test.process({ greet: greet.definition });
      const first = await process.hooks.greet.trigger("ada", { key: "k" });
      await process.drain();
      const second = await process.hooks.greet.trigger("bob", { key: "k" });
      await process.drain();

      expect(second).toEqual(first);
      expect(greet.payloads).toEqual(["ada", "bob"]);
      expect(greet.calls[0]?.hook.idempotencyKey).not.toBe(greet.calls[1]?.hook.idempotencyKey);
    });

    it("that is another one when the hook of a key is triggered again while it runs", async () => {
      const gate = new Gate();
      const greet = recordCalls<string>(() => gate.opened);
      const process = test.process({ greet: greet.definition });
      await process.hooks.greet.trigger("ada", { key: "k" });
      const drained = process.drain();
      await eventually(() => expect(greet.calls).toHaveLength(1));
      await process.hooks.greet.trigger("bob", { key: "k" });
      gate.open();
      await drained;

      expect(greet.payloads).toEqual(["ada", "bob"]);
      expect(greet.calls[0]?.hook.hookId).toBe(greet.calls[1]?.hook.hookId);
      expect(greet.calls[0]?.hook.idempotencyKey).not.toBe(greet.calls[1]?.hook.idempotencyKey);
    });
  });

  it("may be made by a handler", async () => {
    const seen: string[] = [];
    const process = test.process({
      first: defineHook(async (name: string) => {
        await process.unitOfWork(async (uow) => uow.triggerHook("second", `${name} again`));
      }),
      second: defineHook((name: string) => void seen.push(name)),
    });
    await process.unitOfWork(async (uow) => uow.triggerHook("first", "ada"));
    await process.drain();

    expect(seen).toEqual(["ada again"]);
  });

  it("carry values as they were", async () => {
    const greet = recordCalls<unknown>();
    const process = test.process({ greet: greet.definition });
    const payload = { when: new Date(5), tags: new Map([["a", new Set([1n])]]), none: undefined, text: "\0 \ud800" };
    await process.hooks.greet.trigger(payload);
    await process.hooks.greet.trigger(null);
    await process.hooks.greet.trigger();
    await process.drain();

    expect(greet.payloads).toEqual([payload, null, undefined]);
  });
});
