import { describe, expect, test } from "vitest";
import type { TriggerOptions } from "../../src/hooks/trigger.ts";
import { ENCRYPTED_SQLITE, ENGINES } from "../support/engines.ts";
import { Gate, recordCalls } from "./support/handlers.ts";
import { loseProcess } from "./support/lost-process.ts";
import { eventually, LEASE_MS, useHooks } from "./support/use-hooks.ts";

const SECOND = 1000;

describe.each([...ENGINES, ENCRYPTED_SQLITE])("keys on $name", (engine) => {
  const fixture = useHooks(engine);

  /** A hook that stops at a gate in its first run, has begun it, and is triggered again meanwhile. */
  async function running(behaviour: (name: string, attempts: number) => unknown = () => {}) {
    const gate = new Gate();
    let first = true;
    const greet = recordCalls<string>(
      async (name, hook) => {
        if (first) {
          first = false;
          await gate.opened;
        }
        await behaviour(name, hook.attempts);
      },
      { retries: { limit: 1, delay: SECOND, backoff: "constant" } },
    );
    const process = fixture.process({ greet: greet.definition });
    const { id } = await process.hooks.greet.trigger("ada", { key: "k" });
    const drained = process.drain();
    await eventually(() => expect(greet.calls).toHaveLength(1));
    const finish = async () => {
      gate.open();
      await drained;
    };
    const again = (name: string, options: TriggerOptions = {}) =>
      process.hooks.greet.trigger(name, { key: "k", ...options });
    return { id, greet, process, finish, again };
  }

  describe("while a hook of the key waits", () => {
    test("collapse triggers into it, with the latest payload", async () => {
      const greet = recordCalls<string>();
      const process = fixture.process({ greet: greet.definition });
      const first = await process.hooks.greet.trigger("ada", { key: "k" });
      const second = await process.hooks.greet.trigger("bob", { key: "k" });
      await process.drain();

      expect(second).toEqual(first);
      expect(greet.payloads).toEqual(["bob"]);
    });

    test("collapse triggers of one transaction", async () => {
      const greet = recordCalls<string>();
      const process = fixture.process({ greet: greet.definition });
      await process.unitOfWork(async (uow) => {
        for (const name of ["ada", "bob", "cleo"]) uow.triggerHook("greet", name, { key: "k" });
        uow.triggerHook("greet", "dora", { key: "another" });
      });
      await process.drain();

      expect(greet.payloads.toSorted()).toEqual(["cleo", "dora"]);
    });

    test("collapse triggers that are made at the same time, and keep the last", async () => {
      const greet = recordCalls<number>();
      const process = fixture.process({ greet: greet.definition });
      const numbers = Array.from({ length: 500 }, (_, number) => number);
      const triggered = await Promise.all(numbers.map((number) => process.hooks.greet.trigger(number, { key: "k" })));
      await process.drain();

      expect(new Set(triggered.map(({ id }) => id)).size).toBe(1);
      expect(greet.payloads).toEqual([499]);
    });

    test("take the latest policy", async () => {
      const greet = recordCalls<string>();
      const process = fixture.process({ greet: greet.definition });
      await process.hooks.greet.trigger("ada", { key: "k", retries: { limit: 1 } });
      await process.hooks.greet.trigger("bob", { key: "k", retries: { limit: 7 } });
      await process.drain();

      expect(greet.calls.map(({ hook }) => hook.maxAttempts)).toEqual([8]);
    });

    test.each([
      ["that came first", 5, 60],
      ["that came last", 60, 5],
    ])("take the earliest time, %s", async (_, first, second) => {
      const greet = recordCalls<string>();
      const process = fixture.process({ greet: greet.definition });
      const processAt = (seconds: number) => new Date(fixture.clock.now() + seconds * SECOND);
      const [earlier, later] = [processAt(first), processAt(second)];
      await process.hooks.greet.trigger("ada", { key: "k", processAt: earlier });
      await process.hooks.greet.trigger("bob", { key: "k", processAt: later });

      await fixture.clock.advanceAndSettle(5 * SECOND - 1);
      await process.drain();
      expect(greet.calls).toEqual([]);
      await fixture.clock.advanceAndSettle(1);
      await process.drain();
      expect(greet.payloads).toEqual(["bob"]);
      await fixture.clock.advanceAndSettle(60 * SECOND);
      await process.drain();
      expect(greet.payloads).toEqual(["bob"]);
    });

    test("make one run of each minute that has triggers, when its end is their time", async () => {
      const greet = recordCalls<string>();
      const process = fixture.process({ greet: greet.definition });
      const begun = fixture.clock.now();
      const minute = 60 * SECOND;
      for (const second of [10, 35, 59, 61, 119, 200]) {
        await fixture.clock.advanceAndSettle(begun + second * SECOND - fixture.clock.now());
        await process.drain();
        const processAt = Math.ceil(fixture.clock.now() / minute) * minute;
        await process.hooks.greet.trigger(`at ${second}`, { key: "k", processAt });
      }
      await fixture.clock.advanceAndSettle(minute);
      await process.drain();

      expect(greet.payloads).toEqual(["at 59", "at 119", "at 200"]);
      expect(greet.calls.map(({ hook }) => Number(hook.processAt) - begun)).toEqual([minute, 2 * minute, 4 * minute]);
    });

    test("start a hook at once that waits for a retry, with fresh attempts", async () => {
      const greet = recordCalls<string>((name) => name === "ada" && Promise.reject(new Error("no")), {
        retries: { delay: 60 * SECOND, backoff: "constant" },
      });
      const process = fixture.process({ greet: greet.definition });
      await process.hooks.greet.trigger("ada", { key: "k" });
      await process.drain();
      await process.hooks.greet.trigger("bob", { key: "k" });
      await process.drain();

      expect(greet.calls.map(({ payload, hook }) => [payload, hook.attempts])).toEqual([
        ["ada", 1],
        ["bob", 1],
      ]);
    });

    test("let go of it when it is cancelled", async () => {
      const greet = recordCalls<string>();
      const process = fixture.process({ greet: greet.definition });
      const { id } = await process.hooks.greet.trigger("ada", { key: "k" });
      const other = await process.hooks.greet.trigger("bob", { key: "another" });

      expect(await process.durableHooks.cancel({ name: "greet", key: "k" })).toEqual({ cancelled: [id], running: [] });
      await process.drain();
      expect(greet.payloads).toEqual(["bob"]);
      expect((await process.hooks.greet.trigger("cleo", { key: "k" })).id).not.toBe(id);
      expect(await process.statusOf(other.id)).toBeNull();
    });
  });

  describe("while a hook of the key runs", () => {
    test("make it run once more afterwards, for all triggers, with the latest payload", async () => {
      const { id, greet, process, finish, again } = await running();
      expect(await again("bob")).toEqual({ id });
      expect(await again("cleo")).toEqual({ id });
      await finish();

      expect(greet.payloads).toEqual(["ada", "cleo"]);
      expect(greet.calls.map(({ hook }) => hook.hookId)).toEqual([id, id]);
      expect(await process.statusOf(id)).toBeNull();
    });

    test("never run it twice at a time", async () => {
      const { greet, process, finish, again } = await running();
      const another = fixture.process({ greet: greet.definition });
      await again("bob");
      await another.hooks.greet.trigger("cleo", { key: "k" });
      await another.drain();

      expect(greet.payloads).toEqual(["ada"]);
      await finish();
      await process.drain();
      expect(greet.payloads).toEqual(["ada", "cleo"]);
    });

    test("give the next run fresh attempts and its own policy", async () => {
      const { greet, process, finish, again } = await running((name) => name === "bob" && Promise.reject("no"));
      await again("bob", { retries: { limit: 2, delay: 0 } });
      await finish();

      expect(greet.calls.map(({ payload, hook }) => [payload, hook.attempts, hook.maxAttempts])).toEqual([
        ["ada", 1, 2],
        ["bob", 1, 3],
        ["bob", 2, 3],
        ["bob", 3, 3],
      ]);
      expect((await process.durableHooks.deadLetters()).hooks).toMatchObject([{ payload: "bob", attempts: 3 }]);
    });

    test("replace the retry of an attempt that fails", async () => {
      const { greet, process, finish, again } = await running((name) => name === "ada" && Promise.reject("no"));
      await again("bob");
      await finish();
      await fixture.clock.advanceAndSettle(60 * SECOND);
      await process.drain();

      expect(greet.calls.map(({ payload, hook }) => [payload, hook.attempts])).toEqual([
        ["ada", 1],
        ["bob", 1],
      ]);
    });

    test("run it once more also when the last attempt fails", async () => {
      const { greet, process, finish } = await running((name) => name === "ada" && Promise.reject("no"));
      await finish();
      const gate = new Gate();
      const last = fixture.process({
        greet: recordCalls<string>(async (name) => {
          greet.payloads.push(name);
          if (name === "bob") return;
          await gate.opened;
          throw new Error("no");
        }).definition,
      });
      await fixture.clock.advanceAndSettle(SECOND);
      const drained = last.drain();
      await eventually(() => expect(greet.payloads).toEqual(["ada", "ada"]));
      await process.hooks.greet.trigger("bob", { key: "k" });
      gate.open();
      await drained;

      expect(greet.payloads).toEqual(["ada", "ada", "bob"]);
      expect((await process.durableHooks.list()).hooks).toEqual([]);
    });

    test("run it once more at the earliest time that was asked for", async () => {
      const { greet, process, finish, again } = await running();
      await again("bob", { processAt: new Date(fixture.clock.now() + 60 * SECOND) });
      await again("cleo", { processAt: new Date(fixture.clock.now() + 5 * SECOND) });
      await again("dora", { processAt: new Date(fixture.clock.now() + 30 * SECOND) });
      await finish();
      expect(greet.payloads).toEqual(["ada"]);

      await fixture.clock.advanceAndSettle(5 * SECOND - 1);
      await process.drain();
      expect(greet.payloads).toEqual(["ada"]);
      await fixture.clock.advanceAndSettle(1);
      await process.drain();
      expect(greet.payloads).toEqual(["ada", "dora"]);
    });

    test("don't run it once more when that is cancelled, and let it end", async () => {
      const { id, greet, process, finish, again } = await running();
      await again("bob");
      expect(await process.durableHooks.cancel({ name: "greet", key: "k" })).toEqual({ cancelled: [], running: [id] });
      expect(greet.calls[0]?.hook.signal.aborted).toBe(false);
      await finish();

      expect(greet.payloads).toEqual(["ada"]);
      expect(await process.statusOf(id)).toBeNull();
    });

    test("can be triggered again after that was cancelled", async () => {
      const { greet, process, finish, again } = await running();
      await again("bob");
      await process.durableHooks.cancel({ name: "greet", key: "k" });
      await again("cleo");
      await finish();

      expect(greet.payloads).toEqual(["ada", "cleo"]);
      expect(new Set(greet.calls.map(({ hook }) => hook.idempotencyKey)).size).toBe(2);
    });

    test("are not lost with its process", async () => {
      const [id] = await loseProcess(fixture, ["ada"], { key: "k" });
      const greet = recordCalls<string>();
      const process = fixture.process({ greet: greet.definition });
      expect(await process.hooks.greet.trigger("bob", { key: "k" })).toEqual({ id });
      await process.drain();
      expect(greet.payloads).toEqual([]);
      await fixture.clock.advanceAndSettle(LEASE_MS);
      await process.drain();

      expect(greet.calls.map(({ payload, hook }) => [payload, hook.attempts])).toEqual([
        ["ada", 2],
        ["bob", 1],
      ]);
    });
  });

  test("of different hooks have nothing to do with each other", async () => {
    const greet = recordCalls<string>();
    const wave = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition, wave: wave.definition });
    await process.unitOfWork(async (uow) => {
      uow.triggerHook("greet", "ada", { key: "k" });
      uow.triggerHook("wave", "bob", { key: "k" });
    });
    expect(await process.durableHooks.cancel({ name: "greet", key: "k" })).toMatchObject({ running: [] });
    await process.drain();

    expect(greet.payloads).toEqual([]);
    expect(wave.payloads).toEqual(["bob"]);
  });

  test("are free again when the hook has completed", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition }, { durableHooks: { keepCompleted: "1 hour" } });
    const first = await process.hooks.greet.trigger("ada", { key: "k" });
    await process.drain();
    const second = await process.hooks.greet.trigger("bob", { key: "k" });
    await process.drain();

    expect(second.id).not.toBe(first.id);
    expect(greet.payloads).toEqual(["ada", "bob"]);
    expect(await process.statusOf(first.id)).toBe("completed");
  });

  test("are free again when the hook is a dead letter", async () => {
    const greet = recordCalls<string>((name) => name === "ada" && Promise.reject("no"), { retries: { limit: 0 } });
    const process = fixture.process({ greet: greet.definition });
    const first = await process.hooks.greet.trigger("ada", { key: "k" });
    await process.drain();
    const second = await process.hooks.greet.trigger("bob", { key: "k" });
    await process.drain();

    expect(second.id).not.toBe(first.id);
    expect(greet.payloads).toEqual(["ada", "bob"]);
    expect(await process.statusOf(first.id)).toBe("failed");
  });
});
