import { describe, expect, it } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { NAMED } from "../support/named.ts";
import { COMPLETED, RUNNING, useInstances } from "../support/use-instances.ts";

describe.each(ENGINES)("loading instances on $name", (engine) => {
  const test = useInstances(engine);

  it("gives the journal as it was written", async () => {
    const instance = await test.start({ id: "a" });
    const entries = [
      test.entry({ name: "ünï \"'\\ code", count: 2, attempt: 3, value: '{"a": [1, null]}', parent: "do:outer#1" }),
      test.entry({ kind: "failed", value: '{"message":"no"}', dueAt: test.now + 700, began: 3 }),
      test.entry({ kind: "waiting", type: "waitForEvent", attempt: 0, value: null, dueAt: test.now + 900 }),
      test.entry({ kind: "received", type: "waitForEvent", attempt: 0, value: null, event: 4 }),
    ];
    await test.commit(instance, RUNNING, { entries: entries.slice(0, 3) });
    const written = test.now;
    test.clock.advance(100);
    await test.commit(instance, RUNNING, { position: 4, entries: entries.slice(3) });

    expect(await test.load(instance)).toEqual({
      ref: instance.ref,
      run: 1,
      wakes: 0,
      entries: entries.map((entry, index) => ({
        ...entry,
        began: entry.began ?? null,
        position: index + 1,
        at: index < 3 ? written : written + 100,
      })),
      events: [],
    });
  });

  it("gives entries in the order of their positions, beyond nine too", async () => {
    const instance = await test.start();
    const entries = Array.from({ length: 12 }, (_, index) => test.entry({ name: `step ${index}` }));
    await test.commit(instance, RUNNING, { entries });

    const loaded = await test.load(instance);
    expect(loaded?.entries.map(({ name }) => name)).toEqual(entries.map(({ name }) => name));
  });

  it("gives the events in the order in which they were sent, and how often it was woken", async () => {
    const instance = await test.start({ id: "a" });
    for (const eventId of ["z", "a", "m"]) {
      await test.send("a", { eventId, type: `type ${eventId}`, payload: `{"from": "${eventId}"}` });
      test.clock.advance(10);
    }
    const sentAt = test.now - 30;

    expect(await test.load(instance)).toEqual({
      ref: instance.ref,
      run: 1,
      wakes: 3,
      entries: [],
      events: ["z", "a", "m"].map((id, index) => ({
        id,
        sequence: index + 1,
        type: `type ${id}`,
        payload: `{"from": "${id}"}`,
        at: sentAt + index * 10,
      })),
    });
  });

  it("gives a run only what is its own", async () => {
    const first = await test.start({ id: "a" });
    await test.commit(first, RUNNING, { entries: [test.entry({ name: "first" })] });
    await test.send("a", { eventId: "first" });
    await test.statements.restart(test.named("a"));
    const second = await test.claimOne();
    await test.commit(second, RUNNING, { entries: [test.entry({ name: "second" })] });
    await test.send("a", { eventId: "second" });

    const loaded = await test.load(second);
    expect(loaded?.entries.map(({ name }) => name)).toEqual(["second"]);
    expect(loaded?.events.map(({ id }) => id)).toEqual(["second"]);
  });

  it("leaves out what is gone or has another run, and gives the rest whatever their state", async () => {
    const [fresh, deleted, restarted] = await Promise.all(["a", "b", "c"].map((id) => test.create({ id })));
    const claimed = await test.claim();
    await test.commit(claimed[0] as (typeof claimed)[0], COMPLETED);
    await test.statements.delete(test.named("b"));
    await test.statements.restart(test.named("c"));
    const runs = [fresh, deleted, restarted].map((instance) => ({ ref: instance?.ref ?? "", run: 1 }));

    const loaded = await test.loadAll([...runs, { ref: "unknown", run: 1 }]);

    expect(loaded.map(({ ref }) => ref)).toEqual([claimed[0]?.ref]);
    expect(await test.statements.load([])).toEqual([]);
  });

  it("gives many at once, each with its own", async () => {
    await test.createMany(5);
    const claimed = await test.claim();
    await test.statements.commit(
      claimed.map((instance) => test.commitOf(instance, RUNNING, { entries: [test.entry({ name: instance.id })] })),
    );
    await test.statements.sendEvents(claimed.map(({ id }) => test.event(id, { eventId: id })));

    const loaded = await test.loadAll(claimed);

    expect(loaded).toHaveLength(5);
    for (const { id, ref } of claimed) {
      const history = loaded.find((candidate) => candidate.ref === ref);
      expect(history).toMatchObject({ wakes: 1, entries: [{ name: id }], events: [{ id }] });
    }
  });

  describe("what came in since", () => {
    it("is the events after a sequence", async () => {
      const { ref } = await test.create({ id: "a" });
      for (const eventId of ["z", "y", "x"]) await test.send("a", { eventId });
      const idsAfter = async (after: number) => {
        const [loaded] = await test.statements.loadEvents([{ ref, run: 1, instance: NAMED, after }]);
        expect(loaded).toMatchObject({ ref, run: 1, wakes: 3 });
        return loaded?.events.map(({ id }) => id);
      };

      expect(await idsAfter(0)).toEqual(["z", "y", "x"]);
      expect(await idsAfter(1)).toEqual(["y", "x"]);
      expect(await idsAfter(3)).toEqual([]);
    });

    it("is as it was sent", async () => {
      const { ref } = await test.create({ id: "a" });
      await test.send("a", { eventId: "e", type: "t", payload: '{"b": 1}' });

      expect(await test.statements.loadEvents([{ ref, run: 1, instance: NAMED, after: 0 }])).toEqual([
        {
          ref,
          run: 1,
          wakes: 1,
          events: [{ id: "e", sequence: 1, type: "t", payload: '{"b": 1}', at: test.now }],
        },
      ]);
    });

    it("tells of a wake without an event", async () => {
      const { ref } = await test.create({ id: "a" });
      await test.statements.pause(test.named("a"));
      await test.statements.resume(test.named("a"));

      expect(await test.statements.loadEvents([{ ref, run: 1, instance: NAMED, after: 0 }])).toEqual([
        { ref, run: 1, wakes: 1, events: [] },
      ]);
    });

    it("is each run's own, and nothing of one that is gone", async () => {
      const [a, b] = await Promise.all(["a", "b"].map((id) => test.create({ id })));
      await test.send("a", { eventId: "of a" });
      await test.send("b", { eventId: "of b" });
      await test.statements.restart(test.named("b"));
      await test.send("b", { eventId: "of b again" });
      const requests = [
        { ref: b?.ref ?? "", run: 2, instance: NAMED, after: 0 },
        { ref: a?.ref ?? "", run: 1, instance: NAMED, after: 0 },
        { ref: b?.ref ?? "", run: 1, instance: NAMED, after: 0 },
        { ref: "unknown", run: 1, instance: NAMED, after: 0 },
      ];

      const loaded = await test.statements.loadEvents(requests);

      const found = Object.fromEntries(
        loaded.map(({ ref, run, events }) => [`${ref} ${run}`, events.map(({ id }) => id)]),
      );
      expect(found).toEqual({ [`${a?.ref} 1`]: ["of a"], [`${b?.ref} 2`]: ["of b again"] });
      expect(await test.statements.loadEvents([])).toEqual([]);
    });
  });
});
