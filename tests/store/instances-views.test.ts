import { describe, expect, test } from "vitest";
import { type HistoryFilter, type InstanceStatus, NO_TRAITS } from "../../src/store/instances/instance-records.ts";
import { DRIVERS } from "../support/engines.ts";
import { INSTANCE_STATES } from "../support/instance-states.ts";
import { type InstancesUnderTest, RUNNING, SLEEP_MS, useInstances } from "../support/use-instances.ts";

const STATUSES = [...new Set(INSTANCE_STATES.map(({ status }) => status))];

describe.each(DRIVERS)("looking at instances on $name", (engine) => {
  const fixture = useInstances(engine);
  const idsOf = (instances: readonly ({ id: string } | null)[]) => instances.map((instance) => instance?.id ?? null);

  /** So many instances of a status, in the order of their refs. */
  async function createOf(status: InstanceStatus, count: number): Promise<string[]> {
    const [state] = INSTANCE_STATES.filter((candidate) => candidate.status === status);
    const ids = Array.from({ length: count }, (_, index) => `${status}-${index}`);
    for (const id of ids) await state?.enter(fixture, id);
    return ids;
  }

  describe("finding", () => {
    test("gives them in the order of asking, and null for what isn't there", async () => {
      for (const id of ["a", "b", "c"]) await fixture.create({ id });
      const names = ["c", "x", "a", "c"].map((id) => fixture.named(id));

      expect(idsOf(await fixture.statements.find(names))).toEqual(["c", null, "a", "c"]);
      expect(await fixture.statements.find([{ ...fixture.named("a"), name: "refund" }])).toEqual([null]);
      expect(await fixture.statements.find([{ ...fixture.named("a"), namespace: "elsewhere" }])).toEqual([null]);
      expect(await fixture.statements.find([])).toEqual([]);
    });

    test("gives many at once", async () => {
      const ids = await fixture.createMany(150);

      expect(idsOf(await fixture.statements.find(ids.toReversed().map((id) => fixture.named(id))))).toEqual(
        ids.toReversed(),
      );
    });
  });

  describe("listing", () => {
    test("gives the same as finding", async () => {
      const [id] = await createOf("complete", 1);

      expect(await fixture.list()).toEqual([await fixture.find(id as string)]);
    });

    test("gives instances of one namespace, by name", async () => {
      await fixture.create({ id: "a" });
      await fixture.create({ id: "b", name: "refund" });
      await fixture.create({ id: "c", namespace: `${fixture.namespace}-other` });

      expect(idsOf(await fixture.list())).toEqual(["a", "b"]);
      expect(idsOf(await fixture.list({ name: "refund" }))).toEqual(["b"]);
      expect(idsOf(await fixture.list({ name: "never defined" }))).toEqual([]);
    });

    test("gives instances by status", async () => {
      const expected: Record<string, string[]> = {};
      // What can be claimed comes last, or it would be in the way of the others.
      const order = STATUSES.toSorted((a, b) => Number(a === "queued") - Number(b === "queued"));
      for (const status of order) expected[status] = await createOf(status, status === "queued" ? 1 : 2);

      for (const status of STATUSES)
        expect([status, idsOf(await fixture.list({ status }))]).toEqual([status, expected[status]]);
      expect(await fixture.list()).toHaveLength(Object.values(expected).flat().length);
    });

    test("gives instances by the time at which they were created, from one on and before another", async () => {
      const start = fixture.now;
      for (const id of ["a", "b", "c"]) {
        await fixture.create({ id });
        fixture.clock.advance(10);
      }

      expect(idsOf(await fixture.list({ createdFrom: start + 10 }))).toEqual(["b", "c"]);
      expect(idsOf(await fixture.list({ createdBefore: start + 10 }))).toEqual(["a"]);
      expect(idsOf(await fixture.list({ createdFrom: start + 1, createdBefore: start + 20 }))).toEqual(["b"]);
    });

    test.each([null, "waiting", "complete"] as const)(
      "gives every instance of status %s once, page by page, in both orders",
      async (status) => {
        const ids = await createOf(status ?? "waiting", 7);
        if (status !== null) await fixture.create({ id: "of another status" });
        for (const order of ["oldest", "newest"] as const) {
          const seen: string[] = [];
          let after: string | null = null;
          for (;;) {
            const page: Awaited<ReturnType<InstancesUnderTest["list"]>> = await fixture.list({
              status,
              order,
              limit: 3,
              after,
            });
            if (page.length === 0) break;
            expect(page.length).toBeLessThanOrEqual(3);
            seen.push(...idsOf(page).map(String));
            after = page.at(-1)?.ref ?? null;
          }
          expect(seen).toEqual(order === "oldest" ? ids : ids.toReversed());
        }
      },
    );

    test.each(["waiting", "complete"] as const)(
      "tells how far so many entries of status %s come, and ends there",
      async (status) => {
        const ids = await createOf(status, 5);
        const refs = (await fixture.list()).map(({ ref }) => ref);
        for (const order of ["oldest", "newest"] as const) {
          const inOrder = order === "oldest" ? refs : refs.toReversed();
          const [first, second, third] = inOrder as [string, string, string];
          expect(await fixture.reach(3, { order, createdBefore: 0 })).toBe(third);
          expect(await fixture.reach(2, { order, after: first })).toBe(third);
          expect([await fixture.reach(6, { order }), await fixture.reach(5, { order, after: first })]).toEqual([
            null,
            null,
          ]);
          expect(await fixture.reach(3, { order, name: "never defined" })).toBeNull();
          const until = order === "oldest" ? ids.slice(0, 3) : ids.toReversed().slice(0, 3);
          expect(idsOf(await fixture.list({ order, until: third }))).toEqual(until);
          expect(idsOf(await fixture.list({ order, after: first, until: third }))).toEqual(until.slice(1));
          expect(idsOf(await fixture.list({ order, after: second, until: third, createdBefore: 0 }))).toEqual([]);
        }
      },
    );

    test("shares the entries that it passes among statuses and workflows, and comes as far as the nearest", async () => {
      await createOf("complete", 3);
      await fixture.create({ id: "a", name: "refund" });
      await createOf("waiting", 3);
      const refs = (await fixture.list()).map(({ ref }) => ref);

      expect(await fixture.reach(6)).toBe(refs[2]); // three of each workflow, and of each status
      expect(await fixture.reach(6, { order: "newest" })).toBe(refs[4]);
      expect(await fixture.reach(8)).toBeNull();
    });

    test("passes the entries of a label, in any state", async () => {
      const labels = [["tenant", "a"]] as const;
      const names = ["a", "b", "c", "d"];
      const traits = { ...NO_TRAITS, labels: '{"tenant":"a"}' };
      for (const id of names) await fixture.create({ id, traits: id === "b" ? null : traits });
      const [a, , c, d] = (await fixture.list()).map(({ ref }) => ref) as [string, string, string, string];

      expect(await fixture.reach(2, { labels, status: "complete" })).toBe(c);
      expect(await fixture.reach(2, { labels, order: "newest" })).toBe(c);
      expect(await fixture.reach(2, { labels, after: a })).toBe(d);
      expect(await fixture.reach(4, { labels })).toBeNull();
      expect(idsOf(await fixture.list({ labels, until: c }))).toEqual(["a", "c"]);
      const counted = await fixture.statements.labelledCounts(fixture.namespace, labels, c);
      expect(counted.reduce((sum, { count }) => sum + count, 0)).toBe(2);
    });

    test("takes all filters together", async () => {
      const start = fixture.now;
      const refs: string[] = [];
      for (const name of ["refund", "checkout", "refund", "refund", "refund"]) {
        refs.push((await fixture.create({ id: `instance ${refs.length}`, name })).ref);
        fixture.clock.advance(10);
      }
      await fixture.statements.terminate({ ...fixture.named("instance 3"), name: "refund" });

      const filter = { name: "refund", status: "queued", createdFrom: start, createdBefore: start + 40 } as const;
      expect(idsOf(await fixture.list({ ...filter, after: refs[0] ?? null }))).toEqual(["instance 2"]);
      expect(idsOf(await fixture.list({ ...filter, order: "newest", after: refs[4] ?? null, limit: 1 }))).toEqual([
        "instance 2",
      ]);
    });
  });

  describe("counting", () => {
    const countsOf = async (names: readonly string[] | null, most: number | null) => {
      const sums: Record<string, number> = {};
      for (const { name, status, count } of await fixture.statements.counts(fixture.namespace, names, most)) {
        if (count > 0) sums[`${name} ${status}`] = (sums[`${name} ${status}`] ?? 0) + count;
      }
      return sums;
    };

    test("counts each status, of some workflows or of all", async () => {
      for (const status of STATUSES.toSorted((one) => (one === "queued" ? 1 : -1))) await createOf(status, 2);
      await fixture.create({ id: "other", name: "refund" });

      const each = Object.fromEntries(STATUSES.map((status) => [`checkout ${status}`, 2]));
      expect(await countsOf(null, null)).toEqual({ ...each, "refund queued": 1 });
      expect(await countsOf(["checkout"], null)).toEqual(each);
      expect(await countsOf(["refund", "never defined"], null)).toEqual({ "refund queued": 1 });
    });

    test("stops counting a status at a limit", async () => {
      await createOf("complete", 3);
      await createOf("errored", 1);
      await createOf("queued", 4); // what can be claimed comes last

      const expected = { "checkout complete": 2, "checkout queued": 2, "checkout errored": 1 };
      expect(await countsOf(null, 2)).toEqual(expected);
      expect(await countsOf(["checkout"], 2)).toEqual(expected);
    });
  });

  describe("the history", () => {
    /** Two runs of four and three entries. */
    async function createHistory(): Promise<{ ref: string; keys: [number, number][] }> {
      const first = await fixture.start({ id: "a" });
      const entries = Array.from({ length: 4 }, () => fixture.entry());
      await fixture.commit(first, RUNNING, { entries });
      await fixture.statements.restart(fixture.named("a"));
      await fixture.commit(await fixture.claimOne(), RUNNING, { entries: entries.slice(0, 3) });
      const another = await fixture.start({ id: "b" });
      await fixture.commit(another, RUNNING, { entries });
      const runs = [1, 1, 1, 1, 2, 2, 2];
      return { ref: first.ref, keys: runs.map((run, index) => [run, run === 1 ? index + 1 : index - 3]) };
    }

    test("gives entries as they are loaded, with their run", async () => {
      const instance = await fixture.start({ id: "a" });
      const entries = [
        fixture.entry({ dueAt: fixture.now + SLEEP_MS, parent: "do:outer#1", attempt: 2 }),
        fixture.entry({ value: null }),
      ];
      await fixture.commit(instance, RUNNING, { entries });
      const loaded = await fixture.load(instance);

      expect(await fixture.history(instance.ref)).toEqual(
        loaded?.entries.map((entry) => ({ ...entry, run: 1, eventId: null, eventType: null, eventPayload: null })),
      );
    });

    test("gives each entry the event that it received", async () => {
      const instance = await fixture.start({ id: "a" });
      await fixture.send("a", { eventId: "z", type: "first", payload: '{"n": 1}' });
      await fixture.send("a", { eventId: "a", type: "second", payload: '{"n": 2}' });
      const entries = [2, null, 1].map((event) => fixture.entry({ kind: "received", type: "waitForEvent", event }));
      await fixture.commit(instance, RUNNING, { entries });

      const events = (await fixture.history(instance.ref)).map(({ event, eventType, eventPayload }) => [
        event,
        eventType,
        eventPayload,
      ]);
      expect(events).toEqual([
        [2, "second", '{"n": 2}'],
        [null, null, null],
        [1, "first", '{"n": 1}'],
      ]);
    });

    test("gives all runs, or one, in both orders", async () => {
      const { ref, keys } = await createHistory();
      const keysOf = async (filter: Parameters<typeof fixture.history>[1]) =>
        (await fixture.history(ref, filter)).map(({ run, position }) => [run, position]);

      expect(await keysOf({})).toEqual(keys);
      expect(await keysOf({ order: "newest" })).toEqual(keys.toReversed());
      expect(await keysOf({ run: 1 })).toEqual(keys.slice(0, 4));
      expect(await keysOf({ run: 2, order: "newest" })).toEqual(keys.slice(4).toReversed());
      expect(await keysOf({ run: 3 })).toEqual([]);
      expect(await keysOf({ run: 1, after: { run: 1, position: 2 } })).toEqual(keys.slice(2, 4));
    });

    test.each([
      [null, "oldest"],
      [null, "newest"],
      [1, "oldest"],
      [1, "newest"],
    ] as const)("gives every entry of run %s once, page by page, the %s first", async (run, order) => {
      const { ref, keys } = await createHistory();
      const expected = run === null ? keys : keys.slice(0, 4);
      const seen: [number, number][] = [];
      for (let after: { run: number; position: number } | null = null; ; ) {
        const page = await fixture.history(ref, { run, order, after, limit: 3 });
        const last = page.at(-1);
        if (last === undefined) break;
        expect(page.length).toBeLessThanOrEqual(3);
        seen.push(...page.map((entry): [number, number] => [entry.run, entry.position]));
        after = { run: last.run, position: last.position };
      }
      expect(seen).toEqual(order === "oldest" ? expected : expected.toReversed());
    });

    test.each(["oldest", "newest"] as const)("ends a page where its values are large, the %s first", async (order) => {
      const instance = await fixture.start({ id: "a" });
      await fixture.send("a", { eventId: "z", payload: JSON.stringify("p".repeat(5000)) });
      const texts = [10, 10, 8000, 10, 3000, 3000, 10, 10].map((length) => fixture.entry({ value: textOf(length) }));
      const received = fixture.entry({ kind: "received", type: "waitForEvent", value: null, event: 1 });
      await fixture.commit(instance, RUNNING, { entries: [...texts, received] });
      const positions: number[] = [];
      let pages = 0;
      for (let [after, more]: [HistoryFilter["after"], boolean] = [null, true]; more; pages++) {
        const { entries, full } = await fixture.historyPage(instance.ref, { order, after, limit: 6, maxBytes: 7000 });
        const lengths = entries.map(({ value, eventPayload }) => (value ?? eventPayload ?? "").length);
        if (entries.length > 1) expect(lengths.reduce((one, other) => one + other)).toBeLessThanOrEqual(7000);
        positions.push(...entries.map(({ position }) => position));
        [after, more] = [entries.at(-1) ?? null, full || entries.length === 6];
      }

      const inOrder = [1, 2, 3, 4, 5, 6, 7, 8, 9];
      expect(positions).toEqual(order === "oldest" ? inOrder : inOrder.toReversed());
      expect(pages).toBeGreaterThan(3);
    });

    test("is bounded by the size of its values as they are sent, not only as they are stored", async () => {
      const instance = await fixture.start({ id: "a" });
      const value = JSON.stringify("x".repeat(100_000)); // compressed, it takes next to nothing
      await fixture.commit(instance, RUNNING, { entries: Array.from({ length: 5 }, () => fixture.entry({ value })) });

      const { entries, full } = await fixture.historyPage(instance.ref, { maxBytes: 350_000 });

      expect([entries.length > 0 && entries.length <= 3, full]).toEqual([true, true]);
    });

    test("is empty where there is none", async () => {
      const { ref } = await fixture.create();

      expect(await fixture.history(ref)).toEqual([]);
      expect(await fixture.history("unknown")).toEqual([]);
      expect(await fixture.pastRuns(ref)).toEqual([]);
    });
  });
});

/** A value that is stored as it is, because nothing is won by compressing it. */
function textOf(length: number): string {
  return JSON.stringify(Array.from({ length }, () => Math.random().toString(36).at(-1)).join(""));
}
