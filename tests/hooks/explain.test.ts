import { describe, expect, test } from "vitest";
import { defineHook } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { Gate, recordCalls } from "./support/handlers.ts";
import { STUCK_HOOKS, StuckHooks } from "./support/stuck-hooks.ts";
import { eventually, useHooks } from "./support/use-hooks.ts";

const MINUTE = 60_000;
/** Of each of eleven states, on each engine: over a thousand. */
const OF_EACH = 100;

describe.each(ENGINES)("explain of a hook on $name", (engine) => {
  const fixture = useHooks(engine);

  function fail(): never {
    throw new RangeError("secret");
  }

  test.each(STUCK_HOOKS)("says why a hook is stuck: $title", async (state) => {
    const hooks = new StuckHooks();
    const process = fixture.process(hooks.definitions, { concurrency: OF_EACH });
    if (state.attended !== false) process.start();
    if (state.strangers) fixture.process({ other: recordCalls<string>(() => {}).definition }).start();
    const now = fixture.clock.now();
    const ids: string[] = [];
    for (let number = 1; number <= OF_EACH; number++) {
      const options = state.options?.(number, now) ?? {};
      ids.push((await process.hooks[state.hook].trigger(number, options)).id);
    }
    for (const [index, id] of ids.entries()) {
      const expected = state.expected(index + 1, now);
      await eventually(async () => {
        const { reason, sentence } = await process.durableHooks.explain(id);
        expect(reason).toMatchObject(expected);
        expect(sentence).not.toContain("secret");
      });
    }
    hooks.gate.open();
  });

  test("says behind whom it stands in line, and that it is due once its turn comes", async () => {
    const gates = [new Gate(), new Gate(), new Gate()];
    const greet = defineHook({ concurrency: { limit: 1 } }, (number: number) => gates[number]?.opened);
    const process = fixture.process({ greet });
    const ids = [];
    process.start();
    for (const number of [0, 1, 2]) ids.push((await process.hooks.greet.trigger(number)).id);
    const [first, second, third] = ids as [string, string, string];
    const reasonOf = async (id: string) => (await process.durableHooks.explain(id)).reason;
    const key = `$hook/${fixture.namespace}/greet`;
    await eventually(async () => expect(await reasonOf(first)).toMatchObject({ reason: "running" }));
    expect(await reasonOf(second)).toEqual({ reason: "inLine", key, limit: 1, ahead: 0, held: 1 });
    expect(await reasonOf(third)).toEqual({ reason: "inLine", key, limit: 1, ahead: 1, held: 1 });
    expect((await process.durableHooks.explain(third)).sentence).toBe(
      `The hook is in line behind 1 for the key "${key}": 1 of 1 slots are held.`,
    );
    const operator = fixture.process({ other: recordCalls<string>(() => {}).definition }); // it lacks the hook's code
    expect((await operator.durableHooks.explain(third)).reason).toMatchObject({
      reason: "inLine",
      limit: null,
      ahead: 1,
    });
    for (const gate of gates) gate.open();
    await eventually(async () => {
      await fixture.clock.advanceAndSettle(10);
      expect((await process.durableHooks.statistics()).pending).toBe(0);
    });
  });

  test("says when the rate of its line allows the next start", async () => {
    const greet = defineHook({ rateLimit: { limit: 2, period: "1 hour" } }, async (_name: string) => {});
    const process = fixture.process({ greet });
    const now = fixture.clock.now();
    const ids: string[] = [];
    for (const name of ["a", "b", "c", "d"]) ids.push((await process.hooks.greet.trigger(name, { id: name })).id);
    process.start();
    const until = new Date(now + 60 * MINUTE);
    for (const [ahead, id] of ids.slice(2).entries()) {
      const key = `$hook/${fixture.namespace}/greet`;
      const expected = { reason: "rateLimited", key, limit: 2, ahead, until };
      await eventually(async () => expect((await process.durableHooks.explain(id)).reason).toEqual(expected));
    }
  });

  test("says when it is due, when it is retried and after which error, and that it failed for good", async () => {
    const greet = recordCalls<string>(fail, { retries: { delay: "1 minute", backoff: "constant" } });
    const process = fixture.process({ greet: greet.definition });
    const now = fixture.clock.now();
    const explain = (id: string) => process.durableHooks.explain(id);
    const { id: later } = await process.hooks.greet.trigger("ada", { processAt: new Date(now + MINUTE) });
    expect((await explain(later)).reason).toEqual({ reason: "scheduled", until: new Date(now + MINUTE) });

    const { id } = await process.hooks.greet.trigger("ada", { retries: { limit: 1 } });
    expect(await explain(id)).toEqual({
      reason: { reason: "noDispatcher" },
      sentence: "The hook is due, but no worker is alive: no process runs a dispatcher.",
      others: [],
    });
    await process.drain();
    const retried = await explain(id);
    expect(retried.reason).toMatchObject({
      reason: "retrying",
      step: null,
      attempt: 2,
      of: 2,
      due: new Date(now + MINUTE),
      error: { name: "RangeError", message: "secret" },
    });
    expect(retried.sentence).toContain("attempt 2 of 2");
    expect(retried.sentence).not.toContain("secret");
    fixture.clock.advance(MINUTE);
    await process.drain();
    expect((await explain(id)).reason).toMatchObject({
      reason: "finished",
      status: "failed",
      error: { message: "secret" },
    });
  });

  test("names the worker that holds it, or says that none runs its name", async () => {
    const gate = new Gate();
    const greet = recordCalls<string>(() => gate.opened);
    const other = recordCalls<string>(() => {});
    const process = fixture.process({ greet: greet.definition });
    const { id } = await process.hooks.greet.trigger("ada");
    const stranger = fixture.process({ other: other.definition });
    stranger.start();
    await eventually(async () =>
      expect((await process.durableHooks.explain(id)).reason).toEqual({
        reason: "noWorker",
        name: "greet",
        workers: 1,
      }),
    );
    process.start();
    await eventually(async () =>
      expect((await process.durableHooks.explain(id)).reason).toMatchObject({
        reason: "running",
        leaseUntil: expect.any(Date),
        step: null,
      }),
    );
    gate.open();
  });

  test("doesn't say that no worker runs a hook where a worker has more hooks than it lists", async () => {
    const gate = new Gate();
    const definition = defineHook({}, () => gate.opened);
    const hooks = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`hook-${1000 + index}`, definition]));
    const process = fixture.process(hooks, { concurrency: 1 });
    process.start();
    const running = await process.hooks["hook-1000"]?.trigger(undefined as never);
    await eventually(async () => expect(await process.statusOf(running?.id ?? "")).toBe("processing"));
    const waiting = await process.hooks["hook-2000"]?.trigger(undefined as never);
    await eventually(async () => expect(await process.store.workers.list(fixture.namespace)).toHaveLength(1));
    expect((await process.durableHooks.explain(waiting?.id ?? "")).reason).toMatchObject({ reason: "due" });
    gate.open();
  });

  test("refuses a hook that isn't there", async () => {
    const process = fixture.process({ greet: recordCalls<string>(() => {}).definition });
    await expect(process.durableHooks.explain("none")).rejects.toMatchObject({ code: "hook.not_found" });
  });
});
