import { describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { forever, Gate, recordCalls } from "./support/handlers.ts";
import { eventually, LEASE_MS, useHooks } from "./support/use-hooks.ts";

describe.each(ENGINES)("hooks that were claimed together, on $name", (engine) => {
  const fixture = useHooks(engine);

  test("don't wait for the slowest of them", async () => {
    const gate = new Gate();
    const greet = recordCalls<string>((name) => (name === "slow" ? gate.opened : undefined));
    const process = fixture.process({ greet: greet.definition });
    const ids = new Map<string, string>();
    for (const name of ["ada", "slow", "bob"]) ids.set(name, (await process.hooks.greet.trigger(name)).id);
    const drained = process.drain();

    await eventually(async () => {
      expect(await process.statusOf(ids.get("ada") as string)).toBeNull();
      expect(await process.statusOf(ids.get("bob") as string)).toBeNull();
    });
    expect(await process.statusOf(ids.get("slow") as string)).toBe("processing");
    gate.open();
    await drained;
    expect(await process.statusOf(ids.get("slow") as string)).toBeNull();
  });

  test("free their slots one by one", async () => {
    const gate = new Gate();
    const greet = recordCalls<string>((name) => (name === "slow" ? gate.opened : undefined));
    const process = fixture.process({ greet: greet.definition }, { concurrency: 2 });
    for (const name of ["slow", "ada", "bob", "cleo"]) await process.hooks.greet.trigger(name);
    const drained = process.drain();
    await eventually(() => expect(greet.payloads).toEqual(["slow", "ada", "bob", "cleo"]));
    gate.open();
    await drained;
  });

  test("fail each for itself", async () => {
    const greet = recordCalls<string>((name) => name === "bad" && Promise.reject(new Error("no")), {
      retries: { limit: 0 },
    });
    const process = fixture.process({ greet: greet.definition });
    await process.unitOfWork(async (uow) => {
      for (const name of ["ada", "bad", "bob"]) uow.triggerHook("greet", name);
    });
    await process.drain();

    expect((await process.durableHooks.list()).hooks).toMatchObject([{ payload: "bad", status: "failed" }]);
  });

  test("are settled each for itself when one of them belongs to another process by now", async () => {
    const gate = new Gate();
    const greet = recordCalls<string>(() => gate.opened);
    const process = fixture.process({ greet: greet.definition }, { clock: fixture.anotherClock() });
    for (const name of ["ada", "bob", "cleo"]) await process.hooks.greet.trigger(name);
    const drained = process.drain();
    await eventually(() => expect(greet.calls).toHaveLength(3));
    await fixture.clock.advanceAndSettle(LEASE_MS);
    const taken = recordCalls<string>(() => forever());
    const other = fixture.process({ greet: taken.definition }, { concurrency: 1 });
    other.drainBehind();
    await eventually(() => expect(taken.calls).toHaveLength(1));
    gate.open();
    await drained;

    expect((await other.durableHooks.list()).hooks).toMatchObject([
      { id: taken.calls[0]?.hook.hookId, status: "processing", attempts: 2 },
    ]);
  });

  test("may have payloads of very different sizes", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    const large = "x".repeat(1_000_000);
    await process.unitOfWork(async (uow) => {
      for (const payload of ["ada", large, "bob", large, large, large, large]) uow.triggerHook("greet", payload);
    });
    await process.drain();

    expect(greet.payloads.map((payload) => payload.length).toSorted((left, right) => left - right)).toEqual([
      3, 3, 1_000_000, 1_000_000, 1_000_000, 1_000_000, 1_000_000,
    ]);
  });
});
