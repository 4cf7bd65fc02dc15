import type { Client } from "pg";
import { describe, expect, test } from "vitest";
import type { ClaimedInstance, InstanceOutcome } from "../../src/store/instances/instance-records.ts";
import type { InstanceStatements } from "../../src/store/instances/instance-statements.ts";
import { holdAfterSnapshot, instancesOn } from "../support/instance-session.ts";
import { COMPLETED, ERRORED, InstancesUnderTest, LEASE_MS, RELEASED, RUNNING } from "../support/use-instances.ts";
import { usePostgres } from "../support/use-postgres.ts";

describe("forced interleavings of workflows on PostgreSQL", () => {
  const sessions = usePostgres();
  const fixture = new InstancesUnderTest(sessions);

  const parked = (wakes = 0): InstanceOutcome => ({ kind: "parked", dueAt: fixture.now + LEASE_MS, wakes });
  const entries = [{ ...fixture.entry(), name: "pack" }];

  /** Does something in a transaction that stays open. */
  async function hold(use: (instances: InstanceStatements) => Promise<unknown>): Promise<Client> {
    const client = await sessions.begin();
    await use(instancesOn(client, fixture.clock));
    return client;
  }

  /** A session that holds the lock of an instance's row, as a session that is just writing it does. */
  async function lock({ ref }: { ref: string }): Promise<Client> {
    const client = await sessions.begin();
    await client.query("select from perdure.instance where ref = $1 for update", [ref]);
    return client;
  }

  async function steps(instance: { ref: string }): Promise<string[]> {
    return (await fixture.history(instance.ref)).map(({ name }) => name);
  }

  async function takeOver(): Promise<ClaimedInstance> {
    fixture.clock.advance(LEASE_MS);
    const taken = await fixture.claimOne();
    expect(taken.recoveries).toBeGreaterThan(0);
    return taken;
  }

  describe("an event that is committed between a claim's snapshot and its lock is seen", () => {
    test.each([
      ["before the first run", async () => void (await fixture.create({ id: "a" }))],
      [
        "while it sleeps",
        async () => {
          await fixture.park(await fixture.start({ id: "a" }), { dueAt: fixture.now });
        },
      ],
    ])("%s", async (_, prepare) => {
      await prepare();
      const claiming = await holdAfterSnapshot(sessions, (instances) => instances.claim(fixture.request()));
      await fixture.send("a");
      const [claimed] = await claiming.goOn();

      const owned = claimed ?? (await fixture.claimOne());
      expect(owned).toMatchObject({ wakes: 1, begun: true });
      expect(await fixture.load(owned)).toMatchObject({ wakes: 1, events: [{ id: "event-1", sequence: 1 }] });
    });
  });

  describe("of two owners, one gets a position and the other is superseded", () => {
    test("the old one, when its commit comes after that of the new one", async () => {
      const old = await fixture.start();
      const late = await holdAfterSnapshot(sessions, (instances) =>
        instances.commit([fixture.commitOf(old, RUNNING, { entries })], { resent: false }),
      );
      const owner = await takeOver();
      expect(await fixture.load(owner)).toMatchObject({ entries: [] });
      expect(await fixture.commit(owner, RUNNING, { entries: [fixture.entry()] })).toMatchObject({ result: "written" });

      expect(await late.goOn()).toEqual([{ result: "superseded" }]);
      expect(await steps(owner)).toEqual(["charge"]);
    });

    test("the new one, when the commit of the old one was under way before the takeover", async () => {
      const old = await fixture.start();
      const late = await holdAfterSnapshot(sessions, (instances) =>
        instances.commit([fixture.commitOf(old, RUNNING, { entries })], { resent: false }),
      );
      const owner = await takeOver();
      expect(await fixture.load(owner)).toMatchObject({ entries: [] });
      expect(await late.goOn()).toMatchObject([{ result: "written" }]);

      for (const outcome of [RUNNING, parked(), COMPLETED, ERRORED, RELEASED]) {
        expect(await fixture.commit(owner, outcome, { entries: [fixture.entry()] }), outcome.kind).toEqual({
          result: "superseded",
        });
      }
      expect(await fixture.load(owner)).toMatchObject({ entries: [{ name: "pack" }] });
      expect(await fixture.commit(owner, COMPLETED, { position: 2 })).toMatchObject({ result: "written" });
    });

    test("the new one too when it sends its commit again, unless both wrote the same", async () => {
      const old = await fixture.start();
      const late = await hold((instances) =>
        instances.commit([fixture.commitOf(old, RUNNING, { entries })], { resent: false }),
      );
      const owner = await takeOver();
      const committing = fixture.commit(owner, RUNNING, { entries: [fixture.entry()] });
      await sessions.waiting(1);
      await late.query("commit");

      expect(await committing).toEqual({ result: "superseded" });
      const again = { entries: [fixture.entry()], resent: true };
      expect(await fixture.commit(owner, RUNNING, again)).toEqual({ result: "superseded" });
      expect(await fixture.commit(owner, COMPLETED, { entries, resent: true })).toMatchObject({ result: "written" });
      expect(await steps(owner)).toEqual(["pack"]);
      expect(await fixture.list({ status: "complete", limit: 10 })).toHaveLength(1);
    });

    test("neither is superseded when the old owner's commit is rolled back", async () => {
      const old = await fixture.start();
      const late = await hold((instances) =>
        instances.commit([fixture.commitOf(old, RUNNING, { entries })], { resent: false }),
      );
      const owner = await takeOver();
      const committing = fixture.commit(owner, RUNNING, { entries: [fixture.entry()] });
      await sessions.waiting(1);
      await late.query("rollback");

      expect(await committing).toMatchObject({ result: "written" });
      expect(await steps(owner)).toEqual(["charge"]);
    });

    test.each([parked(), COMPLETED, ERRORED, RELEASED])(
      "the old one, when a takeover is under way: $kind",
      async (outcome) => {
        for (const resent of [false, true]) {
          const old = await fixture.start();
          fixture.clock.advance(LEASE_MS);
          const claim = await hold((instances) => instances.claim(fixture.request({ limit: 1 })));
          const committing = fixture.commit(old, outcome, { entries, resent });
          await sessions.waiting(1);
          await claim.query("commit");

          expect(await committing).toEqual({ result: "superseded" });
          expect(await steps(old)).toEqual([]);
          expect(await fixture.statements.terminate(old)).toMatchObject({ changed: true });
        }
      },
    );

    test("in a batch, the batch fails as a whole, for its sender to split", async () => {
      const [first, second] = [await fixture.start({ id: "a" }), await fixture.start({ id: "b" })];
      const late = await holdAfterSnapshot(sessions, (instances) =>
        instances.commit(
          [first, second].map((one) => fixture.commitOf(one, RUNNING, { entries })),
          { resent: false },
        ),
      );
      await fixture.commit(first, RUNNING, { entries: [fixture.entry()] });

      await expect(late.goOn()).rejects.toMatchObject({ code: "23505" });
      expect(await steps(second)).toEqual([]);
    });
  });

  describe("two events of one id at once", () => {
    test("are one event", async () => {
      await fixture.create({ id: "a" });
      const first = await hold((instances) => instances.sendEvents([fixture.event("a")]));
      const second = fixture.statements.sendEvents([fixture.event("a"), fixture.event("a", { eventId: "event-2" })]);
      await sessions.waiting(1);
      await first.query("commit");

      expect(await second).toMatchObject([{ result: "known" }, { result: "sent" }]);
      const history = await fixture.load(await fixture.claimOne());
      expect(history?.events.map(({ id }) => id)).toEqual(["event-1", "event-2"]);
      expect(history?.wakes).toBe(history?.events.at(-1)?.sequence);
    });

    test("are the second, when the first is rolled back", async () => {
      await fixture.create({ id: "a" });
      const first = await hold((instances) => instances.sendEvents([fixture.event("a")]));
      const second = fixture.send("a");
      await sessions.waiting(1);
      await first.query("rollback");

      expect(await second).toMatchObject({ result: "sent" });
      expect(await fixture.claimOne()).toMatchObject({ wakes: 1 });
    });
  });

  describe("an event that waits for a", () => {
    test("restart goes to the new run", async () => {
      await fixture.create({ id: "a" });
      const restarting = await hold((instances) => instances.restart(fixture.named("a")));
      const sending = fixture.send("a");
      await sessions.waiting(1);
      await restarting.query("commit");

      expect(await sending).toMatchObject({ result: "sent" });
      expect(await fixture.load(await fixture.claimOne())).toMatchObject({ run: 2, events: [{ id: "event-1" }] });
    });

    test("termination is told that it is finished", async () => {
      await fixture.create({ id: "a" });
      const terminating = await hold((instances) => instances.terminate(fixture.named("a")));
      const sending = fixture.send("a");
      await sessions.waiting(1);
      await terminating.query("commit");

      expect(await sending).toEqual({ result: "finished" });
    });
  });

  test.each(["terminate", "restart"] as const)(
    "a commit that waits for a %s is superseded, and writes nothing",
    async (change) => {
      for (const resent of [false, true]) {
        const owner = await fixture.start();
        const changing = await hold((instances) => instances[change](owner));
        const committing = fixture.commit(owner, COMPLETED, { entries, resent });
        await sessions.waiting(1);
        await changing.query("commit");

        expect(await committing).toEqual({ result: "superseded" });
        expect(await steps(owner)).toEqual([]);
        await fixture.statements.delete(owner);
      }
    },
  );

  test("a deletion that waits for a commit takes its entries, too", async () => {
    const owner = await fixture.start();
    const committing = await hold((instances) =>
      instances.commit([fixture.commitOf(owner, COMPLETED, { entries })], { resent: false }),
    );
    const deleting = fixture.statements.delete(owner);
    await sessions.waiting(1);
    await committing.query("commit");

    expect(await deleting).toMatchObject({ changed: true, instance: { status: "complete" } });
    expect(await steps(owner)).toEqual([]);
  });

  test("one id that is created twice at once is one instance", async () => {
    const first = fixture.instance({ id: "a" });
    const inserting = await hold((instances) => instances.insert([first]));
    const second = fixture.statements.insert([fixture.instance({ id: "a" }), fixture.instance({ id: "b" })]);
    await sessions.waiting(1);
    await inserting.query("commit");

    expect(await second).toMatchObject([{ result: "existing", ref: first.ref }, { result: "created" }]);
    expect(await fixture.list()).toHaveLength(2);
  });

  test("the commits of others don't wait for an instance that is just written, while it continues running", async () => {
    const owner = await fixture.start();
    const holder = await lock(owner);

    expect(await fixture.commit(owner, RUNNING, { entries })).toMatchObject({ result: "written" });
    await holder.query("commit");
  });

  test("statements that write the same rows in different orders don't wait for each other", async () => {
    await fixture.createMany(3);
    const owned = await fixture.claim();
    const events = owned.map(({ id }) => fixture.event(id));
    const holder = await lock(owned[0] as ClaimedInstance);
    const sending = fixture.statements.sendEvents(events.toReversed());
    await sessions.waiting(1);
    const renewing = fixture.statements.renew(owned.toReversed(), LEASE_MS);
    await sessions.waiting(2);
    const [first, ...others] = owned.toReversed().map((one) => fixture.commitOf(one, parked()));
    const committing = fixture.statements.commit([...others, ...(first ? [first] : [])], { resent: false });
    await sessions.waiting(3);
    await holder.query("commit");

    expect((await sending).map(({ result }) => result)).toEqual(["sent", "sent", "sent"]);
    expect(await committing).toMatchObject([{ result: "written" }, { result: "written" }, { result: "written" }]);
    await renewing;
  });
});
