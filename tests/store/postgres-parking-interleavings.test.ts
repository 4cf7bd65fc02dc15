import type { Client } from "pg";
import { describe, expect, test } from "vitest";
import type { InstanceOutcome } from "../../src/store/instances/instance-records.ts";
import type { InstanceStatements } from "../../src/store/instances/instance-statements.ts";
import { holdAfterSnapshot, instancesOn } from "../support/instance-session.ts";
import { InstancesUnderTest, LEASE_MS } from "../support/use-instances.ts";
import { usePostgres } from "../support/use-postgres.ts";

describe("forced interleavings with parking on PostgreSQL", () => {
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

  describe("a wake while an instance is being parked makes it due at once", () => {
    const WAKERS: [string, () => Promise<void>, (instances: InstanceStatements) => Promise<unknown>][] = [
      ["an event", async () => {}, (instances) => instances.sendEvents([fixture.event("a")])],
      [
        "a resume",
        async () => void (await fixture.statements.pause(fixture.named("a"))),
        (instances) => instances.resume(fixture.named("a")),
      ],
    ];

    test.each(WAKERS)("%s that comes first", async (_, prepare, wake) => {
      const owner = await fixture.start({ id: "a" });
      await prepare();
      const waking = await hold(wake);
      const parking = fixture.commit(owner, parked(), { entries });
      await sessions.waiting(1);
      await waking.query("commit");

      expect(await parking).toMatchObject({ result: "written", wakes: 1, paused: false });
      expect(await fixture.nextWake()).toBe(0);
      expect(await fixture.claimOne()).toMatchObject({ wakes: 1, recoveries: 0 });
    });

    test.each(WAKERS)("%s that comes second", async (_, prepare, wake) => {
      const owner = await fixture.start({ id: "a" });
      await prepare();
      const parking = await hold((instances) =>
        instances.commit([fixture.commitOf(owner, parked())], { resent: false }),
      );
      const waking = wake(fixture.statements);
      await sessions.waiting(1);
      await parking.query("commit");
      await waking;

      expect(await fixture.nextWake()).toBe(0);
      expect(await fixture.claimOne()).toMatchObject({ wakes: 1 });
    });

    test.each(WAKERS)("%s, when it is told so after its snapshot", async (_, prepare, wake) => {
      const owner = await fixture.start({ id: "a" });
      await prepare();
      const parking = await holdAfterSnapshot(sessions, (instances) =>
        instances.commit([fixture.commitOf(owner, parked(), { entries })], { resent: false }),
      );
      await wake(fixture.statements);

      expect(await parking.goOn()).toMatchObject([{ result: "written", wakes: 1 }]);
      expect(await fixture.nextWake()).toBe(0);
    });
  });

  test("an event of a token that waits for the commit that ends the token's wait isn't stored", async () => {
    const owner = await fixture.start({ id: "a" });
    const abandoned = fixture.entry({ kind: "abandoned", type: "token", name: "approval" });
    const parking = await hold((instances) =>
      instances.commit([fixture.commitOf(owner, parked(), { entries: [abandoned] })], { resent: false }),
    );
    const sending = fixture.send("a", { only: owner, token: { name: "approval", count: 1 } });
    await sessions.waiting(1);
    await parking.query("commit");

    expect(await sending).toEqual({ result: "over" });
  });

  describe("a pause while it is being parked makes it due no more", () => {
    test("when it comes first", async () => {
      const owner = await fixture.start({ id: "a" });
      const pausing = await hold((instances) => instances.pause(fixture.named("a")));
      const parking = fixture.commit(owner, parked());
      await sessions.waiting(1);
      await pausing.query("commit");

      expect(await parking).toMatchObject({ result: "written", paused: true });
      expect(await fixture.find("a")).toMatchObject({ status: "paused", availableAt: null });
    });

    test("when it comes second", async () => {
      const owner = await fixture.start({ id: "a" });
      const parking = await hold((instances) =>
        instances.commit([fixture.commitOf(owner, parked())], { resent: false }),
      );
      const pausing = fixture.statements.pause(fixture.named("a"));
      await sessions.waiting(1);
      await parking.query("commit");

      expect(await pausing).toMatchObject({ changed: true, instance: { status: "paused", availableAt: null } });
      expect(await fixture.nextWake()).toBeNull();
    });

    test("and a resume that waited for it makes it due", async () => {
      await fixture.create({ id: "a" });
      const pausing = await hold((instances) => instances.pause(fixture.named("a")));
      const resuming = fixture.statements.resume(fixture.named("a"));
      await sessions.waiting(1);
      await pausing.query("commit");

      expect(await resuming).toMatchObject({ changed: true, instance: { status: "queued" } });
      expect(await fixture.nextWake()).toBe(0);
    });
  });
});
