import { describe, expect, it } from "vitest";
import type { InstanceStatus } from "../../src/store/instance-records.ts";
import { ENGINES } from "../support/engines.ts";
import { INSTANCE_STATES } from "../support/instance-states.ts";
import { type InstancesUnderTest, RUNNING, SLEEP_MS, useInstances } from "../support/use-instances.ts";

const STATUSES = [...new Set(INSTANCE_STATES.map(({ status }) => status))];

describe.each(ENGINES)("looking at instances on $name", (engine) => {
  const test = useInstances(engine);
  const idsOf = (instances: readonly ({ id: string } | null)[]) => instances.map((instance) => instance?.id ?? null);

  /** So many instances of a status, in the order of their refs. */
  async function createOf(status: InstanceStatus, count: number): Promise<string[]> {
    const [state] = INSTANCE_STATES.filter((candidate) => candidate.status === status);
    const ids = Array.from({ length: count }, (_, index) => `${status}-${index}`);
    for (const id of ids) await state?.enter(test, id);
    return ids;
  }

  describe("finding", () => {
    it("gives them in the order of asking, and null for what isn't there", async () => {
      for (const id of ["a", "b", "c"]) await test.create({ id });
      const names = ["c", "x", "a", "c"].map((id) => test.named(id));

      expect(idsOf(await test.statements.find(names))).toEqual(["c", null, "a", "c"]);
      expect(await test.statements.find([{ ...test.named("a"), name: "refund" }])).toEqual([null]);
      expect(await test.statements.find([{ ...test.named("a"), namespace: "elsewhere" }])).toEqual([null]);
      expect(await test.statements.find([])).toEqual([]);
    });

    it("gives many at once", async () => {
      const ids = await test.createMany(150);

      expect(idsOf(await test.statements.find(ids.toReversed().map((id) => test.named(id))))).toEqual(ids.toReversed());
    });
  });

  describe("listing", () => {
    it("gives the same as finding", async () => {
      const [id] = await createOf("complete", 1);

      expect(await test.list()).toEqual([await test.find(id as string)]);
    });

    it("gives instances of one namespace, by name", async () => {
      await test.create({ id: "a" });
      await test.create({ id: "b", name: "refund" });
      await test.create({ id: "c", namespace: `${test.namespace}-other` });

      expect(idsOf(await test.list())).toEqual(["a", "b"]);
      expect(idsOf(await test.list({ name: "refund" }))).toEqual(["b"]);
      expect(idsOf(await test.list({ name: "never defined" }))).toEqual([]);
    });

    it("gives instances by status", async () => {
      const expected: Record<string, string[]> = {};
      // What can be claimed comes last, or it would be in the way of the others.
      const order = STATUSES.toSorted((a, b) => Number(a === "queued") - Number(b === "queued"));
      for (const status of order) expected[status] = await createOf(status, status === "queued" ? 1 : 2);

      for (const status of STATUSES)
        expect([status, idsOf(await test.list({ status }))]).toEqual([status, expected[status]]);
      expect(await test.list()).toHaveLength(Object.values(expected).flat().length);
    });

    it("gives instances by the time at which they were created, from one on and before another", async () => {
      const start = test.now;
      for (const id of ["a", "b", "c"]) {
        await test.create({ id });
        test.clock.advance(10);
      }

      expect(idsOf(await test.list({ createdFrom: start + 10 }))).toEqual(["b", "c"]);
      expect(idsOf(await test.list({ createdBefore: start + 10 }))).toEqual(["a"]);
      expect(idsOf(await test.list({ createdFrom: start + 1, createdBefore: start + 20 }))).toEqual(["b"]);
    });

    it.each([null, "waiting", "complete"] as const)(
      "gives every instance of status %s once, page by page, in both orders",
      async (status) => {
        const ids = await createOf(status ?? "waiting", 7);
        if (status !== null) await test.create({ id: "of another status" });
        for (const order of ["oldest", "newest"] as const) {
          const seen: string[] = [];
          let after: string | null = null;
          for (;;) {
            const page: Awaited<ReturnType<InstancesUnderTest["list"]>> = await test.list({
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

    it("takes all filters together", async () => {
      const start = test.now;
      const refs: string[] = [];
      for (const name of ["refund", "checkout", "refund", "refund", "refund"]) {
        refs.push((await test.create({ id: `instance ${refs.length}`, name })).ref);
        test.clock.advance(10);
      }
      await test.statements.terminate({ ...test.named("instance 3"), name: "refund" });

      const filter = { name: "refund", status: "queued", createdFrom: start, createdBefore: start + 40 } as const;
      expect(idsOf(await test.list({ ...filter, after: refs[0] ?? null }))).toEqual(["instance 2"]);
      expect(idsOf(await test.list({ ...filter, order: "newest", after: refs[4] ?? null, limit: 1 }))).toEqual([
        "instance 2",
      ]);
    });
  });

  describe("the history", () => {
    /** Two runs of four and three entries. */
    async function createHistory(): Promise<{ ref: string; keys: [number, number][] }> {
      const first = await test.start({ id: "a" });
      const entries = Array.from({ length: 4 }, () => test.entry());
      await test.commit(first, RUNNING, { entries });
      await test.statements.restart(test.named("a"));
      await test.commit(await test.claimOne(), RUNNING, { entries: entries.slice(0, 3) });
      const another = await test.start({ id: "b" });
      await test.commit(another, RUNNING, { entries });
      const runs = [1, 1, 1, 1, 2, 2, 2];
      return { ref: first.ref, keys: runs.map((run, index) => [run, run === 1 ? index + 1 : index - 3]) };
    }

    it("gives entries as they are loaded, with their run", async () => {
      const instance = await test.start({ id: "a" });
      const entries = [
        test.entry({ dueAt: test.now + SLEEP_MS, parent: "do:outer#1", attempt: 2 }),
        test.entry({ value: null }),
      ];
      await test.commit(instance, RUNNING, { entries });
      const loaded = await test.load(instance);

      expect(await test.history(instance.ref)).toEqual(
        loaded?.entries.map((entry) => ({ ...entry, run: 1, eventId: null, eventType: null, eventPayload: null })),
      );
    });

    it("gives each entry the event that it received", async () => {
      const instance = await test.start({ id: "a" });
      await test.send("a", { eventId: "z", type: "first", payload: '{"n": 1}' });
      await test.send("a", { eventId: "a", type: "second", payload: '{"n": 2}' });
      const entries = [2, null, 1].map((event) => test.entry({ kind: "received", type: "waitForEvent", event }));
      await test.commit(instance, RUNNING, { entries });

      const events = (await test.history(instance.ref)).map(({ event, eventType, eventPayload }) => [
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

    it("gives all runs, or one, in both orders", async () => {
      const { ref, keys } = await createHistory();
      const keysOf = async (filter: Parameters<typeof test.history>[1]) =>
        (await test.history(ref, filter)).map(({ run, position }) => [run, position]);

      expect(await keysOf({})).toEqual(keys);
      expect(await keysOf({ order: "newest" })).toEqual(keys.toReversed());
      expect(await keysOf({ run: 1 })).toEqual(keys.slice(0, 4));
      expect(await keysOf({ run: 2, order: "newest" })).toEqual(keys.slice(4).toReversed());
      expect(await keysOf({ run: 3 })).toEqual([]);
      expect(await keysOf({ run: 1, after: { run: 1, position: 2 } })).toEqual(keys.slice(2, 4));
    });

    it.each([
      [null, "oldest"],
      [null, "newest"],
      [1, "oldest"],
      [1, "newest"],
    ] as const)("gives every entry of run %s once, page by page, the %s first", async (run, order) => {
      const { ref, keys } = await createHistory();
      const expected = run === null ? keys : keys.slice(0, 4);
      const seen: [number, number][] = [];
      for (let after: { run: number; position: number } | null = null; ; ) {
        const page = await test.history(ref, { run, order, after, limit: 3 });
        const last = page.at(-1);
        if (last === undefined) break;
        expect(page.length).toBeLessThanOrEqual(3);
        seen.push(...page.map((entry): [number, number] => [entry.run, entry.position]));
        after = { run: last.run, position: last.position };
      }
      expect(seen).toEqual(order === "oldest" ? expected : expected.toReversed());
    });

    it("is empty where there is none", async () => {
      const { ref } = await test.create();

      expect(await test.history(ref)).toEqual([]);
      expect(await test.history("unknown")).toEqual([]);
      expect(await test.pastRuns(ref)).toEqual([]);
    });
  });
});
