import { describe, expect, test } from "vitest";
import { DRIVERS } from "../support/engines.ts";
import {
  COMPLETED,
  ERRORED,
  type InstancesUnderTest,
  LEASE_MS,
  RELEASED,
  RUNNING,
  SLEEP_MS,
  useInstances,
} from "../support/use-instances.ts";

type Claimed = Awaited<ReturnType<InstancesUnderTest["claimOne"]>>;

const SUPERSEDED = { result: "superseded" };

describe.each(DRIVERS)("committing instances on $name", (engine) => {
  const fixture = useInstances(engine);

  describe("while it runs", () => {
    test("adds entries, and leaves the instance to its owner", async () => {
      const instance = await fixture.start({ id: "a" });
      const before = await fixture.find("a");
      fixture.clock.advance(100);

      expect(await fixture.commit(instance, RUNNING, { entries: [fixture.entry({ name: "one" })] })).toEqual(
        fixture.written(),
      );
      const entries = [fixture.entry({ name: "two" }), fixture.entry({ name: "three" })];
      expect(await fixture.commit(instance, RUNNING, { position: 2, entries })).toEqual(fixture.written());
      expect(await fixture.namesIn(instance)).toEqual(["one", "two", "three"]);
      expect(await fixture.find("a")).toEqual(before);
    });

    test("tells what came in meanwhile", async () => {
      const instance = await fixture.start({ id: "a" });
      await fixture.send("a", { eventId: "one" });
      await fixture.send("a", { eventId: "two" });
      expect(await fixture.commit(instance, RUNNING)).toEqual(fixture.written({ wakes: 2 }));
      await fixture.statements.pause(fixture.named("a"));
      expect(await fixture.commit(instance, RUNNING, { entries: [fixture.entry()] })).toEqual(
        fixture.written({ wakes: 2, paused: true }),
      );
    });

    test("continues after the lease has ended, as long as no worker has taken it over", async () => {
      const instance = await fixture.start();
      fixture.clock.advance(LEASE_MS * 2);

      expect(await fixture.commit(instance, RUNNING, { entries: [fixture.entry()] })).toEqual(fixture.written());
    });
  });

  describe("when it parks", () => {
    test("is due at its time, for any worker", async () => {
      const instance = await fixture.start({ id: "a" });

      expect(await fixture.commit(instance, fixture.parked(0), { entries: [fixture.entry()] })).toEqual(
        fixture.written(),
      );
      expect(await fixture.find("a")).toMatchObject({ status: "waiting", availableAt: fixture.now + SLEEP_MS });
      expect(await fixture.namesIn(instance)).toEqual(["charge"]);
      expect(await fixture.claim()).toEqual([]);
      fixture.clock.advance(SLEEP_MS);
      expect(await fixture.claim()).toHaveLength(1);
    });

    test("is due at once, if something came in that its owner hasn't seen", async () => {
      const instance = await fixture.start({ id: "a" });
      await fixture.send("a");

      expect(await fixture.commit(instance, fixture.parked(0))).toEqual(fixture.written({ wakes: 1 }));
      expect(await fixture.find("a")).toMatchObject({ status: "waiting", availableAt: fixture.now });
      expect(await fixture.claim()).toMatchObject([{ id: "a", wakes: 1, dueAt: fixture.now }]);
    });

    test("sleeps, if its owner has seen what came in", async () => {
      const instance = await fixture.start({ id: "a" });
      await fixture.send("a");

      await fixture.commit(instance, fixture.parked(1));
      expect(await fixture.find("a")).toMatchObject({ availableAt: fixture.now + SLEEP_MS });
    });

    test("isn't due while it is paused, whatever came in", async () => {
      const [seen, unseen] = [await fixture.start({ id: "a" }), await fixture.start({ id: "b" })];
      await fixture.send("b");
      await fixture.statements.pause(fixture.named("a"));
      await fixture.statements.pause(fixture.named("b"));

      expect(await fixture.commit(seen, fixture.parked(0))).toEqual(fixture.written({ paused: true }));
      expect(await fixture.commit(unseen, fixture.parked(0))).toEqual(fixture.written({ wakes: 1, paused: true }));
      for (const id of ["a", "b"])
        expect(await fixture.find(id)).toMatchObject({ status: "paused", availableAt: null });
    });

    test("has no owner any more", async () => {
      const instance = await fixture.start();
      await fixture.park(instance);

      const late = { position: 1, entries: [fixture.entry()] };
      expect(await fixture.commit(instance, RUNNING, late)).toEqual(SUPERSEDED);
      expect(await fixture.commit(instance, COMPLETED, late)).toEqual(SUPERSEDED);
      expect(await fixture.namesIn(instance)).toEqual([]);
      expect(await fixture.statements.leaseTokens([fixture.namespace])).toEqual([]);
    });
  });

  describe("when it ends", () => {
    test.each([
      ["complete", COMPLETED, { output: '{"sum":7}', error: null }],
      ["errored", ERRORED, { output: null, error: '{"message":"no"}' }],
    ])("is %s, with what came of it", async (status, outcome, result) => {
      const instance = await fixture.start({ id: "a" });
      const startedAt = fixture.now;
      fixture.clock.advance(100);

      expect(await fixture.commit(instance, outcome, { entries: [fixture.entry()] })).toEqual(fixture.written());
      const finished = { status, ...result, startedAt, finishedAt: fixture.now, availableAt: null };
      expect(await fixture.find("a")).toMatchObject(finished);
      expect(await fixture.namesIn(instance)).toEqual(["charge"]);
      fixture.clock.advance(LEASE_MS * 10);
      expect(await fixture.claim()).toEqual([]);
      expect(await fixture.commit(instance, RUNNING, { position: 2, entries: [fixture.entry()] })).toEqual(SUPERSEDED);
    });

    test("is finished also if it was to be paused, or something came in", async () => {
      const instance = await fixture.start({ id: "a" });
      await fixture.statements.pause(fixture.named("a"));
      await fixture.send("a");

      expect(await fixture.commit(instance, COMPLETED)).toEqual(fixture.written({ wakes: 1, paused: true }));
      expect(await fixture.find("a")).toMatchObject({ status: "complete", availableAt: null });
    });
  });

  describe("when it is given back", () => {
    test("is due at once, for any worker, without a recovery", async () => {
      const instance = await fixture.start({ id: "a" });
      fixture.clock.advance(100);

      expect(await fixture.commit(instance, RELEASED, { entries: [fixture.entry()] })).toEqual(fixture.written());
      expect(await fixture.find("a")).toMatchObject({ status: "waiting", availableAt: fixture.now });
      expect(await fixture.commit(instance, RUNNING, { position: 2 })).toEqual(SUPERSEDED);
      expect(await fixture.claim({ takeOver: false })).toMatchObject([{ id: "a", recoveries: 0 }]);
    });

    test("isn't due while it is paused", async () => {
      const instance = await fixture.start({ id: "a" });
      await fixture.statements.pause(fixture.named("a"));
      await fixture.commit(instance, RELEASED);

      expect(await fixture.find("a")).toMatchObject({ status: "paused", availableAt: null });
      fixture.clock.advance(LEASE_MS * 10);
      expect(await fixture.claim()).toEqual([]);
    });
  });

  test("refuses what isn't JSON, and then writes nothing of it", async () => {
    const instance = await fixture.start({ id: "a" });
    const entries = [fixture.entry(), fixture.entry({ value: "{" })];

    await expect(fixture.commit(instance, COMPLETED, { entries })).rejects.toMatchObject({ transient: false });
    await expect(fixture.commit(instance, { kind: "completed", output: "{" })).rejects.toMatchObject({
      transient: false,
    });
    await expect(fixture.commit(instance, { kind: "errored", error: "{" })).rejects.toMatchObject({ transient: false });
    expect(await fixture.namesIn(instance)).toEqual([]);
    expect(await fixture.find("a")).toMatchObject({ status: "running" });
  });

  test("gives the results in the order of a large batch", async () => {
    await fixture.createMany(200);
    const claimed = await fixture.claim({ limit: 200 });
    const shuffled = claimed.toSorted((a, b) => Number(a.ref.at(-1)) - Number(b.ref.at(-1)));
    const lost = new Set(claimed.filter((_, index) => index % 7 === 0).map(({ ref }) => ref));

    const results = await fixture.statements.commit(
      shuffled.map((instance) =>
        fixture.commitOf({ ...instance, lock: lost.has(instance.ref) ? "another" : instance.lock }, RUNNING, {
          entries: [fixture.entry({ name: instance.id })],
        }),
      ),
      { resent: false },
    );

    expect(results.map(({ result }) => result)).toEqual(
      shuffled.map(({ ref }) => (lost.has(ref) ? "superseded" : "written")),
    );
    const loaded = await fixture.loadAll(claimed);
    const ids = new Map(claimed.map(({ ref, id }) => [ref, id]));
    for (const { ref, entries } of loaded)
      expect(entries.map(({ name }) => name)).toEqual(lost.has(ref) ? [] : [ids.get(ref)]);
  });

  test("tells each owner of a batch of steps what became of its own", async () => {
    await fixture.createMany(6);
    const claimed = await fixture.claim({ limit: 6 });
    const [going, woken, paused, ending, lost, endingLost] = claimed as [
      Claimed,
      Claimed,
      Claimed,
      Claimed,
      Claimed,
      Claimed,
    ];
    await fixture.send(woken.id);
    await fixture.send(woken.id, { eventId: "second" });
    await fixture.statements.pause(fixture.named(paused.id));
    const commit = (instance: Claimed, name: string, outcome = RUNNING) =>
      fixture.commitOf(instance, outcome, { entries: [fixture.entry({ name })] });

    const results = await fixture.statements.commit(
      [
        commit(ending, "last", COMPLETED),
        commit({ ...endingLost, lock: "another" }, "lost", COMPLETED),
        commit({ ...lost, lock: "another" }, "lost"),
        commit(paused, "paused"),
        commit(woken, "woken"),
        commit(going, "going"),
      ],
      { resent: false },
    );

    const written = fixture.written();
    expect(results).toEqual([
      written,
      SUPERSEDED,
      SUPERSEDED,
      fixture.written({ paused: true }),
      fixture.written({ wakes: 2 }),
      written,
    ]);
    const names = await Promise.all(claimed.map((instance) => fixture.namesIn(instance)));
    expect(names).toEqual([["going"], ["woken"], ["paused"], ["last"], [], []]);
    expect(await fixture.find(ending.id)).toMatchObject({ status: "complete", output: '{"sum":7}' });
    expect(await fixture.find(endingLost.id)).toMatchObject({ status: "running" });
  });

  test("tells those that wait for the end of one in a batch", async () => {
    await fixture.createMany(4);
    const claimed = await fixture.claim({ limit: 4 });
    const [waiting, ending, ...others] = claimed as [Claimed, Claimed, ...Claimed[]];
    const { ref, run } = waiting;
    const waiter = { ref, run, type: "child" };
    await fixture.statements.awaitEnds([{ instance: fixture.named(ending.id), waiter }]);

    const results = await fixture.statements.commit(
      [fixture.commitOf(waiting, RUNNING), ...[ending, ...others].map((one) => fixture.commitOf(one, COMPLETED))],
      { resent: false },
    );
    expect(results).toEqual([
      fixture.written(),
      { ...fixture.written(), woken: [ref] },
      ...others.map(() => fixture.written()),
    ]);
    expect(await fixture.commit(waiting, RUNNING)).toEqual(fixture.written({ wakes: 1 }));
  });

  test("refuses each of a batch that was sent by the owner of another run", async () => {
    await fixture.createMany(4);
    const claimed = await fixture.claim({ limit: 4 });
    const commits = claimed.map((instance, index) =>
      fixture.commitOf({ ...instance, run: index < 2 ? 1 : 2 }, RUNNING, { entries: [fixture.entry()] }),
    );

    const results = await fixture.statements.commit(commits, { resent: false });
    expect(results).toEqual([fixture.written(), fixture.written(), SUPERSEDED, SUPERSEDED]);
    const names = await Promise.all(claimed.map((instance) => fixture.namesIn(instance)));
    expect(names.map(({ length }) => length)).toEqual([1, 1, 0, 0]);
  });

  test("does nothing with nothing", async () => {
    expect(await fixture.statements.commit([])).toEqual([]);
  });
});
