import { describe, expect, test } from "vitest";
import type { HookDefinitions } from "../../src/hooks/define-hook.ts";
import type { HookListOptions } from "../../src/hooks/durable-hooks.ts";
import { ENGINES } from "../support/engines.ts";
import { forever, recordCalls } from "./support/handlers.ts";
import { eventually, LEASE_MS, type TestProcess, useHooks } from "./support/use-hooks.ts";

const MINUTE = 60_000;

describe.each(ENGINES)("operators on $name", (engine) => {
  const fixture = useHooks(engine);

  /** Names that start with "bad" fail, with "slow" never end. */
  function start(options: Parameters<typeof fixture.process>[1] = {}) {
    const behave = (name: string) => {
      if (name.startsWith("bad")) throw new Error("no");
      return name.startsWith("slow") ? forever() : undefined;
    };
    const greet = recordCalls<string>(behave, { retries: { limit: 0 } });
    const wave = recordCalls<string>(behave, { retries: { limit: 0 } });
    return fixture.process({ greet: greet.definition, wave: wave.definition }, options);
  }

  async function payloads<Hooks extends HookDefinitions>(process: TestProcess<Hooks>, options: HookListOptions) {
    return (await process.durableHooks.list(options)).hooks.map(({ payload }) => payload);
  }

  describe("see a hook", () => {
    test("that waits", async () => {
      const process = start();
      const processAt = new Date(fixture.clock.now() + MINUTE);
      const { id } = await process.hooks.greet.trigger("ada", { key: "k", processAt });

      expect(await process.durableHooks.get(id)).toEqual({
        id,
        namespace: fixture.namespace,
        name: "greet",
        key: "k",
        status: "pending",
        attempts: 0,
        payload: "ada",
        error: null,
        createdAt: new Date(fixture.clock.now()),
        lastAttemptAt: null,
        availableAt: processAt,
        finishedAt: null,
      });
    });

    test("that runs, with the end of its lease", async () => {
      const process = start();
      const { id } = await process.hooks.greet.trigger("slow");
      const createdAt = new Date(fixture.clock.now());
      await fixture.clock.advanceAndSettle(MINUTE);
      process.drainBehind();
      await eventually(async () => expect(await process.statusOf(id)).toBe("processing"));

      expect(await process.durableHooks.get(id)).toMatchObject({
        attempts: 1,
        createdAt,
        lastAttemptAt: new Date(fixture.clock.now()),
        availableAt: new Date(fixture.clock.now() + LEASE_MS),
        finishedAt: null,
      });
    });

    test("that has completed, where those are kept", async () => {
      const process = start({ durableHooks: { keepCompleted: "1 hour" } });
      const { id } = await process.hooks.greet.trigger("ada");
      await fixture.clock.advanceAndSettle(MINUTE);
      await process.drain();

      expect(await process.durableHooks.get(id)).toMatchObject({
        status: "completed",
        attempts: 1,
        payload: "ada",
        error: null,
        lastAttemptAt: new Date(fixture.clock.now()),
        availableAt: null,
        finishedAt: new Date(fixture.clock.now()),
      });
    });

    test("or nothing, where there is none", async () => {
      const process = start();
      await process.hooks.greet.trigger("ada");

      expect(await process.durableHooks.get("nobody")).toBeNull();
    });
  });

  describe("list hooks", () => {
    test("by status and name", async () => {
      const process = start({ durableHooks: { keepCompleted: "1 hour" } });
      for (const name of ["bad greeting", "slow greeting", "greeting"]) await process.hooks.greet.trigger(name);
      for (const name of ["bad wave", "slow wave", "wave"]) await process.hooks.wave.trigger(name);
      process.drainBehind();
      await eventually(async () => {
        expect(await process.durableHooks.statistics()).toMatchObject({ completed: 2, failed: 2, processing: 2 });
      });
      await process.hooks.greet.trigger("waiting", { processAt: fixture.clock.now() + MINUTE });

      expect(await payloads(process, { status: "failed" })).toEqual(["bad wave", "bad greeting"]);
      expect(await payloads(process, { status: "processing" })).toEqual(["slow wave", "slow greeting"]);
      expect(await payloads(process, { status: "completed" })).toEqual(["wave", "greeting"]);
      expect(await payloads(process, { status: "pending" })).toEqual(["waiting"]);
      expect(await payloads(process, { name: "wave" })).toEqual(["wave", "slow wave", "bad wave"]);
      expect(await payloads(process, { name: "wave", status: "failed" })).toEqual(["bad wave"]);
      expect(await payloads(process, { name: "wave", status: "pending" })).toEqual([]);
      expect(await payloads(process, {})).toHaveLength(7);
      expect((await process.durableHooks.deadLetters({ name: "greet" })).hooks).toMatchObject([
        { payload: "bad greeting", status: "failed" },
      ]);
    });

    test("in pages of fifty, the newest first, by default", async () => {
      const process = start();
      await process.unitOfWork(async (uow) => {
        for (let number = 0; number < 60; number++) uow.triggerHook("greet", String(number));
      });
      const first = await process.durableHooks.list();
      const second = await process.durableHooks.list({ cursor: first.nextCursor as string });

      expect(first.hooks.map(({ payload }) => Number(payload))).toEqual(Array.from({ length: 50 }, (_, i) => 59 - i));
      expect(second.hooks.map(({ payload }) => Number(payload))).toEqual(Array.from({ length: 10 }, (_, i) => 9 - i));
      expect(second.nextCursor).toBeNull();
    });

    test("without a next page when the last one is just full", async () => {
      const process = start();
      for (const name of ["ada", "bob"]) await process.hooks.greet.trigger(name);

      expect((await process.durableHooks.list({ limit: 2 })).nextCursor).toBeNull();
      expect((await process.durableHooks.list({ limit: 1 })).nextCursor).not.toBeNull();
    });

    test("with own ids among the others, each once", async () => {
      const process = start();
      for (const id of ["b", "ä", "A", "a", "Z", "😀", "-"]) await process.hooks.greet.trigger(id, { id });
      const seen: string[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page = await process.durableHooks.list({ limit: 2, order: "oldest", ...(cursor ? { cursor } : {}) });
        seen.push(...page.hooks.map(({ id }) => id));
        cursor = page.nextCursor;
      }

      expect(seen).toEqual(["-", "A", "Z", "a", "b", "ä", "😀"].map((id) => `greet/${id}`));
    });

    test.each(["newest", "oldest"] as const)(
      "page by page, %s first, while hooks come and go: none twice, none left out that was there all the time",
      async (order) => {
        const process = start();
        await process.unitOfWork(async (uow) => {
          for (let number = 0; number < 12; number++) {
            uow.triggerHook("greet", `stays ${number}`, { processAt: fixture.clock.now() + 60 * MINUTE });
            uow.triggerHook("greet", `goes ${number}`);
          }
        });
        const seen: unknown[] = [];
        for (let cursor: string | null | undefined; cursor !== null; ) {
          const page = await process.durableHooks.list({ limit: 5, order, ...(cursor ? { cursor } : {}) });
          seen.push(...page.hooks.map(({ payload }) => payload));
          cursor = page.nextCursor;
          for (const { id, payload } of page.hooks) {
            if (String(payload).startsWith("goes")) await process.durableHooks.cancel(id); // the cursor's own row too
          }
          await fixture.clock.advanceAndSettle(1);
          if (seen.length < 100) await process.hooks.greet.trigger(`comes ${seen.length}`);
          if (seen.length > 30) await process.drain();
        }

        expect(new Set(seen).size).toBe(seen.length);
        const stayed = seen.filter((payload) => String(payload).startsWith("stays"));
        const numbers = Array.from({ length: 12 }, (_, number) => `stays ${number}`);
        expect(stayed).toEqual(order === "oldest" ? numbers : numbers.toReversed());
      },
    );
  });

  test("see how deep the queue is, and how long the oldest due hook has been waiting", async () => {
    const process = start({ durableHooks: { keepCompleted: "1 hour" } });
    const worker = start({ durableHooks: { keepCompleted: "1 hour" }, clock: fixture.anotherClock() });
    expect(await process.durableHooks.statistics()).toEqual({
      pending: 0,
      due: 0,
      processing: 0,
      failed: 0,
      completed: 0,
      oldestDueMs: null,
    });
    for (const name of ["bad 1", "bad 2", "done", "slow"]) await process.hooks.greet.trigger(name);
    worker.drainBehind(); // its time stands still: it won't take what is due later
    await eventually(async () => {
      expect(await process.durableHooks.statistics()).toMatchObject({ completed: 1, failed: 2, processing: 1 });
    });
    const now = fixture.clock.now();
    await process.hooks.greet.trigger("later", { processAt: now + 60 * MINUTE });
    expect(await process.durableHooks.statistics()).toMatchObject({ pending: 1, due: 0, oldestDueMs: null });
    await process.hooks.wave.trigger("soon", { processAt: now + 1000 });
    await process.hooks.wave.trigger("sooner", { processAt: now + 500 });
    fixture.clock.advance(4000);

    expect(await process.durableHooks.statistics()).toEqual({
      pending: 3,
      due: 2,
      processing: 1,
      failed: 2,
      completed: 1,
      oldestDueMs: 3500,
    });
  });

  describe("find completed hooks", () => {
    test("gone at once by default", async () => {
      const process = start();
      const { id } = await process.hooks.greet.trigger("ada", { key: "k" });
      const other = await process.hooks.greet.trigger("bob");
      await process.drain();

      expect(await process.statusOf(id)).toBeNull();
      expect(await process.statusOf(other.id)).toBeNull();
    });

    test("for the length of their retention", async () => {
      const process = start({ durableHooks: { keepCompleted: "1 hour" } });
      const { id } = await process.hooks.greet.trigger("ada");
      await process.drain();
      const [source] = process.processor.sources;
      await fixture.clock.advanceAndSettle(60 * MINUTE - 1);
      await source?.purge();
      expect(await process.statusOf(id)).toBe("completed");
      await fixture.clock.advanceAndSettle(1);
      await source?.purge();

      expect(await process.statusOf(id)).toBeNull();
    });

    test("purged by a running dispatcher, without being asked", async () => {
      const process = start({ durableHooks: { keepCompleted: "10 minutes" } });
      process.start();
      const { id } = await process.hooks.greet.trigger("ada");
      await eventually(async () => expect(await process.statusOf(id)).toBe("completed"));
      await fixture.clock.advanceAndSettle(120 * MINUTE);

      await eventually(async () => expect(await process.statusOf(id)).toBeNull());
    });

    test("purged even if they are more than one statement deletes", async () => {
      const process = start({ durableHooks: { keepCompleted: "1 minute" }, concurrency: 1000 });
      await process.unitOfWork(async (uow) => {
        for (let number = 0; number < 2500; number++) uow.triggerHook("greet", String(number));
      });
      await process.drain();
      expect(await process.durableHooks.statistics()).toMatchObject({ completed: 2500 });
      await fixture.clock.advanceAndSettle(MINUTE);
      while (await process.processor.sources[0]?.purge());

      expect(await process.durableHooks.statistics()).toMatchObject({ completed: 0 });
    });

    test("purged, and nothing else with them", async () => {
      const process = start({ durableHooks: { keepCompleted: "1 minute" } });
      const processAt = new Date(fixture.clock.now() + 60 * MINUTE);
      await process.hooks.greet.trigger("later", { processAt });
      for (const name of ["ada", "bad", "slow"]) await process.hooks.greet.trigger(name);
      process.drainBehind();
      await eventually(async () => {
        expect(await process.durableHooks.statistics()).toMatchObject({ completed: 1, failed: 1, processing: 1 });
      });
      await fixture.clock.advanceAndSettle(MINUTE);
      await process.processor.sources[0]?.purge();

      expect(await payloads(process, { order: "oldest" })).toEqual(["later", "bad", "slow"]);
    });

    test("gone after an operator has discarded them", async () => {
      const process = start({ durableHooks: { keepCompleted: "1 hour" } });
      const { id } = await process.hooks.greet.trigger("ada");
      await process.drain();

      expect(await process.durableHooks.redrive(id)).toEqual([]);
      expect(await process.durableHooks.discard(id)).toEqual([id]);
      expect(await process.statusOf(id)).toBeNull();
    });
  });
});
