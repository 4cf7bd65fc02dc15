import { describe, expect, test } from "vitest";
import { DRIVERS } from "../support/engines.ts";
import { NAMED } from "../support/named.ts";
import { COMPLETED, RUNNING, useInstances } from "../support/use-instances.ts";

describe.each(DRIVERS)("loading instances on $name", (engine) => {
  const fixture = useInstances(engine);

  test("gives the journal as it was written", async () => {
    const instance = await fixture.start({ id: "a" });
    const entries = [
      fixture.entry({ name: "ünï \"'\\ code", count: 2, attempt: 3, value: '{"a": [1, null]}', parent: "do:outer#1" }),
      fixture.entry({ kind: "failed", value: '{"message":"no"}', dueAt: fixture.now + 700, began: 3 }),
      fixture.entry({ kind: "waiting", type: "waitForEvent", attempt: 0, value: null, dueAt: fixture.now + 900 }),
      fixture.entry({ kind: "received", type: "waitForEvent", attempt: 0, value: null, event: 4 }),
    ];
    await fixture.commit(instance, RUNNING, { entries: entries.slice(0, 3) });
    const written = fixture.now;
    fixture.clock.advance(100);
    await fixture.commit(instance, RUNNING, { position: 4, entries: entries.slice(3) });

    expect(await fixture.load(instance)).toEqual({
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

  test("gives entries in the order of their positions, beyond nine too", async () => {
    const instance = await fixture.start();
    const entries = Array.from({ length: 12 }, (_, index) => fixture.entry({ name: `step ${index}` }));
    await fixture.commit(instance, RUNNING, { entries });

    const loaded = await fixture.load(instance);
    expect(loaded?.entries.map(({ name }) => name)).toEqual(entries.map(({ name }) => name));
  });

  test("gives the events in the order in which they were sent, and how often it was woken", async () => {
    const instance = await fixture.start({ id: "a" });
    for (const eventId of ["z", "a", "m"]) {
      await fixture.send("a", { eventId, type: `type ${eventId}`, payload: `{"from": "${eventId}"}` });
      fixture.clock.advance(10);
    }
    const sentAt = fixture.now - 30;

    expect(await fixture.load(instance)).toEqual({
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

  test("gives a run only what is its own", async () => {
    const first = await fixture.start({ id: "a" });
    await fixture.commit(first, RUNNING, { entries: [fixture.entry({ name: "first" })] });
    await fixture.send("a", { eventId: "first" });
    await fixture.statements.restart(fixture.named("a"));
    const second = await fixture.claimOne();
    await fixture.commit(second, RUNNING, { entries: [fixture.entry({ name: "second" })] });
    await fixture.send("a", { eventId: "second" });

    const loaded = await fixture.load(second);
    expect(loaded?.entries.map(({ name }) => name)).toEqual(["second"]);
    expect(loaded?.events.map(({ id }) => id)).toEqual(["second"]);
  });

  test("leaves out what is gone or has another run, and gives the rest whatever their state", async () => {
    const [fresh, deleted, restarted] = await Promise.all(["a", "b", "c"].map((id) => fixture.create({ id })));
    const claimed = await fixture.claim();
    await fixture.commit(claimed[0] as (typeof claimed)[0], COMPLETED);
    await fixture.statements.delete(fixture.named("b"));
    await fixture.statements.restart(fixture.named("c"));
    const runs = [fresh, deleted, restarted].map((instance) => ({ ref: instance?.ref ?? "", run: 1 }));

    const loaded = await fixture.loadAll([...runs, { ref: "unknown", run: 1 }]);

    expect(loaded.map(({ ref }) => ref)).toEqual([claimed[0]?.ref]);
    expect(await fixture.statements.load([])).toEqual([]);
  });

  test("gives many at once, each with its own", async () => {
    await fixture.createMany(5);
    const claimed = await fixture.claim();
    await fixture.statements.commit(
      claimed.map((instance) =>
        fixture.commitOf(instance, RUNNING, { entries: [fixture.entry({ name: instance.id })] }),
      ),
    );
    await fixture.statements.sendEvents(claimed.map(({ id }) => fixture.event(id, { eventId: id })));

    const loaded = await fixture.loadAll(claimed);

    expect(loaded).toHaveLength(5);
    for (const { id, ref } of claimed) {
      const history = loaded.find((candidate) => candidate.ref === ref);
      expect(history).toMatchObject({ wakes: 1, entries: [{ name: id }], events: [{ id }] });
    }
  });

  describe("loading new events", () => {
    test("returns the events after a sequence", async () => {
      const { ref } = await fixture.create({ id: "a" });
      for (const eventId of ["z", "y", "x"]) await fixture.send("a", { eventId });
      const idsAfter = async (after: number) => {
        const [loaded] = await fixture.statements.loadEvents([{ ref, run: 1, instance: NAMED, after }]);
        expect(loaded).toMatchObject({ ref, run: 1, wakes: 3 });
        return loaded?.events.map(({ id }) => id);
      };

      expect(await idsAfter(0)).toEqual(["z", "y", "x"]);
      expect(await idsAfter(1)).toEqual(["y", "x"]);
      expect(await idsAfter(3)).toEqual([]);
    });

    test("returns events as they were sent", async () => {
      const { ref } = await fixture.create({ id: "a" });
      await fixture.send("a", { eventId: "e", type: "t", payload: '{"b": 1}' });

      expect(await fixture.statements.loadEvents([{ ref, run: 1, instance: NAMED, after: 0 }])).toEqual([
        {
          ref,
          run: 1,
          wakes: 1,
          events: [{ id: "e", sequence: 1, type: "t", payload: '{"b": 1}', at: fixture.now }],
        },
      ]);
    });

    test("reports a wake without an event", async () => {
      const { ref } = await fixture.create({ id: "a" });
      await fixture.statements.pause(fixture.named("a"));
      await fixture.statements.resume(fixture.named("a"));

      expect(await fixture.statements.loadEvents([{ ref, run: 1, instance: NAMED, after: 0 }])).toEqual([
        { ref, run: 1, wakes: 1, events: [] },
      ]);
    });

    test("is each run's own, and nothing of one that is gone", async () => {
      const [a, b] = await Promise.all(["a", "b"].map((id) => fixture.create({ id })));
      await fixture.send("a", { eventId: "of a" });
      await fixture.send("b", { eventId: "of b" });
      await fixture.statements.restart(fixture.named("b"));
      await fixture.send("b", { eventId: "of b again" });
      const requests = [
        { ref: b?.ref ?? "", run: 2, instance: NAMED, after: 0 },
        { ref: a?.ref ?? "", run: 1, instance: NAMED, after: 0 },
        { ref: b?.ref ?? "", run: 1, instance: NAMED, after: 0 },
        { ref: "unknown", run: 1, instance: NAMED, after: 0 },
      ];

      const loaded = await fixture.statements.loadEvents(requests);

      const found = Object.fromEntries(
        loaded.map(({ ref, run, events }) => [`${ref} ${run}`, events.map(({ id }) => id)]),
      );
      expect(found).toEqual({ [`${a?.ref} 1`]: ["of a"], [`${b?.ref} 2`]: ["of b again"] });
      expect(await fixture.statements.loadEvents([])).toEqual([]);
    });
  });
});
