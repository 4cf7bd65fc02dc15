import { describe, expect, test } from "vitest";
import { ENCRYPTED_SQLITE, ENGINES } from "../support/engines.ts";
import { recordCalls } from "./support/handlers.ts";
import { eventually, useHooks } from "./support/use-hooks.ts";

describe.each([...ENGINES, ENCRYPTED_SQLITE])("dead letters on $name", (engine) => {
  const fixture = useHooks(engine);

  /** Names that start with "bad" fail until the test says otherwise. */
  function failing(limit = 0) {
    const state = { broken: true };
    const greet = recordCalls<string>(
      (name, hook) => {
        if (state.broken && name.startsWith("bad")) throw new Error(`no ${name} ${hook.attempts}`);
      },
      { retries: { limit, delay: 0 } },
    );
    const repair = () => {
      state.broken = false;
    };
    return { greet, repair };
  }

  test("are hooks that have failed in every attempt, kept with the last error", async () => {
    const { greet } = failing(2);
    const process = fixture.process({ greet: greet.definition });
    const { id } = await process.hooks.greet.trigger("bad ada");
    await process.hooks.greet.trigger("bob");
    await process.drain();

    const { hooks, nextCursor } = await process.durableHooks.deadLetters();
    expect(nextCursor).toBeNull();
    expect(hooks).toEqual([
      {
        id,
        namespace: fixture.namespace,
        name: "greet",
        key: null,
        status: "failed",
        attempts: 3,
        payload: "bad ada",
        error: expect.objectContaining({ name: "Error", message: "no bad ada 3" }),
        createdAt: new Date(fixture.clock.now()),
        lastAttemptAt: new Date(fixture.clock.now()),
        availableAt: null,
        finishedAt: new Date(fixture.clock.now()),
      },
    ]);
    expect(hooks[0]?.error).toBeInstanceOf(Error);
  });

  test("are kept until an operator decides, and wake no worker", async () => {
    const { greet } = failing();
    const process = fixture.process({ greet: greet.definition }, { durableHooks: { keepCompleted: "1 second" } });
    const { id } = await process.hooks.greet.trigger("bad ada");
    await process.drain();
    await fixture.clock.advanceAndSettle(10 * 365 * 86_400_000);
    await process.processor.sources[0]?.purge();
    await process.drain();

    expect(await process.statusOf(id)).toBe("failed");
    expect(await process.processor.getNextWakeAt()).toBeNull();
    expect(greet.calls).toHaveLength(1);
  });

  test("are redriven with fresh attempts and the same idempotency key", async () => {
    const { greet } = failing(1);
    const process = fixture.process({ greet: greet.definition });
    const { id } = await process.hooks.greet.trigger("bad ada");
    await process.drain();
    await fixture.clock.advanceAndSettle(1000);

    expect(await process.durableHooks.redrive(id)).toEqual([id]);
    expect(await process.durableHooks.get(id)).toMatchObject({ status: "pending", attempts: 0, finishedAt: null });
    await process.drain();

    expect(greet.calls.map(({ hook }) => hook.attempts)).toEqual([1, 2, 1, 2]);
    expect(new Set(greet.calls.map(({ hook }) => hook.idempotencyKey)).size).toBe(1);
    expect(await process.statusOf(id)).toBe("failed");
  });

  test("are gone when a redrive succeeds", async () => {
    const { greet, repair } = failing();
    const process = fixture.process({ greet: greet.definition });
    const { id } = await process.hooks.greet.trigger("bad ada");
    await process.drain();
    repair();
    await process.durableHooks.redrive([id]);
    await process.drain();

    expect(greet.payloads).toEqual(["bad ada", "bad ada"]);
    expect(await process.statusOf(id)).toBeNull();
  });

  test("are redriven at once where a dispatcher runs", async () => {
    const { greet, repair } = failing();
    const process = fixture.process({ greet: greet.definition });
    process.start();
    const { id } = await process.hooks.greet.trigger("bad ada");
    await eventually(async () => expect(await process.statusOf(id)).toBe("failed"));
    repair();
    await process.durableHooks.redrive(id);

    await eventually(async () => expect(await process.statusOf(id)).toBeNull());
  });

  test("are redriven and discarded by their ids, and nothing else is", async () => {
    const { greet } = failing();
    const process = fixture.process({ greet: greet.definition });
    const ids: string[] = [];
    for (const name of ["bad ada", "bad bob", "bad cleo"]) ids.push((await process.hooks.greet.trigger(name)).id);
    await process.drain();
    const { id: waiting } = await process.hooks.greet.trigger("dora");
    const [ada, bob, cleo] = ids as [string, string, string];

    expect(await process.durableHooks.redrive([ada, waiting, "nobody"])).toEqual([ada]);
    expect(await process.durableHooks.discard([bob, waiting, ada, "nobody"])).toEqual([bob]);
    expect(await process.statusOf(ada)).toBe("pending");
    expect(await process.statusOf(bob)).toBeNull();
    expect(await process.statusOf(cleo)).toBe("failed");
    expect(await process.statusOf(waiting)).toBe("pending");
    expect(await process.durableHooks.redrive([])).toEqual([]);
    expect(await process.durableHooks.discard([])).toEqual([]);
  });

  test("are left as they are by a redrive while a newer hook holds their key", async () => {
    const { greet, repair } = failing();
    const process = fixture.process({ greet: greet.definition });
    const { id } = await process.hooks.greet.trigger("bad ada", { key: "k" });
    await process.drain();
    const newer = await process.hooks.greet.trigger("bob", { key: "k" });

    expect(await process.durableHooks.redrive(id)).toEqual([]);
    expect(await process.statusOf(id)).toBe("failed");
    repair();
    await process.drain();
    expect(await process.statusOf(newer.id)).toBeNull();
    expect(await process.durableHooks.redrive(id)).toEqual([id]);
    await process.drain();
    expect(greet.payloads).toEqual(["bad ada", "bob", "bad ada"]);
  });

  test("of one key are redriven one at a time", async () => {
    const { greet } = failing();
    const process = fixture.process({ greet: greet.definition });
    const ids: string[] = [];
    for (const name of ["bad ada", "bad bob"]) {
      ids.push((await process.hooks.greet.trigger(name, { key: "k" })).id);
      await process.drain();
    }

    expect(await process.durableHooks.redrive(ids)).toHaveLength(1);
    expect(await process.durableHooks.statistics()).toMatchObject({ pending: 1, failed: 1 });
  });

  test("hold their key again after a redrive", async () => {
    const { greet, repair } = failing();
    const process = fixture.process({ greet: greet.definition });
    const { id } = await process.hooks.greet.trigger("bad ada", { key: "k" });
    await process.drain();
    repair();
    await process.durableHooks.redrive(id);

    expect(await process.hooks.greet.trigger("bob", { key: "k" })).toEqual({ id });
    await process.drain();
    expect(greet.payloads).toEqual(["bad ada", "bob"]);
  });
});
