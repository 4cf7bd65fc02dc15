import { afterEach, describe, expect, test, vi } from "vitest";
import { StoreError, ValueRefusedError } from "../../src/errors.ts";
import { triggerRelay } from "../../src/store/hooks/relay.ts";
import { ENGINES } from "../support/engines.ts";
import { PLAIN_TRIGGER } from "../support/use-store.ts";
import { recordCalls } from "./support/handlers.ts";
import { eventually, LEASE_MS, useHooks, withTime } from "./support/use-hooks.ts";

describe.each(ENGINES)("a hook whose database fails on $name", (engine) => {
  const fixture = useHooks(engine);

  afterEach(() => {
    vi.restoreAllMocks();
  });

  test("runs once when its outcome is refused for several leases, even if it may run only once", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    const refused = new StoreError("store.rejected", "permission denied for table hook", { transient: false });
    vi.spyOn(process.store.hooks.statements, "settle").mockRejectedValue(refused);
    process.start();
    await process.hooks.greet.trigger("ada", { retries: { limit: 0 } });
    await eventually(() => expect(greet.calls).toHaveLength(1));
    await process.passTime(3 * LEASE_MS);
    vi.restoreAllMocks();
    await withTime(fixture.clock, async () => expect((await process.durableHooks.list()).hooks).toEqual([]));

    expect(greet.calls).toHaveLength(1);
    expect(process.logs.messages("warn")).toContainEqual(
      expect.stringContaining("The outcome of a hook can't be written"),
    );
  });

  test("is tried again, and ends as a dead letter, when what it throws can't be stored", async () => {
    const greet = recordCalls<string>(() => {
      throw new Error("10 € are too much");
    });
    const process = fixture.process({ greet: greet.definition });
    const { statements } = process.store.hooks;
    const settle = statements.settle.bind(statements);
    vi.spyOn(statements, "settle").mockImplementation(async (settlements, sending) => {
      if (JSON.stringify(settlements).includes("€")) throw new ValueRefusedError("no such character in this encoding");
      return settle(settlements, sending);
    });
    process.start();
    const { id } = await process.hooks.greet.trigger("ada", { retries: { limit: 1, delay: 0 } });
    await withTime(fixture.clock, async () => expect(await process.statusOf(id)).toBe("failed"));

    expect(greet.calls.map(({ hook }) => hook.attempts)).toEqual([1, 2]);
    expect(await process.durableHooks.get(id)).toMatchObject({ error: { code: "value.refused" } });
  });

  test("is called soon, when the relay that carries its trigger met an error, and the relay doesn't count as lost", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    const { engine, hooks } = process.store;
    const away = new StoreError("store.rejected", "permission denied for table hook", { transient: false });
    const transaction = vi.spyOn(engine, "transaction").mockRejectedValueOnce(away);
    const begun = fixture.clock.monotonic();
    await hooks.insert([
      triggerRelay({ ...PLAIN_TRIGGER, namespace: fixture.namespace, id: "a", payload: '"ada"' }).hook,
    ]);
    process.start();
    await withTime(fixture.clock, () => expect(greet.payloads).toEqual(["ada"]));

    expect(transaction).toHaveBeenCalledTimes(2);
    expect(process.errors.map(({ error }) => error)).toEqual([away]);
    expect(fixture.clock.monotonic() - begun).toBeLessThan(LEASE_MS / 2);
  });
});
