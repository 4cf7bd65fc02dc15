import { describe, expect, test } from "vitest";
import { ENCRYPTED_SQLITE, ENGINES } from "../support/engines.ts";
import { Gate, recordCalls } from "./support/handlers.ts";
import { eventually, useHooks } from "./support/use-hooks.ts";

const SECOND = 1000;
const debounced = { key: "k", debounce: "10 seconds" } as const;

describe.each([...ENGINES, ENCRYPTED_SQLITE])("a debounced hook on $name", (engine) => {
  const fixture = useHooks(engine);

  test("runs once it has been quiet for its delay, whatever a worker believed before", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    process.start();
    const first = await process.hooks.greet.trigger("ada", debounced);
    await fixture.clock.advanceAndSettle(6 * SECOND);
    const second = await process.hooks.greet.trigger("bob", debounced);

    expect(second).toEqual(first);
    await fixture.clock.advanceAndSettle(10 * SECOND - 1);
    expect(greet.payloads).toEqual([]);
    await fixture.clock.advanceAndSettle(1);
    await eventually(() => expect(greet.payloads).toEqual(["bob"]));
  });

  test("is postponed by a process other than the one whose worker waits for it", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    process.start();
    await process.hooks.greet.trigger("ada", debounced);
    await fixture.clock.advanceAndSettle(6 * SECOND);
    const another = fixture.process({ greet: greet.definition });
    await another.hooks.greet.trigger("bob", debounced);

    await fixture.clock.advanceAndSettle(10 * SECOND - 1);
    expect(greet.payloads).toEqual([]);
    await fixture.clock.advanceAndSettle(1);
    await eventually(() => expect(greet.payloads).toEqual(["bob"]));
  });

  test("is one for triggers that two processes make at once", async () => {
    const greet = recordCalls<string>();
    const processes = [fixture.process({ greet: greet.definition }), fixture.process({ greet: greet.definition })];
    for (const wave of [1, 2, 3]) {
      await fixture.clock.advanceAndSettle(3 * SECOND);
      await Promise.all(
        processes.flatMap(({ hooks }) => [
          hooks.greet.trigger("ada", debounced),
          hooks.greet.trigger("bob", debounced),
        ]),
      );
      const { hooks } = (await processes[0]?.durableHooks.list()) ?? { hooks: [] };
      expect(
        hooks.map(({ availableAt }) => Number(availableAt) - fixture.clock.now()),
        `wave ${wave}`,
      ).toEqual([10 * SECOND]);
    }
    await fixture.clock.advanceAndSettle(10 * SECOND);
    await Promise.all(processes.map((process) => process.drain()));

    expect(greet.payloads).toHaveLength(1);
  });

  test.each([
    ["after ten delays, if nothing else is said", "10 seconds", 100],
    ["after its maxWait", { delay: "10 seconds", maxWait: "25 seconds" }, 25],
    ["when all is quiet, if it has no maxWait", { delay: "10 seconds", maxWait: false }, 118],
  ] as const)("runs in a steady stream of triggers %s", async (_, debounce, expected) => {
    const greet = recordCalls<number>();
    const process = fixture.process({ greet: greet.definition });
    const begun = fixture.clock.now();
    for (let count = 0; count <= 12 && greet.calls.length === 0; count++) {
      await process.hooks.greet.trigger(count, { key: "k", debounce });
      await fixture.clock.advanceAndSettle(9 * SECOND);
      await process.drain();
    }
    await fixture.clock.advanceAndSettle(SECOND);
    await process.drain();

    expect(greet.calls).toHaveLength(1);
    expect(Number(greet.calls[0]?.hook.processAt) - begun).toBe(expected * SECOND);
  });

  test("is one for all triggers of a transaction, with the last payload and delay", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    await process.unitOfWork(async (uow) => {
      uow.triggerHook("greet", "ada", { key: "k", debounce: "1 minute" });
      uow.triggerHook("greet", "bob", { key: "k", debounce: "20 seconds" });
      uow.triggerHook("greet", "cleo", { key: "another", debounce: "1 minute" });
    });
    await fixture.clock.advanceAndSettle(20 * SECOND);
    await process.drain();

    expect(greet.payloads).toEqual(["bob"]);
  });

  test("runs once more, debounced too, when it is triggered while it runs", async () => {
    const gate = new Gate();
    const greet = recordCalls<string>((name) => name === "ada" && gate.opened);
    const process = fixture.process({ greet: greet.definition });
    await process.hooks.greet.trigger("ada", debounced);
    await fixture.clock.advanceAndSettle(10 * SECOND);
    const drained = process.drain();
    await eventually(() => expect(greet.calls).toHaveLength(1));
    await process.hooks.greet.trigger("bob", debounced);
    await process.passTime(6 * SECOND);
    await process.hooks.greet.trigger("cleo", debounced);
    gate.open();
    await drained;

    await fixture.clock.advanceAndSettle(10 * SECOND - 1);
    await process.drain();
    expect(greet.payloads).toEqual(["ada"]);
    await fixture.clock.advanceAndSettle(1);
    await process.drain();
    expect(greet.payloads).toEqual(["ada", "cleo"]);
    expect(new Set(greet.calls.map(({ hook }) => hook.idempotencyKey)).size).toBe(2);
  });

  test("takes the place of a retry, after its own delay and with fresh attempts", async () => {
    const greet = recordCalls<string>((name) => name === "ada" && Promise.reject(new Error("no")), {
      retries: { delay: SECOND, backoff: "constant" },
    });
    const process = fixture.process({ greet: greet.definition });
    await process.hooks.greet.trigger("ada", { key: "k" });
    await process.drain();
    await process.hooks.greet.trigger("bob", debounced);
    await fixture.clock.advanceAndSettle(10 * SECOND - 1);
    await process.drain();
    expect(greet.payloads).toEqual(["ada"]);
    await fixture.clock.advanceAndSettle(1);
    await process.drain();

    expect(greet.calls.map(({ payload, hook }) => [payload, hook.attempts])).toEqual([
      ["ada", 1],
      ["bob", 1],
    ]);
  });

  test("begins again when the one before it is a dead letter, and can be cancelled", async () => {
    const greet = recordCalls<string>(() => Promise.reject("no"), { retries: { limit: 0 } });
    const process = fixture.process({ greet: greet.definition });
    const dead = await process.hooks.greet.trigger("ada", debounced);
    await fixture.clock.advanceAndSettle(10 * SECOND);
    await process.drain();
    const { id } = await process.hooks.greet.trigger("bob", debounced);

    expect(await process.statusOf(dead.id)).toBe("failed");
    expect(await process.durableHooks.cancel({ name: "greet", key: "k" })).toEqual({ cancelled: [id], running: [] });
  });
});
