import { describe, expect, it } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { COMPLETED, ERRORED, LEASE_MS, RELEASED, RUNNING, SLEEP_MS, useInstances } from "../support/use-instances.ts";

describe.each(ENGINES)("events of instances on $name", (engine) => {
  const test = useInstances(engine);

  async function eventsOf(ref: string, run = 1): Promise<[string, number][]> {
    const loaded = await test.load({ ref, run });
    return (loaded?.events ?? []).map(({ id, sequence }) => [id, sequence]);
  }

  it("make an instance due that sleeps", async () => {
    const instance = await test.start({ id: "a" });
    await test.park(instance);
    test.clock.advance(100);

    expect(await test.send("a")).toEqual({ result: "sent", ref: instance.ref });
    expect(await test.find("a")).toMatchObject({ status: "waiting", availableAt: test.now });
    expect(await test.claim()).toMatchObject([{ id: "a", wakes: 1, begun: true, recoveries: 0 }]);
  });

  it("don't cost an instance its turn that is due already", async () => {
    const instance = await test.start({ id: "a" });
    const dueAt = test.now + 10;
    await test.park(instance, { dueAt });
    test.clock.advance(100);
    await test.send("a");

    expect(await test.find("a")).toMatchObject({ availableAt: dueAt });
  });

  it("leave a fresh instance where it is in the queue", async () => {
    await test.create({ id: "a" });
    const created = test.now;
    test.clock.advance(100);
    const { ref } = await test.create({ id: "slept", lease: { lock: "parks", leaseMs: LEASE_MS } });
    await test.park({ ref, run: 1, lock: "parks", wakes: 0 }, { dueAt: test.now });
    await test.send("a");

    expect(await test.find("a")).toMatchObject({ status: "queued", availableAt: created });
    expect((await test.claim()).map(({ id }) => id)).toEqual(["slept", "a"]);
  });

  it("leave an instance to its owner that has one, and to its lease", async () => {
    const instance = await test.start({ id: "a" });
    const leasedUntil = test.now + LEASE_MS;
    test.clock.advance(100);
    await test.send("a");

    expect(await test.find("a")).toMatchObject({ status: "running", availableAt: leasedUntil });
    expect(await test.claim()).toEqual([]);
    expect(await test.commit(instance, RUNNING)).toMatchObject({ result: "written", wakes: 1 });
  });

  it("leave an instance in its lane that was given back after a takeover", async () => {
    await test.start({ id: "a" });
    test.clock.advance(LEASE_MS);
    await test.commit(await test.claimOne(), RELEASED);
    await test.send("a");

    expect(await test.claim({ takeOver: false })).toEqual([]);
    expect(await test.claim()).toMatchObject([{ id: "a", recoveries: 1, wakes: 1 }]);
  });

  it("are kept while an instance is paused, which stays so", async () => {
    const instance = await test.start({ id: "a" });
    await test.park(instance);
    await test.statements.pause(test.named("a"));

    expect(await test.send("a")).toMatchObject({ result: "sent" });
    expect(await test.find("a")).toMatchObject({ status: "paused", availableAt: null });
    expect(await eventsOf(instance.ref)).toEqual([["event-1", 1]]);
    await test.statements.resume(test.named("a"));
    expect(await test.claim()).toMatchObject([{ id: "a", wakes: 2 }]);
  });

  it("are stored once, whatever is sent under the same id", async () => {
    const { ref } = await test.create({ id: "a" });
    await test.send("a", { eventId: "e", type: "t", payload: "1" });
    const sentAt = test.now;
    await test.park(await test.claimOne());
    test.clock.advance(10);

    expect(await test.send("a", { eventId: "e", type: "u", payload: "2" })).toEqual({ result: "known", ref });
    expect(await test.load({ ref, run: 1 })).toMatchObject({
      wakes: 1,
      events: [{ id: "e", sequence: 1, type: "t", payload: "1", at: sentAt }],
    });
    expect(await test.find("a")).toMatchObject({ availableAt: sentAt + SLEEP_MS });
  });

  it("of the same id are each instance's own, and each run's", async () => {
    const { ref } = await test.create({ id: "a" });
    await test.create({ id: "b" });

    expect(await test.send("a")).toMatchObject({ result: "sent" });
    expect(await test.send("b")).toMatchObject({ result: "sent" });
    await test.statements.restart(test.named("a"));
    expect(await test.send("a")).toMatchObject({ result: "sent" });
    expect(await eventsOf(ref, 2)).toEqual([["event-1", 3]]);
  });

  it("are refused by what is finished, and by what isn't there", async () => {
    await test.commit(await test.start({ id: "completed" }), COMPLETED);
    await test.commit(await test.start({ id: "errored" }), ERRORED);
    await test.create({ id: "terminated" });
    await test.statements.terminate(test.named("terminated"));
    for (const id of ["completed", "errored", "terminated"]) {
      expect(await test.send(id)).toEqual({ result: "finished" });
      expect(await test.find(id)).toMatchObject({ availableAt: null });
    }

    expect(await test.send("never created")).toEqual({ result: "missing" });
    expect(await test.send("completed", { name: "refund" })).toEqual({ result: "missing" });
    expect(await test.send("completed", { namespace: "elsewhere" })).toEqual({ result: "missing" });
    expect(await test.claim()).toEqual([]);
  });

  it("are known also if the instance has finished since: who sends one again was told that it is stored", async () => {
    const instance = await test.start({ id: "a" });
    await test.send("a");
    await test.commit(instance, COMPLETED);

    expect(await test.send("a")).toMatchObject({ result: "known" });
    expect(await test.send("a", { eventId: "another" })).toEqual({ result: "finished" });
  });

  describe("of which only so many may wait", () => {
    const send = (eventId: string, maxPending = 2) => test.send("a", { eventId, maxPending });

    it("are refused when so many do, and nothing is stored", async () => {
      const { ref } = await test.create({ id: "a" });
      expect([await send("one"), await send("two")]).toMatchObject([{ result: "sent" }, { result: "sent" }]);
      expect(await send("three")).toEqual({ result: "full" });
      expect(await test.send("a", { eventId: "three", maxPending: 3 })).toEqual({ result: "sent", ref });
      expect(await eventsOf(ref)).toEqual([
        ["one", 1],
        ["two", 2],
        ["three", 3],
      ]);
      expect(await test.load({ ref, run: 1 })).toMatchObject({ wakes: 3 });
    });

    it("are known if they are sent again", async () => {
      const { ref } = await test.create({ id: "a" });
      await send("one");
      await send("two");
      expect(await send("one")).toEqual({ result: "known", ref });
    });

    it("are taken again when some were received, or the instance was restarted", async () => {
      const claimed = await test.start({ id: "a" });
      await send("one");
      await send("two");
      const entry = { kind: "received", type: "waitForEvent", event: 1 } as const;
      await test.commit(claimed, { kind: "running" }, { entries: [test.entry(entry)] });
      expect(await send("three")).toMatchObject({ result: "sent" });
      expect(await send("four")).toEqual({ result: "full" });
      await test.statements.restart(test.named("a"));
      expect(await send("five")).toMatchObject({ result: "sent" });
      expect(await send("six")).toMatchObject({ result: "sent" });
      expect(await send("seven")).toEqual({ result: "full" });
    });

    it("are as many as fit of a batch, the first ones of each instance", async () => {
      const [a, b] = [await test.create({ id: "a" }), await test.create({ id: "b" })];
      await send("before");
      const batch = ["x", "before", "y", "z"].flatMap((eventId) =>
        ["a", "b"].map((id) => test.event(id, { eventId, maxPending: 3 })),
      );
      const results = (await test.statements.sendEvents(batch)).map(({ result }) => result);
      expect(results).toEqual(["sent", "sent", "known", "sent", "sent", "sent", "full", "full"]);
      expect((await eventsOf(a.ref)).map(([id]) => id)).toEqual(["before", "x", "y"]);
      expect((await eventsOf(b.ref)).map(([id]) => id)).toEqual(["x", "before", "y"]);
    });

    it("don't count what was woken otherwise", async () => {
      await test.create({ id: "a" });
      for (let times = 0; times < 3; times++) {
        await test.statements.pause(test.named("a"));
        await test.statements.resume(test.named("a"));
      }
      expect(await send("one")).toMatchObject({ result: "sent" });
      expect(await send("two")).toMatchObject({ result: "sent" });
      expect(await send("three")).toEqual({ result: "full" });
    });
  });

  describe("in a batch", () => {
    it("are numbered in its order, each instance for itself", async () => {
      const [a, b] = [await test.create({ id: "a" }), await test.create({ id: "b" })];
      await test.send("a", { eventId: "before" });
      const sent = (id: string, eventId: string) => test.event(id, { eventId });

      const results = await test.statements.sendEvents([
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
      expect(await test.load({ ref: a.ref, run: 1 })).toMatchObject({ wakes: 4 });
    });

    it("keep the first of two of the same id", async () => {
      const { ref } = await test.create({ id: "a" });

      expect(
        await test.statements.sendEvents([
          test.event("a", { eventId: "e", payload: "1" }),
          test.event("a", { eventId: "e", payload: "2" }),
          test.event("a", { eventId: "f", payload: "3" }),
        ]),
      ).toEqual([
        { result: "sent", ref },
        { result: "known", ref },
        { result: "sent", ref },
      ]);
      const loaded = await test.load({ ref, run: 1 });
      expect(loaded).toMatchObject({ wakes: 2 });
      expect(loaded?.events.map(({ payload, sequence }) => [payload, sequence])).toEqual([
        ["1", 1],
        ["3", 2],
      ]);
    });

    it("are each for itself", async () => {
      await test.commit(await test.start({ id: "finished" }), COMPLETED);
      const { ref } = await test.create({ id: "a" });

      expect(
        await test.statements.sendEvents([test.event("missing"), test.event("a"), test.event("finished")]),
      ).toEqual([{ result: "missing" }, { result: "sent", ref }, { result: "finished" }]);
      expect(await test.statements.sendEvents([])).toEqual([]);
    });

    it("sent again are all known", async () => {
      const { ref } = await test.create({ id: "a" });
      const batch = ["b", "a"].map((eventId) => test.event("a", { eventId }));
      await test.statements.sendEvents(batch);

      expect(await test.statements.sendEvents(batch)).toEqual([
        { result: "known", ref },
        { result: "known", ref },
      ]);
      expect(await eventsOf(ref)).toEqual([
        ["b", 1],
        ["a", 2],
      ]);
    });

    it("are none of them stored if one isn't JSON", async () => {
      const { ref } = await test.create({ id: "a" });
      const batch = [test.event("a"), test.event("a", { eventId: "bad", payload: "{" })];

      await expect(test.statements.sendEvents(batch)).rejects.toMatchObject({ transient: false });
      expect(await test.load({ ref, run: 1 })).toMatchObject({ wakes: 0, events: [] });
    });
  });
});
