import { hostname } from "node:os";
import { describe, expect, test, vi } from "vitest";
import { listWorkers } from "../../src/monitoring/list-workers.ts";
import { VERSION } from "../../src/version.ts";
import { Gate, recordCalls } from "../hooks/support/handlers.ts";
import { eventually, type TestProcess, useHooks } from "../hooks/support/use-hooks.ts";
import { ENGINES } from "../support/engines.ts";

const MINUTE_MS = 60_000;

describe.each(ENGINES)("a worker on $name", (engine) => {
  const fixture = useHooks(engine);

  function createProcess(clock = fixture.clock) {
    const greet = recordCalls<string>();
    return fixture.process({ greet: greet.definition }, { clock, concurrency: 7 });
  }

  const list = ({ store }: Pick<TestProcess<never>, "store">) => listWorkers(store, fixture.namespace);

  async function started(clock = fixture.clock) {
    const process = createProcess(clock);
    const before = (await list(process)).length;
    process.start();
    await clock.advanceAndSettle(1);
    await eventually(async () => expect(await list(process)).toHaveLength(before + 1));
    return process;
  }

  /** In steps, so that answers arrive in between. */
  async function pass(milliseconds: number): Promise<void> {
    for (let passed = 0; passed < milliseconds; passed += 5000) await fixture.clock.advanceAndSettle(5000);
  }

  test("says who it is, and what it runs", async () => {
    const process = await started();

    expect(await list(process)).toEqual([
      {
        id: expect.any(String),
        alive: true,
        host: hostname(),
        pid: globalThis.process.pid,
        version: VERSION,
        hooks: ["greet"],
        workflows: [],
        concurrency: { hooks: 7, workflows: 7 },
        startedAt: expect.any(Date),
        lastSeenAt: expect.any(Date),
      },
    ]);
  });

  test("owns its hooks by the name under which it is listed", async () => {
    const gate = new Gate();
    const slow = recordCalls<string>(() => gate.opened);
    const process = fixture.process({ greet: slow.definition });
    process.start();
    await eventually(async () => expect(await list(process)).toHaveLength(1));
    await process.hooks.greet.trigger("ada");
    await eventually(() => expect(slow.calls).toHaveLength(1));
    const [token = ""] = await process.store.hooks.statements.leaseTokens([fixture.namespace]);
    gate.open();

    expect(token.slice(0, token.lastIndexOf("#"))).toBe((await list(process))[0]?.id);
  });

  test("stays alive while it has nothing to do, and writes a few heartbeats", async () => {
    const process = await started();
    const beat = vi.spyOn(process.store.workers.statements, "beat");
    await pass(20 * MINUTE_MS);

    const [worker] = await list(process);
    expect(worker?.alive).toBe(true);
    expect(beat.mock.calls.length).toBeLessThanOrEqual(20 * 4);
    expect(process.errors).toEqual([]);
  });

  test("sends heartbeats of its own while its questions get no answer, at most one in twenty seconds", async () => {
    const gate = new Gate();
    const process = await started();
    const { workers, hooks } = process.store;
    const nextWake = vi.spyOn(hooks.statements, "nextWake").mockReturnValue(gate.opened.then(() => null));
    const beat = vi.spyOn(workers.statements, "beat");
    await pass(20 * MINUTE_MS);

    expect(await list(process)).toMatchObject([{ alive: true }]);
    expect(beat.mock.calls.length).toBeGreaterThanOrEqual(3);
    expect(beat.mock.calls.length).toBeLessThanOrEqual((20 * MINUTE_MS) / 20_000);
    nextWake.mockRestore();
    gate.open();
  });

  test("that is lost is listed as dead, and its row is deleted by a worker that starts a day later", async () => {
    const lost = await started(fixture.anotherClock());
    const process = await started();
    expect(await list(process)).toMatchObject([{ alive: true }, { alive: true }]);
    await pass(30 * MINUTE_MS);
    const dead = (await list(process)).filter(({ alive }) => !alive);
    expect(dead).toHaveLength(1);
    fixture.clock.advance(25 * 60 * MINUTE_MS);
    await process.dispatcher.stopPolling();
    const next = createProcess();
    next.start();

    await eventually(async () => {
      const workers = await list(next);
      expect(workers).toMatchObject([{ alive: true }]);
      expect(workers[0]?.id).not.toBe(dead[0]?.id);
    });
    await lost.dispatcher.stopPolling({ deadlineMs: 0 });
  });

  test("removes its row when it stops", async () => {
    const process = await started();
    await process.dispatcher.stopPolling();

    expect(await list(process)).toEqual([]);
  });

  test("that only drains isn't listed", async () => {
    const process = createProcess();
    await process.drain();

    expect(await list(process)).toEqual([]);
  });

  test("runs hooks although it can't write heartbeats, and reports that", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    vi.spyOn(process.store.workers.statements, "beat").mockRejectedValue(new Error("no such table"));
    process.start();
    await process.hooks.greet.trigger("ada");
    await eventually(() => expect(greet.payloads).toEqual(["ada"]));

    await eventually(() =>
      expect(process.errors).toMatchObject([{ error: { message: "no such table" }, attempt: null }]),
    );
    await process.dispatcher.stopPolling();
  });
});
