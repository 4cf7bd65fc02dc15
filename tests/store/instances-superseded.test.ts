import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { GroupCommit } from "../../src/store/group-commit.ts";
import type {
  ClaimedInstance,
  InstanceCommit,
  InstanceCommitResult,
} from "../../src/store/instances/instance-records.ts";
import { DRIVERS } from "../support/engines.ts";
import { COMPLETED, ERRORED, LEASE_MS, RELEASED, RUNNING, SLEEP_MS, useInstances } from "../support/use-instances.ts";

const SUPERSEDED = { result: "superseded" };

describe.each(DRIVERS)("commits of instances that come late, or twice, on $name", (engine) => {
  const fixture = useInstances(engine);

  async function takeOver(): Promise<ClaimedInstance> {
    fixture.clock.advance(LEASE_MS);
    return fixture.claimOne();
  }

  describe("a commit of a former owner", () => {
    test.each([
      ["taken over", () => takeOver()],
      ["terminated", () => fixture.statements.terminate(fixture.named("a"))],
      ["restarted", () => fixture.statements.restart(fixture.named("a"))],
      ["deleted", () => fixture.statements.delete(fixture.named("a"))],
    ])("isn't touched: %s", async (_, lose) => {
      const instance = await fixture.start({ id: "a" });
      await lose();
      const after = await fixture.find("a");

      for (const outcome of [RUNNING, fixture.parked(0), COMPLETED, ERRORED, RELEASED]) {
        for (const resent of [false, true]) {
          expect(await fixture.commit(instance, outcome, { entries: [fixture.entry()], resent })).toEqual(SUPERSEDED);
        }
      }
      expect(await fixture.namesIn(instance)).toEqual([]);
      expect(await fixture.find("a")).toEqual(after);
    });

    test("is recognized by the run too", async () => {
      const instance = await fixture.start();

      expect(await fixture.commit({ ...instance, run: 2 }, RUNNING, { entries: [fixture.entry()] })).toEqual(
        SUPERSEDED,
      );
      expect(await fixture.namesIn(instance)).toEqual([]);
    });

    test("is left out of a batch, the rest of which is written", async () => {
      await fixture.createMany(4);
      const claimed = await fixture.claim();
      const [, second, , fourth] = claimed as [ClaimedInstance, ClaimedInstance, ClaimedInstance, ClaimedInstance];
      await fixture.statements.terminate(fixture.named(second.id));
      await fixture.park(fourth);

      const commits = claimed.map((instance) =>
        fixture.commitOf(instance, COMPLETED, { entries: [fixture.entry(), fixture.entry()] }),
      );
      const results = await fixture.statements.commit(commits, { resent: false });

      expect(results).toEqual([fixture.written(), SUPERSEDED, fixture.written(), SUPERSEDED]);
      const lengths = await Promise.all(claimed.map(async (instance) => (await fixture.namesIn(instance)).length));
      expect(lengths).toEqual([2, 0, 2, 0]);
      expect((await fixture.list()).map(({ status }) => status)).toEqual([
        "complete",
        "terminated",
        "complete",
        "waiting",
      ]);
    });
  });

  describe("a taken position", () => {
    test("supersedes the commit, of which nothing is written", async () => {
      const instance = await fixture.start({ id: "a" });
      await fixture.commit(instance, RUNNING, { entries: [fixture.entry({ name: "first" })] });
      const before = await fixture.find("a");

      const entries = [fixture.entry({ name: "second" }), fixture.entry({ name: "third" })];
      for (const outcome of [RUNNING, fixture.parked(0), COMPLETED])
        expect(await fixture.commit(instance, outcome, { entries })).toEqual(SUPERSEDED);
      expect(await fixture.namesIn(instance)).toEqual(["first"]);
      expect(await fixture.find("a")).toEqual(before);
    });

    test("supersedes it also behind one that is free", async () => {
      const instance = await fixture.start({ id: "a" });
      await fixture.commit(instance, RUNNING, { position: 3, entries: [fixture.entry({ name: "third" })] });

      const entries = ["first", "second", "other"].map((name) => fixture.entry({ name }));
      expect(await fixture.commit(instance, COMPLETED, { entries })).toEqual(SUPERSEDED);
      expect(await fixture.namesIn(instance)).toEqual(["third"]);
      expect(await fixture.find("a")).toMatchObject({ status: "running" });
    });

    test("affects no other commit in a flush", async () => {
      await fixture.createMany(5);
      const claimed = await fixture.claim();
      const taken = claimed[2] as ClaimedInstance;
      await fixture.commit(taken, RUNNING, { entries: [fixture.entry({ name: "first" })] });
      const group = new GroupCommit<InstanceCommit, InstanceCommitResult>({
        clock: systemClock,
        flush: (commits, sending) => fixture.statements.commit(commits, sending),
        flushesInFlight: 1,
        measure: () => ({ rows: 1, bytes: 1 }),
      });

      const entries = [fixture.entry({ name: "second" })];
      const results = await Promise.all(
        claimed.map((instance) => group.add(fixture.commitOf(instance, COMPLETED, { entries }))),
      );

      expect(results.map(({ result }) => result)).toEqual(["written", "written", "superseded", "written", "written"]);
      expect(await fixture.namesIn(taken)).toEqual(["first"]);
      expect(await fixture.list({ status: "complete" })).toHaveLength(4);
    });
  });

  describe("sent again after a lost reply", () => {
    test.each([{ resent: true }, undefined])("adds its entries once (%o)", async (sending) => {
      const instance = await fixture.start();
      const commit = fixture.commitOf(instance, RUNNING, {
        entries: [fixture.entry(), fixture.entry({ name: "ship" })],
      });
      await fixture.statements.commit([commit], { resent: false });

      expect(await fixture.statements.commit([commit], sending)).toEqual([fixture.written()]);
      expect(await fixture.namesIn(instance)).toEqual(["charge", "ship"]);
    });

    test("is written if it wasn't before", async () => {
      const instance = await fixture.start({ id: "a" });

      expect(await fixture.commit(instance, COMPLETED, { entries: [fixture.entry()], resent: true })).toEqual(
        fixture.written(),
      );
      expect(await fixture.namesIn(instance)).toEqual(["charge"]);
      expect(await fixture.find("a")).toMatchObject({ status: "complete" });
    });

    test.each([
      ["parked", { kind: "parked", dueAt: 10 ** 13, wakes: 0 }],
      ["completed", COMPLETED],
      ["errored", ERRORED],
    ] as const)("is known to have %s it, and changes nothing", async (_, outcome) => {
      const instance = await fixture.start({ id: "a" });
      const details = { entries: [fixture.entry()] };
      await fixture.commit(instance, outcome, details);
      const before = await fixture.find("a");
      fixture.clock.advance(100);

      expect(await fixture.commit(instance, outcome, { ...details, resent: true })).toEqual(fixture.written());
      expect(await fixture.find("a")).toEqual(before);
      expect(await fixture.namesIn(instance)).toEqual(["charge"]);
    });

    test("doesn't put back to sleep what was woken since", async () => {
      const instance = await fixture.start({ id: "a" });
      await fixture.park(instance);
      await fixture.send("a");

      expect(await fixture.park(instance, { resent: true })).toEqual(fixture.written({ wakes: 1 }));
      expect(await fixture.find("a")).toMatchObject({ availableAt: fixture.now });
    });

    test("is superseded if another worker has claimed the instance since", async () => {
      const instance = await fixture.start({ id: "a" });
      await fixture.park(instance);
      fixture.clock.advance(SLEEP_MS);
      const owner = await fixture.claimOne();

      expect(await fixture.park(instance, { resent: true })).toEqual(SUPERSEDED);
      await fixture.park(owner);
      expect(await fixture.park(instance, { resent: true })).toEqual(SUPERSEDED);
    });

    test("is each for itself in a batch", async () => {
      await fixture.createMany(3);
      const claimed = await fixture.claim();
      const [applied, , gone] = claimed as [ClaimedInstance, ClaimedInstance, ClaimedInstance];
      const commits = claimed.map((instance) => fixture.commitOf(instance, COMPLETED, { entries: [fixture.entry()] }));
      await fixture.statements.commit(commits.slice(0, 1), { resent: false });
      await fixture.statements.terminate(fixture.named(gone.id));

      expect(await fixture.statements.commit(commits, { resent: true })).toEqual([
        fixture.written(),
        fixture.written(),
        SUPERSEDED,
      ]);
      expect(await fixture.namesIn(applied)).toEqual(["charge"]);
      expect(await fixture.namesIn(gone)).toEqual([]);
    });
  });
});
