import { describe, expect, test } from "vitest";
import type { EntryKind, NewEntry } from "../../src/store/instances/instance-records.ts";
import { DRIVERS } from "../support/engines.ts";
import { COMPLETED, ERRORED, LEASE_MS, RELEASED, RUNNING, SLEEP_MS, useInstances } from "../support/use-instances.ts";

describe.each(DRIVERS)("events of instances on $name", (engine) => {
  const fixture = useInstances(engine);

  async function eventsOf(ref: string, run = 1): Promise<[string, number][]> {
    const loaded = await fixture.load({ ref, run });
    return (loaded?.events ?? []).map(({ id, sequence }) => [id, sequence]);
  }

  test("make an instance due that sleeps", async () => {
    const instance = await fixture.start({ id: "a" });
    await fixture.park(instance);
    fixture.clock.advance(100);

    expect(await fixture.send("a")).toEqual({ result: "sent", ref: instance.ref });
    expect(await fixture.find("a")).toMatchObject({ status: "waiting", availableAt: fixture.now });
    expect(await fixture.claim()).toMatchObject([{ id: "a", wakes: 1, begun: true, recoveries: 0 }]);
  });

  test("don't cost an instance its turn that is due already", async () => {
    const instance = await fixture.start({ id: "a" });
    const dueAt = fixture.now + 10;
    await fixture.park(instance, { dueAt });
    fixture.clock.advance(100);
    await fixture.send("a");

    expect(await fixture.find("a")).toMatchObject({ availableAt: dueAt });
  });

  test("leave a fresh instance where it is in the queue", async () => {
    await fixture.create({ id: "a" });
    const created = fixture.now;
    fixture.clock.advance(100);
    const { ref } = await fixture.create({ id: "slept", lease: { lock: "parks", leaseMs: LEASE_MS } });
    await fixture.park({ ref, run: 1, lock: "parks", wakes: 0 }, { dueAt: fixture.now });
    await fixture.send("a");

    expect(await fixture.find("a")).toMatchObject({ status: "queued", availableAt: created });
    expect((await fixture.claim()).map(({ id }) => id)).toEqual(["slept", "a"]);
  });

  test("leave an instance to its owner that has one, and to its lease", async () => {
    const instance = await fixture.start({ id: "a" });
    const leasedUntil = fixture.now + LEASE_MS;
    fixture.clock.advance(100);
    await fixture.send("a");

    expect(await fixture.find("a")).toMatchObject({ status: "running", availableAt: leasedUntil });
    expect(await fixture.claim()).toEqual([]);
    expect(await fixture.commit(instance, RUNNING)).toMatchObject({ result: "written", wakes: 1 });
  });

  test("leave an instance in its lane that was given back after a takeover", async () => {
    await fixture.start({ id: "a" });
    fixture.clock.advance(LEASE_MS);
    await fixture.commit(await fixture.claimOne(), RELEASED);
    await fixture.send("a");

    expect(await fixture.claim({ takeOver: false })).toEqual([]);
    expect(await fixture.claim()).toMatchObject([{ id: "a", recoveries: 1, wakes: 1 }]);
  });

  test("are kept while an instance is paused, which stays so", async () => {
    const instance = await fixture.start({ id: "a" });
    await fixture.park(instance);
    await fixture.statements.pause(fixture.named("a"));

    expect(await fixture.send("a")).toMatchObject({ result: "sent" });
    expect(await fixture.find("a")).toMatchObject({ status: "paused", availableAt: null });
    expect(await eventsOf(instance.ref)).toEqual([["event-1", 1]]);
    await fixture.statements.resume(fixture.named("a"));
    expect(await fixture.claim()).toMatchObject([{ id: "a", wakes: 2 }]);
  });

  test("are stored once, whatever is sent under the same id", async () => {
    const { ref } = await fixture.create({ id: "a" });
    await fixture.send("a", { eventId: "e", type: "t", payload: "1" });
    const sentAt = fixture.now;
    await fixture.park(await fixture.claimOne());
    fixture.clock.advance(10);

    expect(await fixture.send("a", { eventId: "e", type: "u", payload: "2" })).toEqual({ result: "known", ref });
    expect(await fixture.load({ ref, run: 1 })).toMatchObject({
      wakes: 1,
      events: [{ id: "e", sequence: 1, type: "t", payload: "1", at: sentAt }],
    });
    expect(await fixture.find("a")).toMatchObject({ availableAt: sentAt + SLEEP_MS });
  });

  test("of the same id are each instance's own, and each run's", async () => {
    const { ref } = await fixture.create({ id: "a" });
    await fixture.create({ id: "b" });

    expect(await fixture.send("a")).toMatchObject({ result: "sent" });
    expect(await fixture.send("b")).toMatchObject({ result: "sent" });
    await fixture.statements.restart(fixture.named("a"));
    expect(await fixture.send("a")).toMatchObject({ result: "sent" });
    expect(await eventsOf(ref, 2)).toEqual([["event-1", 3]]);
  });

  test("are refused by what is finished, and by what isn't there", async () => {
    await fixture.commit(await fixture.start({ id: "completed" }), COMPLETED);
    await fixture.commit(await fixture.start({ id: "errored" }), ERRORED);
    await fixture.create({ id: "terminated" });
    await fixture.statements.terminate(fixture.named("terminated"));
    for (const id of ["completed", "errored", "terminated"]) {
      expect(await fixture.send(id)).toEqual({ result: "finished" });
      expect(await fixture.find(id)).toMatchObject({ availableAt: null });
    }

    expect(await fixture.send("never created")).toEqual({ result: "missing" });
    expect(await fixture.send("completed", { name: "refund" })).toEqual({ result: "missing" });
    expect(await fixture.send("completed", { namespace: "elsewhere" })).toEqual({ result: "missing" });
    expect(await fixture.claim()).toEqual([]);
  });

  test("are known even if the instance has finished since, because their sender was told that they are stored", async () => {
    const instance = await fixture.start({ id: "a" });
    await fixture.send("a");
    await fixture.commit(instance, COMPLETED);

    expect(await fixture.send("a")).toMatchObject({ result: "known" });
    expect(await fixture.send("a", { eventId: "another" })).toEqual({ result: "finished" });
  });

  describe("of which only so many may wait", () => {
    const send = (eventId: string, maxPending = 2) => fixture.send("a", { eventId, maxPending });

    test("are refused when so many do, and nothing is stored", async () => {
      const { ref } = await fixture.create({ id: "a" });
      expect([await send("one"), await send("two")]).toMatchObject([{ result: "sent" }, { result: "sent" }]);
      expect(await send("three")).toEqual({ result: "full" });
      expect(await fixture.send("a", { eventId: "three", maxPending: 3 })).toEqual({ result: "sent", ref });
      expect(await eventsOf(ref)).toEqual([
        ["one", 1],
        ["two", 2],
        ["three", 3],
      ]);
      expect(await fixture.load({ ref, run: 1 })).toMatchObject({ wakes: 3 });
    });

    test("are known if they are sent again", async () => {
      const { ref } = await fixture.create({ id: "a" });
      await send("one");
      await send("two");
      expect(await send("one")).toEqual({ result: "known", ref });
    });

    test("are taken again when some were received, or the instance was restarted", async () => {
      const claimed = await fixture.start({ id: "a" });
      await send("one");
      await send("two");
      const entry = { kind: "received", type: "waitForEvent", event: 1 } as const;
      await fixture.commit(claimed, { kind: "running" }, { entries: [fixture.entry(entry)] });
      expect(await send("three")).toMatchObject({ result: "sent" });
      expect(await send("four")).toEqual({ result: "full" });
      await fixture.statements.restart(fixture.named("a"));
      expect(await send("five")).toMatchObject({ result: "sent" });
      expect(await send("six")).toMatchObject({ result: "sent" });
      expect(await send("seven")).toEqual({ result: "full" });
    });

    test("are as many as fit of a batch, the first ones of each instance", async () => {
      const [a, b] = [await fixture.create({ id: "a" }), await fixture.create({ id: "b" })];
      await send("before");
      const batch = ["x", "before", "y", "z"].flatMap((eventId) =>
        ["a", "b"].map((id) => fixture.event(id, { eventId, maxPending: 3 })),
      );
      const results = (await fixture.statements.sendEvents(batch)).map(({ result }) => result);
      expect(results).toEqual(["sent", "sent", "known", "sent", "sent", "sent", "full", "full"]);
      expect((await eventsOf(a.ref)).map(([id]) => id)).toEqual(["before", "x", "y"]);
      expect((await eventsOf(b.ref)).map(([id]) => id)).toEqual(["x", "before", "y"]);
    });

    test("don't count what was woken otherwise", async () => {
      await fixture.create({ id: "a" });
      for (let times = 0; times < 3; times++) {
        await fixture.statements.pause(fixture.named("a"));
        await fixture.statements.resume(fixture.named("a"));
      }
      expect(await send("one")).toMatchObject({ result: "sent" });
      expect(await send("two")).toMatchObject({ result: "sent" });
      expect(await send("three")).toEqual({ result: "full" });
    });
  });

  describe("in a batch", () => {
    test("are numbered in its order, each instance for itself", async () => {
      const [a, b] = [await fixture.create({ id: "a" }), await fixture.create({ id: "b" })];
      await fixture.send("a", { eventId: "before" });
      const sent = (id: string, eventId: string) => fixture.event(id, { eventId });

      const results = await fixture.statements.sendEvents([
        sent("b", "z"),
        sent("a", "y"),
        sent("b", "m"),
        sent("a", "x"),
        sent("a", "before"),
        sent("b", "a"),
        sent("a", "w"),
      ]);

      expect(results.map(({ result }) => result)).toEqual(["sent", "sent", "sent", "sent", "known", "sent", "sent"]);
      expect(await eventsOf(a.ref)).toEqual([
        ["before", 1],
        ["y", 2],
        ["x", 3],
        ["w", 4],
      ]);
      expect(await eventsOf(b.ref)).toEqual([
        ["z", 1],
        ["m", 2],
        ["a", 3],
      ]);
      expect(await fixture.load({ ref: a.ref, run: 1 })).toMatchObject({ wakes: 4 });
    });

    test("keep the first of two of the same id", async () => {
      const { ref } = await fixture.create({ id: "a" });

      expect(
        await fixture.statements.sendEvents([
          fixture.event("a", { eventId: "e", payload: "1" }),
          fixture.event("a", { eventId: "e", payload: "2" }),
          fixture.event("a", { eventId: "f", payload: "3" }),
        ]),
      ).toEqual([
        { result: "sent", ref },
        { result: "known", ref },
        { result: "sent", ref },
      ]);
      const loaded = await fixture.load({ ref, run: 1 });
      expect(loaded).toMatchObject({ wakes: 2 });
      expect(loaded?.events.map(({ payload, sequence }) => [payload, sequence])).toEqual([
        ["1", 1],
        ["3", 2],
      ]);
    });

    test("are each for itself", async () => {
      await fixture.commit(await fixture.start({ id: "finished" }), COMPLETED);
      const { ref } = await fixture.create({ id: "a" });

      expect(
        await fixture.statements.sendEvents([fixture.event("missing"), fixture.event("a"), fixture.event("finished")]),
      ).toEqual([{ result: "missing" }, { result: "sent", ref }, { result: "finished" }]);
      expect(await fixture.statements.sendEvents([])).toEqual([]);
    });

    test("sent again are all known", async () => {
      const { ref } = await fixture.create({ id: "a" });
      const batch = ["b", "a"].map((eventId) => fixture.event("a", { eventId }));
      await fixture.statements.sendEvents(batch);

      expect(await fixture.statements.sendEvents(batch)).toEqual([
        { result: "known", ref },
        { result: "known", ref },
      ]);
      expect(await eventsOf(ref)).toEqual([
        ["b", 1],
        ["a", 2],
      ]);
    });

    test("are none of them stored if one isn't JSON", async () => {
      const { ref } = await fixture.create({ id: "a" });
      const batch = [fixture.event("a"), fixture.event("a", { eventId: "bad", payload: "{" })];

      await expect(fixture.statements.sendEvents(batch)).rejects.toMatchObject({ transient: false });
      expect(await fixture.load({ ref, run: 1 })).toMatchObject({ wakes: 0, events: [] });
    });
  });

  describe("of a token", () => {
    const token = { name: "approval", count: 1 };
    const wait = (kind: EntryKind, dueAt: number | null = null) =>
      fixture.entry({ kind, type: "token", name: "approval", attempt: 0, value: null, dueAt });

    /** Parks an instance with these entries, and sends the event of its token. */
    async function sendAfter(entries: readonly NewEntry[], passMs = 0) {
      const instance = await fixture.start({ id: "a" });
      await fixture.park(instance, { entries });
      fixture.clock.advance(passMs);
      return { only: { ref: instance.ref, run: 1 }, token } as const;
    }

    test("are stored once while its wait is open", async () => {
      const sending = await sendAfter([wait("waiting", fixture.now + 1000)], 1000);

      expect(await fixture.send("a", sending)).toMatchObject({ result: "sent" });
      fixture.clock.advance(1);
      expect(await fixture.send("a", sending)).toMatchObject({ result: "known" });
    });

    test("aren't stored after the deadline of its wait", async () => {
      const sending = await sendAfter([wait("waiting", fixture.now + 1000)], 1001);

      expect(await fixture.send("a", sending)).toEqual({ result: "over" });
      expect(await fixture.send("a", { only: sending.only })).toMatchObject({ result: "sent" });
    });

    test.each(["received", "timedOut", "abandoned"] as const)("aren't stored after its wait was %s", async (kind) => {
      const sending = await sendAfter([wait("waiting", fixture.now + 1000), wait(kind)]);

      expect(await fixture.send("a", sending)).toEqual({ result: "over" });
      expect(await fixture.send("a", { ...sending, token: { ...token, count: 2 } })).toMatchObject({ result: "sent" });
    });

    test("aren't stored while its run is rolled back", async () => {
      const sending = await sendAfter([wait("waiting", fixture.now + 1000)]);
      await fixture.statements.rollBack(fixture.named("a"));

      expect(await fixture.send("a", sending)).toEqual({ result: "over" });
    });

    test("aren't stored for another run, nor for one that has ended", async () => {
      const sending = await sendAfter([wait("waiting", fixture.now + 1000)]);

      expect(await fixture.send("a", { ...sending, only: { ...sending.only, run: 2 } })).toEqual({ result: "missing" });
      await fixture.statements.terminate(fixture.named("a"));
      expect(await fixture.send("a", sending)).toEqual({ result: "finished" });
    });

    test("keep no receipt when another has used the token", async () => {
      const sending = await sendAfter([wait("waiting", fixture.now + 1000)]);
      const receipt = { key: "mine", note: "", keepMs: 1000 };
      await fixture.send("a", sending);

      for (let times = 0; times < 2; times++) {
        expect(await fixture.send("a", { ...sending, receipt })).toMatchObject({ result: "known" });
      }
    });
  });
});
