import type { Client } from "pg";
import { describe, expect, it } from "vitest";
import type { InstanceOutcome } from "../../src/store/instance-records.ts";
import type { InstanceStatements } from "../../src/store/instance-statements.ts";
import { holdAfterSnapshot, instancesOn } from "../support/instance-session.ts";
import { InstancesUnderTest, LEASE_MS } from "../support/use-instances.ts";
import { usePostgres } from "../support/use-postgres.ts";

describe("forced interleavings with parking on PostgreSQL", () => {
  const sessions = usePostgres();
  const test = new InstancesUnderTest(sessions);

  const parked = (wakes = 0): InstanceOutcome => ({ kind: "parked", dueAt: test.now + LEASE_MS, wakes });
  const entries = [{ ...test.entry(), name: "pack" }];

  /** Does something in a transaction that stays open. */
  async function hold(use: (instances: InstanceStatements) => Promise<unknown>): Promise<Client> {
    const client = await sessions.begin();
    await use(instancesOn(client, test.clock));
    return client;
  }

  describe("what wakes an instance while it is being parked makes it due at once", () => {
    const WAKERS: [string, () => Promise<void>, (instances: InstanceStatements) => Promise<unknown>][] = [
      ["an event", async () => {}, (instances) => instances.sendEvents([test.event("a")])],
      [
        "a resume",
        async () => void (await test.statements.pause(test.named("a"))),
        (instances) => instances.resume(test.named("a")),
      ],
    ];

    it.each(WAKERS)("%s that comes first", async (_, prepare, wake) => {
      const owner = await test.start({ id: "a" });
      await prepare();
      const waking = await hold(wake);
      const parking = test.commit(owner, parked(), { entries });
      await sessions.waiting(1);
      await waking.query("commit");

      expect(await parking).toMatchObject({ result: "written", wakes: 1, paused: false });
      expect(await test.nextWake()).toBe(0);
      expect(await test.claimOne()).toMatchObject({ wakes: 1, recoveries: 0 });
    });

    it.each(WAKERS)("%s that comes second", async (_, prepare, wake) => {
      const owner = await test.start({ id: "a" });
      await prepare();
      const parking = await hold((instances) => instances.commit([test.commitOf(owner, parked())], { resent: false }));
      const waking = wake(test.statements);
      await sessions.waiting(1);
      await parking.query("commit");
      await waking;

      expect(await test.nextWake()).toBe(0);
      expect(await test.claimOne()).toMatchObject({ wakes: 1 });
    });

    it.each(WAKERS)("%s, when it is told so after its snapshot", async (_, prepare, wake) => {
      const owner = await test.start({ id: "a" });
      await prepare();
      const parking = await holdAfterSnapshot(sessions, (instances) =>
        instances.commit([test.commitOf(owner, parked(), { entries })], { resent: false }),
      );
      await wake(test.statements);

      expect(await parking.goOn()).toMatchObject([{ result: "written", wakes: 1 }]);
      expect(await test.nextWake()).toBe(0);
    });
  });

  describe("a pause while it is being parked makes it due no more", () => {
    it("when it comes first", async () => {
      const owner = await test.start({ id: "a" });
      const pausing = await hold((instances) => instances.pause(test.named("a")));
      const parking = test.commit(owner, parked());
      await sessions.waiting(1);
      await pausing.query("commit");

      expect(await parking).toMatchObject({ result: "written", paused: true });
      expect(await test.find("a")).toMatchObject({ status: "paused", availableAt: null });
    });

    it("when it comes second", async () => {
      const owner = await test.start({ id: "a" });
      const parking = await hold((instances) => instances.commit([test.commitOf(owner, parked())], { resent: false }));
      const pausing = test.statements.pause(test.named("a"));
      await sessions.waiting(1);
      await parking.query("commit");

      expect(await pausing).toMatchObject({ changed: true, instance: { status: "paused", availableAt: null } });
      expect(await test.nextWake()).toBeNull();
    });

    it("and a resume that waited for it makes it due", async () => {
      await test.create({ id: "a" });
      const pausing = await hold((instances) => instances.pause(test.named("a")));
      const resuming = test.statements.resume(test.named("a"));
      await sessions.waiting(1);
      await pausing.query("commit");

      expect(await resuming).toMatchObject({ changed: true, instance: { status: "queued" } });
      expect(await test.nextWake()).toBe(0);
    });
  });
});
