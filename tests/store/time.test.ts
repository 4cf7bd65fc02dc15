import { describe, expect, test } from "vitest";
import { type Clock, systemClock } from "../../src/clock.ts";
import { DRIVERS } from "../support/engines.ts";
import { usePostgres } from "../support/use-postgres.ts";
import { COMPLETED, FAILED, KEPT, LEASE_MS, RELEASED, retryAfter, useStore } from "../support/use-store.ts";

describe.each(DRIVERS)("controlled time on $name", (engine) => {
  const fixture = useStore(engine);

  test.each([
    ["long ago", Date.UTC(1971, 0)],
    ["far ahead", Date.UTC(2300, 0)],
  ])("%s is all that counts: nothing looks at the real time", async (_, start) => {
    fixture.clock.set(start);
    await fixture.insert({ id: "a", key: "k" });
    expect(await fixture.nextWake()).toBe(0);
    const first = await fixture.claimOne();
    expect(first).toMatchObject({ createdAt: start, dueAt: start, claimedAt: start, lastAttemptAt: null });
    expect(await fixture.nextWake()).toBe(LEASE_MS);
    fixture.clock.advance(1000);
    await fixture.hooks.renew([first], LEASE_MS);
    expect((await fixture.get("a"))?.availableAt).toBe(start + 1000 + LEASE_MS);
    await fixture.settle(first, retryAfter(500));
    expect(await fixture.nextWake()).toBe(500);
    fixture.clock.advance(500);
    const second = await fixture.claimOne();
    expect(second).toMatchObject({ dueAt: start + 1500, lastAttemptAt: start });
    await fixture.settle(second, RELEASED);
    const third = await fixture.claimOne();
    await fixture.hooks.expireLeases([fixture.namespace], [third.lock]);
    expect(await fixture.nextWake()).toBe(0);
    const fourth = await fixture.claimOne();
    await fixture.settle(fourth, FAILED);
    expect((await fixture.get("a"))?.finishedAt).toBe(start + 1500);
    fixture.clock.advance(10);
    await fixture.hooks.redrive(fixture.namespace, ["a"]);
    expect(await fixture.hooks.statistics(fixture.namespace)).toMatchObject({ due: 1, oldestDueMs: 0 });
    await fixture.settle(await fixture.claimOne(), KEPT);
    expect(await fixture.hooks.purge(fixture.namespace, 1)).toBe(0);
    fixture.clock.advance(60_000);
    expect(await fixture.hooks.purge(fixture.namespace, 1)).toBe(1);
  });

  test("takes triggers without a time, and times in the past, as of now", async () => {
    const start = Date.UTC(1980, 0);
    fixture.clock.set(start);
    await fixture.insert({ id: "a" });
    await fixture.insert({ id: "b", processAt: start - 1 });
    await fixture.insert({ id: "c", processAt: start + 1 });

    expect((await fixture.claim()).map(({ id }) => id)).toEqual(["a", "b"]);
  });
});

describe("a process with a wrong clock on PostgreSQL", () => {
  const fixture = usePostgres();
  const HOURS = 3_600_000;

  test.each([
    ["fast", 5 * HOURS],
    ["slow", -5 * HOURS],
  ])("that is %s by hours does everything by the database's time", async (_, error) => {
    const wrong: Clock = { ...systemClock, now: () => Date.now() + error };
    const { hooks } = fixture.reopen({ clock: wrong }).store;
    const databaseTime = async () =>
      Number(
        (await fixture.observer?.query("select extract(epoch from clock_timestamp()) * 1000 as now"))?.rows[0].now,
      );
    const scopes = [{ namespace: fixture.namespace, names: ["greet"] }];

    const before = Math.floor(await databaseTime());
    const [inserted] = await hooks.insert([fixture.trigger({ id: "a" })]);
    await hooks.insert([fixture.trigger({ id: "later", processAt: before + HOURS })]);
    const claimed = await hooks.statements.claim({ ...fixture.request(), scopes, leaseMs: 10 * HOURS });
    const wake = await hooks.statements.nextWake(scopes, { takeOver: true });
    const after = Math.ceil(await databaseTime());

    for (const time of [inserted?.at, claimed[0]?.createdAt, claimed[0]?.dueAt, claimed[0]?.claimedAt]) {
      expect(time).toBeGreaterThanOrEqual(before);
      expect(time).toBeLessThanOrEqual(after);
    }
    expect(claimed).toHaveLength(1);
    expect(wake).toBeLessThanOrEqual(HOURS);
    expect(wake).toBeGreaterThanOrEqual(HOURS - (after - before));
    const settlement = { ...(claimed[0] as (typeof claimed)[0]), keyed: false, outcome: COMPLETED };
    expect(await hooks.settle(settlement)).toBe("deleted");
  });
});
