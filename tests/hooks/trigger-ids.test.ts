import { describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { Gate, recordCalls } from "./support/handlers.ts";
import { eventually, useHooks } from "./support/use-hooks.ts";

const HOUR = 3_600_000;

describe.each(ENGINES)("triggers on $name", (engine) => {
  const fixture = useHooks(engine);

  describe("with an id of the caller's own", () => {
    test("use it, and do nothing a second time while the hook waits", async () => {
      const greet = recordCalls<string>();
      const process = fixture.process({ greet: greet.definition });

      expect(await process.hooks.greet.trigger("ada", { id: "order 1/ä" })).toEqual({ id: "greet/order 1/ä" });
      expect(await process.hooks.greet.trigger("bob", { id: "order 1/ä" })).toEqual({ id: "greet/order 1/ä" });
      await process.drain();

      expect(greet.payloads).toEqual(["ada"]);
      expect(greet.calls[0]?.hook.hookId).toBe("greet/order 1/ä");
    });

    test("do nothing a second time while the hook runs", async () => {
      const gate = new Gate();
      const greet = recordCalls<string>(() => gate.opened);
      const process = fixture.process({ greet: greet.definition });
      await process.hooks.greet.trigger("ada", { id: "one" });
      const drained = process.drain();
      await eventually(() => expect(greet.calls).toHaveLength(1));
      await process.hooks.greet.trigger("bob", { id: "one" });
      gate.open();
      await drained;

      expect(greet.payloads).toEqual(["ada"]);
    });

    test("do nothing a second time after the hook has completed, for thirty days", async () => {
      const greet = recordCalls<string>();
      const process = fixture.process({ greet: greet.definition });
      await process.hooks.greet.trigger("ada", { id: "one" });
      await process.drain();
      await fixture.clock.advanceAndSettle(30 * 24 * HOUR - 1);
      await process.processor.sources[0]?.purge();
      await process.hooks.greet.trigger("bob", { id: "one" });
      await process.drain();

      expect(greet.payloads).toEqual(["ada"]);
      expect(await process.statusOf("greet/one")).toBe("completed");
      await fixture.clock.advanceAndSettle(1);
      await process.processor.sources[0]?.purge();
      await process.hooks.greet.trigger("cleo", { id: "one" });
      await process.drain();
      expect(greet.payloads).toEqual(["ada", "cleo"]);
    });

    test("do nothing a second time after the hook has failed for good", async () => {
      const greet = recordCalls<string>(() => Promise.reject(new Error("no")), { retries: { limit: 0 } });
      const process = fixture.process({ greet: greet.definition });
      await process.hooks.greet.trigger("ada", { id: "one" });
      await process.drain();
      await process.hooks.greet.trigger("bob", { id: "one" });
      await process.drain();

      expect(greet.payloads).toEqual(["ada"]);
      expect(await process.durableHooks.get("greet/one")).toMatchObject({ status: "failed", payload: "ada" });
    });

    test("are told apart from triggers of other hooks with the same id", async () => {
      const greet = recordCalls<string>();
      const thank = recordCalls<string>();
      const process = fixture.process({ greet: greet.definition, thank: thank.definition });
      await process.hooks.greet.trigger("ada", { id: "order-1" });
      await process.hooks.thank.trigger("ada", { id: "order-1" });
      await process.drain();

      expect([greet.payloads, thank.payloads]).toEqual([["ada"], ["ada"]]);
      expect(greet.calls[0]?.hook.idempotencyKey).not.toBe(thank.calls[0]?.hook.idempotencyKey);
    });

    test("do nothing a second time within one transaction", async () => {
      const greet = recordCalls<string>();
      const process = fixture.process({ greet: greet.definition });
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
    test("of their own, also within one transaction", async () => {
      const greet = recordCalls<string>();
      const process = fixture.process({ greet: greet.definition });
      await process.unitOfWork(async (uow) => {
        uow.triggerHook("greet", "ada");
        uow.triggerHook("greet", "ada");
      });
      await process.drain();

      const keys = greet.calls.map(({ hook }) => hook.idempotencyKey);
      expect(keys).toHaveLength(2);
      expect(new Set(keys).size).toBe(2);
    });

    test("that stays the same over retries, on whichever process they run", async () => {
      const greet = recordCalls<string>((_, hook) => hook.attempts < 4 && Promise.reject(new Error("no")), {
        retries: { delay: 1, backoff: "constant" },
      });
      const first = fixture.process({ greet: greet.definition });
      const second = fixture.process({ greet: greet.definition });
      await first.hooks.greet.trigger("ada");
      for (const process of [first, second, first, second]) {
        await process.drain();
        await fixture.clock.advanceAndSettle(1);
      }

      expect(greet.calls).toHaveLength(4);
      expect(new Set(greet.calls.map(({ hook }) => hook.idempotencyKey)).size).toBe(1);
    });

    test("that is another one when the hook of a key is triggered again while it waits for a retry", async () => {
      const greet = recordCalls<string>((name) => name === "ada" && Promise.reject(new Error("no")), {
        retries: { delay: 1000, backoff: "constant" },
      });
      const process = fixture.process({ greet: greet.definition });
      const first = await process.hooks.greet.trigger("ada", { key: "k" });
      await process.drain();
      const second = await process.hooks.greet.trigger("bob", { key: "k" });
      await process.drain();

      expect(second).toEqual(first);
      expect(greet.payloads).toEqual(["ada", "bob"]);
      expect(greet.calls[0]?.hook.idempotencyKey).not.toBe(greet.calls[1]?.hook.idempotencyKey);
    });

    test("that is another one when the hook of a key is triggered again while it runs", async () => {
      const gate = new Gate();
      const greet = recordCalls<string>(() => gate.opened);
      const process = fixture.process({ greet: greet.definition });
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
});
