import { describe, expect, test, vi } from "vitest";
import { HealthCheck } from "../../src/monitoring/health.ts";
import { Gate, recordCalls } from "../hooks/support/handlers.ts";
import { eventually, useHooks } from "../hooks/support/use-hooks.ts";
import { ENGINES } from "../support/engines.ts";

const MINUTE_MS = 60_000;

describe.each(ENGINES)("a dispatcher on $name", (engine) => {
  const fixture = useHooks(engine);

  async function started() {
    const process = fixture.process({ greet: recordCalls<string>().definition });
    const health = new HealthCheck({ store: process.store, namespace: fixture.namespace, tables: null });
    process.start();
    await eventually(() => expect(process.store.rounds.state()?.lastAt).toEqual(expect.any(Number)));
    return { process, health };
  }

  /** In steps, so that answers arrive in between. */
  async function pass(milliseconds: number): Promise<void> {
    for (let passed = 0; passed < milliseconds; passed += 5000) await fixture.clock.advanceAndSettle(5000);
  }

  test("is healthy while it is idle", async () => {
    const { health } = await started();
    await pass(5 * MINUTE_MS);

    await eventually(async () => expect(await health.check()).toMatchObject({ ready: true }));
  });

  test("isn't healthy while a question gets no answer, and is again afterwards", async () => {
    const { process, health } = await started();
    const gate = new Gate();
    const nextWake = vi.spyOn(process.store.hooks.statements, "nextWake").mockReturnValue(gate.opened.then(() => null));
    await pass(3 * MINUTE_MS);
    expect(await health.check()).toMatchObject({
      ready: false,
      checks: { database: { ok: true }, dispatcher: { ok: false, lastRoundAt: expect.any(Date) } },
    });
    nextWake.mockRestore();
    gate.open();

    await eventually(async () => expect(await health.check()).toMatchObject({ ready: true }));
  });

  test("that has stopped doesn't count", async () => {
    const { process, health } = await started();
    await process.dispatcher.stopPolling();

    expect(await health.check()).toMatchObject({ ready: true, checks: { dispatcher: null } });
  });

  test("a database that doesn't answer is asked once, and isn't healthy after five seconds", async () => {
    const process = fixture.process({ greet: recordCalls<string>().definition });
    const health = new HealthCheck({ store: process.store, namespace: fixture.namespace, tables: null });
    const gate = new Gate();
    const asked = vi
      .spyOn(process.store.engine, "appliedMigrations")
      .mockReturnValue(gate.opened.then(() => process.store.engine.schemaMigrations.map((one) => ({ ...one }))));
    for (let probe = 0; probe < 2; probe++) {
      const checks = [health.check(), health.check()];
      await fixture.clock.advanceAndSettle(5000);
      for (const check of checks) expect(await check).toMatchObject({ checks: { database: { ok: false } } });
    }
    expect(asked).toHaveBeenCalledTimes(1);
    gate.open();
    await gate.opened;

    expect(await health.check()).toMatchObject({ ready: true });
  });
});
