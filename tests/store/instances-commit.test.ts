import { describe, expect, it } from "vitest";
import type { ClaimedInstance } from "../../src/store/instance-records.ts";
import { ENGINES } from "../support/engines.ts";
import { COMPLETED, ERRORED, LEASE_MS, RELEASED, RUNNING, SLEEP_MS, useInstances } from "../support/use-instances.ts";

const SUPERSEDED = { result: "superseded" };

describe.each(ENGINES)("committing instances on $name", (engine) => {
  const test = useInstances(engine);
  const parked = (wakes: number) => ({ kind: "parked", dueAt: test.now + SLEEP_MS, wakes }) as const;
  const written = (known: { wakes?: number; paused?: boolean } = {}) => ({
    result: "written",
    at: test.now,
    wakes: 0,
    paused: false,
    ...known,
  });

  async function namesIn(instance: ClaimedInstance): Promise<string[]> {
    return (await test.history(instance.ref)).map(({ name }) => name);
  }

  describe("while it runs", () => {
    it("adds entries, and leaves the instance to its owner", async () => {
      const instance = await test.start({ id: "a" });
      const before = await test.find("a");
      test.clock.advance(100);

      expect(await test.commit(instance, RUNNING, { entries: [test.entry({ name: "one" })] })).toEqual(written());
      const entries = [test.entry({ name: "two" }), test.entry({ name: "three" })];
      expect(await test.commit(instance, RUNNING, { position: 2, entries })).toEqual(written());
      expect(await namesIn(instance)).toEqual(["one", "two", "three"]);
      expect(await test.find("a")).toEqual(before);
    });

    it("tells what came in meanwhile", async () => {
      const instance = await test.start({ id: "a" });
      await test.send("a", { eventId: "one" });
      await test.send("a", { eventId: "two" });
      expect(await test.commit(instance, RUNNING)).toEqual(written({ wakes: 2 }));
      await test.statements.pause(test.named("a"));
      expect(await test.commit(instance, RUNNING, { entries: [test.entry()] })).toEqual(
        written({ wakes: 2, paused: true }),
      );
    });

    it("goes on after the lease has run out, while nobody has taken it over", async () => {
      const instance = await test.start();
      test.clock.advance(LEASE_MS * 2);

      expect(await test.commit(instance, RUNNING, { entries: [test.entry()] })).toEqual(written());
    });
  });

  describe("when it parks", () => {
    it("is due at its time, for anybody", async () => {
      const instance = await test.start({ id: "a" });

      expect(await test.commit(instance, parked(0), { entries: [test.entry()] })).toEqual(written());
      expect(await test.find("a")).toMatchObject({ status: "waiting", availableAt: test.now + SLEEP_MS });
      expect(await namesIn(instance)).toEqual(["charge"]);
      expect(await test.claim()).toEqual([]);
      test.clock.advance(SLEEP_MS);
      expect(await test.claim()).toHaveLength(1);
    });

    it("is due at once, if something came in that its owner hasn't seen", async () => {
      const instance = await test.start({ id: "a" });
      await test.send("a");

      expect(await test.commit(instance, parked(0))).toEqual(written({ wakes: 1 }));
      expect(await test.find("a")).toMatchObject({ status: "waiting", availableAt: test.now });
      expect(await test.claim()).toMatchObject([{ id: "a", wakes: 1, dueAt: test.now }]);
    });

    it("sleeps, if its owner has seen what came in", async () => {
      const instance = await test.start({ id: "a" });
      await test.send("a");

      await test.commit(instance, parked(1));
      expect(await test.find("a")).toMatchObject({ availableAt: test.now + SLEEP_MS });
    });

    it("isn't due while it is paused, whatever came in", async () => {
      const [seen, unseen] = [await test.start({ id: "a" }), await test.start({ id: "b" })];
      await test.send("b");
      await test.statements.pause(test.named("a"));
      await test.statements.pause(test.named("b"));

      expect(await test.commit(seen, parked(0))).toEqual(written({ paused: true }));
      expect(await test.commit(unseen, parked(0))).toEqual(written({ wakes: 1, paused: true }));
      for (const id of ["a", "b"]) expect(await test.find(id)).toMatchObject({ status: "paused", availableAt: null });
    });

    it("has no owner any more", async () => {
      const instance = await test.start();
      await test.park(instance);

      const late = { position: 1, entries: [test.entry()] };
      expect(await test.commit(instance, RUNNING, late)).toEqual(SUPERSEDED);
      expect(await test.commit(instance, COMPLETED, late)).toEqual(SUPERSEDED);
      expect(await namesIn(instance)).toEqual([]);
      expect(await test.statements.leaseTokens([test.namespace])).toEqual([]);
    });
  });

  describe("when it ends", () => {
    it.each([
      ["complete", COMPLETED, { output: '{"sum":7}', error: null }],
      ["errored", ERRORED, { output: null, error: '{"message":"no"}' }],
    ])("is %s, with what came of it", async (status, outcome, result) => {
      const instance = await test.start({ id: "a" });
      const startedAt = test.now;
      test.clock.advance(100);

      expect(await test.commit(instance, outcome, { entries: [test.entry()] })).toEqual(written());
      const finished = { status, ...result, startedAt, finishedAt: test.now, availableAt: null };
      expect(await test.find("a")).toMatchObject(finished);
      expect(await namesIn(instance)).toEqual(["charge"]);
      test.clock.advance(LEASE_MS * 10);
      expect(await test.claim()).toEqual([]);
      expect(await test.commit(instance, RUNNING, { position: 2, entries: [test.entry()] })).toEqual(SUPERSEDED);
    });

    it("is finished also if it was to be paused, or something came in", async () => {
      const instance = await test.start({ id: "a" });
      await test.statements.pause(test.named("a"));
      await test.send("a");

      expect(await test.commit(instance, COMPLETED)).toEqual(written({ wakes: 1, paused: true }));
      expect(await test.find("a")).toMatchObject({ status: "complete", availableAt: null });
    });
  });

  describe("when it is given back", () => {
    it("is due at once, for anybody, without a recovery", async () => {
      const instance = await test.start({ id: "a" });
      test.clock.advance(100);

      expect(await test.commit(instance, RELEASED, { entries: [test.entry()] })).toEqual(written());
      expect(await test.find("a")).toMatchObject({ status: "waiting", availableAt: test.now });
      expect(await test.commit(instance, RUNNING, { position: 2 })).toEqual(SUPERSEDED);
      expect(await test.claim({ takeOver: false })).toMatchObject([{ id: "a", recoveries: 0 }]);
    });

    it("isn't due while it is paused", async () => {
      const instance = await test.start({ id: "a" });
      await test.statements.pause(test.named("a"));
      await test.commit(instance, RELEASED);

      expect(await test.find("a")).toMatchObject({ status: "paused", availableAt: null });
      test.clock.advance(LEASE_MS * 10);
      expect(await test.claim()).toEqual([]);
    });
  });

  it("refuses what isn't JSON, and then writes nothing of it", async () => {
    const instance = await test.start({ id: "a" });
    const entries = [test.entry(), test.entry({ value: "{" })];

    await expect(test.commit(instance, COMPLETED, { entries })).rejects.toMatchObject({ transient: false });
    await expect(test.commit(instance, { kind: "completed", output: "{" })).rejects.toMatchObject({ transient: false });
    await expect(test.commit(instance, { kind: "errored", error: "{" })).rejects.toMatchObject({ transient: false });
    expect(await namesIn(instance)).toEqual([]);
    expect(await test.find("a")).toMatchObject({ status: "running" });
  });

  it("gives the results in the order of a large batch", async () => {
    await test.createMany(200);
    const claimed = await test.claim({ limit: 200 });
    const shuffled = claimed.toSorted((a, b) => Number(a.ref.at(-1)) - Number(b.ref.at(-1)));
    const lost = new Set(claimed.filter((_, index) => index % 7 === 0).map(({ ref }) => ref));

    const results = await test.statements.commit(
      shuffled.map((instance) =>
        test.commitOf({ ...instance, lock: lost.has(instance.ref) ? "another" : instance.lock }, RUNNING, {
          entries: [test.entry({ name: instance.id })],
        }),
      ),
      { resent: false },
    );

    expect(results.map(({ result }) => result)).toEqual(
      shuffled.map(({ ref }) => (lost.has(ref) ? "superseded" : "written")),
    );
    const loaded = await test.loadAll(claimed);
    const ids = new Map(claimed.map(({ ref, id }) => [ref, id]));
    for (const { ref, entries } of loaded)
      expect(entries.map(({ name }) => name)).toEqual(lost.has(ref) ? [] : [ids.get(ref)]);
  });

  it("does nothing with nothing", async () => {
    expect(await test.statements.commit([])).toEqual([]);
  });
});
