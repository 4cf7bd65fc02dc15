import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { GroupCommit } from "../../src/store/group-commit.ts";
import type { ClaimedInstance, InstanceCommit, InstanceCommitResult } from "../../src/store/instance-records.ts";
import { ENGINES } from "../support/engines.ts";
import { COMPLETED, ERRORED, LEASE_MS, RELEASED, RUNNING, SLEEP_MS, useInstances } from "../support/use-instances.ts";

const SUPERSEDED = { result: "superseded" };

describe.each(ENGINES)("commits of instances that come late, or twice, on $name", (engine) => {
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

  async function takeOver(): Promise<ClaimedInstance> {
    test.clock.advance(LEASE_MS);
    return test.claimOne();
  }

  describe("what isn't its sender's any more", () => {
    it.each([
      ["taken over", () => takeOver()],
      ["terminated", () => test.statements.terminate(test.named("a"))],
      ["restarted", () => test.statements.restart(test.named("a"))],
      ["deleted", () => test.statements.delete(test.named("a"))],
    ])("isn't touched: %s", async (_, lose) => {
      const instance = await test.start({ id: "a" });
      await lose();
      const after = await test.find("a");

      for (const outcome of [RUNNING, parked(0), COMPLETED, ERRORED, RELEASED]) {
        for (const resent of [false, true]) {
          expect(await test.commit(instance, outcome, { entries: [test.entry()], resent })).toEqual(SUPERSEDED);
        }
      }
      expect(await namesIn(instance)).toEqual([]);
      expect(await test.find("a")).toEqual(after);
    });

    it("is known by the run too", async () => {
      const instance = await test.start();

      expect(await test.commit({ ...instance, run: 2 }, RUNNING, { entries: [test.entry()] })).toEqual(SUPERSEDED);
      expect(await namesIn(instance)).toEqual([]);
    });

    it("is left out of a batch, the rest of which is written", async () => {
      await test.createMany(4);
      const claimed = await test.claim();
      const [, second, , fourth] = claimed as [ClaimedInstance, ClaimedInstance, ClaimedInstance, ClaimedInstance];
      await test.statements.terminate(test.named(second.id));
      await test.park(fourth);

      const commits = claimed.map((instance) =>
        test.commitOf(instance, COMPLETED, { entries: [test.entry(), test.entry()] }),
      );
      const results = await test.statements.commit(commits, { resent: false });

      expect(results).toEqual([written(), SUPERSEDED, written(), SUPERSEDED]);
      const lengths = await Promise.all(claimed.map(async (instance) => (await namesIn(instance)).length));
      expect(lengths).toEqual([2, 0, 2, 0]);
      expect((await test.list()).map(({ status }) => status)).toEqual([
        "complete",
        "terminated",
        "complete",
        "waiting",
      ]);
    });
  });

  describe("a taken position", () => {
    it("supersedes the commit, of which nothing is written", async () => {
      const instance = await test.start({ id: "a" });
      await test.commit(instance, RUNNING, { entries: [test.entry({ name: "first" })] });
      const before = await test.find("a");

      const entries = [test.entry({ name: "second" }), test.entry({ name: "third" })];
      for (const outcome of [RUNNING, parked(0), COMPLETED])
        expect(await test.commit(instance, outcome, { entries })).toEqual(SUPERSEDED);
      expect(await namesIn(instance)).toEqual(["first"]);
      expect(await test.find("a")).toEqual(before);
    });

    it("supersedes it also behind one that is free", async () => {
      const instance = await test.start({ id: "a" });
      await test.commit(instance, RUNNING, { position: 3, entries: [test.entry({ name: "third" })] });

      const entries = ["first", "second", "other"].map((name) => test.entry({ name }));
      expect(await test.commit(instance, COMPLETED, { entries })).toEqual(SUPERSEDED);
      expect(await namesIn(instance)).toEqual(["third"]);
      expect(await test.find("a")).toMatchObject({ status: "running" });
    });

    it("concerns nobody else in a flush", async () => {
      await test.createMany(5);
      const claimed = await test.claim();
      const taken = claimed[2] as ClaimedInstance;
      await test.commit(taken, RUNNING, { entries: [test.entry({ name: "first" })] });
      const group = new GroupCommit<InstanceCommit, InstanceCommitResult>({
        clock: systemClock,
        flush: (commits, sending) => test.statements.commit(commits, sending),
        flushesInFlight: 1,
        measure: () => ({ rows: 1, bytes: 1 }),
      });

      const entries = [test.entry({ name: "second" })];
      const results = await Promise.all(
        claimed.map((instance) => group.add(test.commitOf(instance, COMPLETED, { entries }))),
      );

      expect(results.map(({ result }) => result)).toEqual(["written", "written", "superseded", "written", "written"]);
      expect(await namesIn(taken)).toEqual(["first"]);
      expect(await test.list({ status: "complete" })).toHaveLength(4);
    });
  });

  describe("sent again after a lost reply", () => {
    it.each([{ resent: true }, undefined])("adds its entries once (%o)", async (sending) => {
      const instance = await test.start();
      const commit = test.commitOf(instance, RUNNING, { entries: [test.entry(), test.entry({ name: "ship" })] });
      await test.statements.commit([commit], { resent: false });

      expect(await test.statements.commit([commit], sending)).toEqual([written()]);
      expect(await namesIn(instance)).toEqual(["charge", "ship"]);
    });

    it("is written if it wasn't before", async () => {
      const instance = await test.start({ id: "a" });

      expect(await test.commit(instance, COMPLETED, { entries: [test.entry()], resent: true })).toEqual(written());
      expect(await namesIn(instance)).toEqual(["charge"]);
      expect(await test.find("a")).toMatchObject({ status: "complete" });
    });

    it.each([
      ["parked", { kind: "parked", dueAt: 10 ** 13, wakes: 0 }],
      ["completed", COMPLETED],
      ["errored", ERRORED],
    ] as const)("is known to have %s it, and changes nothing", async (_, outcome) => {
      const instance = await test.start({ id: "a" });
      const details = { entries: [test.entry()] };
      await test.commit(instance, outcome, details);
      const before = await test.find("a");
      test.clock.advance(100);

      expect(await test.commit(instance, outcome, { ...details, resent: true })).toEqual(written());
      expect(await test.find("a")).toEqual(before);
      expect(await namesIn(instance)).toEqual(["charge"]);
    });

    it("doesn't put back to sleep what was woken since", async () => {
      const instance = await test.start({ id: "a" });
      await test.park(instance);
      await test.send("a");

      expect(await test.park(instance, { resent: true })).toEqual(written({ wakes: 1 }));
      expect(await test.find("a")).toMatchObject({ availableAt: test.now });
    });

    it("is superseded if somebody has had it since", async () => {
      const instance = await test.start({ id: "a" });
      await test.park(instance);
      test.clock.advance(SLEEP_MS);
      const owner = await test.claimOne();

      expect(await test.park(instance, { resent: true })).toEqual(SUPERSEDED);
      await test.park(owner);
      expect(await test.park(instance, { resent: true })).toEqual(SUPERSEDED);
    });

    it("is each for itself in a batch", async () => {
      await test.createMany(3);
      const claimed = await test.claim();
      const [applied, , gone] = claimed as [ClaimedInstance, ClaimedInstance, ClaimedInstance];
      const commits = claimed.map((instance) => test.commitOf(instance, COMPLETED, { entries: [test.entry()] }));
      await test.statements.commit(commits.slice(0, 1), { resent: false });
      await test.statements.terminate(test.named(gone.id));

      expect(await test.statements.commit(commits, { resent: true })).toEqual([written(), written(), SUPERSEDED]);
      expect(await namesIn(applied)).toEqual(["charge"]);
      expect(await namesIn(gone)).toEqual([]);
    });
  });
});
