import { describe, expect, it } from "vitest";
import { type Clock, systemClock } from "../../src/clock.ts";
import { ENGINES } from "../support/engines.ts";
import { usePostgres } from "../support/use-postgres.ts";
import { COMPLETED, FAILED, KEPT, LEASE_MS, RELEASED, retryAfter, useStore } from "../support/use-store.ts";

describe.each(ENGINES)("controlled time on $name", (engine) => {
  const test = useStore(engine);

  it.each([
    ["long ago", Date.UTC(1971, 0)],
    ["far ahead", Date.UTC(2300, 0)],
  ])("%s is all that counts: nothing looks at the real time", async (_, start) => {
    test.clock.set(start);
    await test.insert({ id: "a", key: "k" });
    expect(await test.nextWake()).toBe(0);
    const first = await test.claimOne();
    expect(first).toMatchObject({ createdAt: start, dueAt: start, claimedAt: start, lastAttemptAt: null });
    expect(await test.nextWake()).toBe(LEASE_MS);
    test.clock.advance(1000);
    await test.hooks.renew([first], LEASE_MS);
    expect((await test.get("a"))?.availableAt).toBe(start + 1000 + LEASE_MS);
    await test.settle(first, retryAfter(500));
    expect(await test.nextWake()).toBe(500);
    test.clock.advance(500);
    const second = await test.claimOne();
    expect(second).toMatchObject({ dueAt: start + 1500, lastAttemptAt: start });
    await test.settle(second, RELEASED);
    const third = await test.claimOne();
    await test.hooks.expireLeases([test.namespace], [third.lock]);
    expect(await test.nextWake()).toBe(0);
    const fourth = await test.claimOne();
    await test.settle(fourth, FAILED);
    expect((await test.get("a"))?.finishedAt).toBe(start + 1500);
    test.clock.advance(10);
    await test.hooks.redrive(test.namespace, ["a"]);
    expect(await test.hooks.statistics(test.namespace)).toMatchObject({ due: 1, oldestDueMs: 0 });
    await test.settle(await test.claimOne(), KEPT);
    expect(await test.hooks.purge(test.namespace, 1)).toBe(0);
    test.clock.advance(60_000);
    expect(await test.hooks.purge(test.namespace, 1)).toBe(1);
  });

  it("takes triggers without a time, and times in the past, as of now", async () => {
    const start = Date.UTC(1980, 0);
    test.clock.set(start);
    await test.insert({ id: "a" });
    await test.insert({ id: "b", processAt: start - 1 });
    await test.insert({ id: "c", processAt: start + 1 });

    expect((await test.claim()).map(({ id }) => id)).toEqual(["a", "b"]);
  });
});

describe("a process with a wrong clock on PostgreSQL", () => {
  const test = usePostgres();
  const HOURS = 3_600_000;

  it.each([
    ["fast", 5 * HOURS],
    ["slow", -5 * HOURS],
  ])("that is %s by hours does everything by the database's time", async (_, error) => {
    const wrong: Clock = { ...systemClock, now: () => Date.now() + error };
    const { hooks } = test.reopen({ clock: wrong }).store;
    const databaseTime = async () =>
      Number((await test.observer?.query("select extract(epoch from clock_timestamp()) * 1000 as now"))?.rows[0].now);
    const scopes = [{ namespace: test.namespace, names: ["greet"] }];

    const before = Math.floor(await databaseTime());
    const [inserted] = await hooks.insert([test.trigger({ id: "a" })]);
    await hooks.insert([test.trigger({ id: "later", processAt: before + HOURS })]);
    const claimed = await hooks.statements.claim({ ...test.request(), scopes, leaseMs: 10 * HOURS });
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
