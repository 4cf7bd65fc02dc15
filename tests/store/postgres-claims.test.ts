import { describe, expect, test } from "vitest";
import type { ClaimedHook } from "../../src/store/hooks/hook-records.ts";
import { usePostgres } from "../support/use-postgres.ts";
import { COMPLETED, RELEASED } from "../support/use-store.ts";

describe("claims of several processes on PostgreSQL", () => {
  const fixture = usePostgres();

  test("never exceed their limit, and never give a hook to two", async () => {
    const limit = 7;
    await fixture.insertMany(500);
    for (const hook of await fixture.claim({ limit: 100 })) await fixture.settle(hook, RELEASED);
    const claimers = Array.from({ length: 4 }, () => fixture.reopen().store.hooks.statements);
    const claimed: ClaimedHook[] = [];
    const sizes: number[] = [];

    await Promise.all(
      claimers.map(async (hooks) => {
        for (;;) {
          const batch = await hooks.claim({ ...fixture.request(), limit });
          sizes.push(batch.length);
          claimed.push(...batch);
          if (batch.length === 0 && (await fixture.hooks.statistics(fixture.namespace)).pending === 0) return;
        }
      }),
    );

    expect(Math.max(...sizes)).toBe(limit);
    expect(claimed).toHaveLength(500);
    expect(new Set(claimed.map(({ id }) => id)).size).toBe(500);
    expect(claimed.every(({ attempts, recoveries }) => attempts === 1 && recoveries === 0)).toBe(true);
  });

  test("skip what another is just taking, and don't wait for it", async () => {
    const ids = await fixture.insertMany(6);
    const other = await fixture.begin();
    await other.query("select from perdure.hook where namespace = $1 and id = any ($2) for update", [
      fixture.namespace,
      ids.slice(0, 3),
    ]);

    expect((await fixture.claim({ limit: 2 })).map(({ id }) => id)).toEqual(ids.slice(3, 5));
    expect((await fixture.claim({ limit: 2 })).map(({ id }) => id)).toEqual(ids.slice(5));
    expect(await fixture.claim({ limit: 2 })).toEqual([]);
    await other.query("rollback");
    expect((await fixture.claim()).map(({ id }) => id)).toEqual(ids.slice(0, 3));
  });

  test("take over a lost hook once", async () => {
    await fixture.insert({ id: "a", lease: { lock: "gone", leaseMs: 1000 } });
    fixture.clock.advance(1000);
    const claimers = Array.from({ length: 4 }, () => fixture.reopen().store.hooks.statements);

    const claimed = await Promise.all(claimers.map((hooks) => hooks.claim(fixture.request())));

    expect(claimed.flat()).toMatchObject([{ id: "a", inDoubt: true }]);
  });

  describe("of a queue that is longer than they can take", () => {
    test("find what was committed late, with an earlier time than what is claimed already", async () => {
      const user = await fixture.begin();
      await user.query(
        `insert into perdure.hook (namespace, id, name, payload, created_at, triggered_at, attempts, class, available_at)
        values ($1, 'late', 'greet', 'null', $2, $2, 0, 1, $2)`,
        [fixture.namespace, fixture.clock.now()],
      );
      fixture.clock.advance(100);
      await fixture.insertMany(100);
      for (let round = 0; round < 3; round++) expect(await fixture.claim({ limit: 10 })).toHaveLength(10);
      await user.query("commit");
      fixture.clock.advance(5000);

      expect((await fixture.claim({ limit: 10 })).map(({ id }) => id)).toContain("late");
    });

    test("take over what was lost", async () => {
      await fixture.insertMany(100);
      const [lost] = await fixture.claim({ limit: 10, leaseMs: 1000 });
      for (let round = 0; round < 3; round++) expect(await fixture.claim({ limit: 10 })).toHaveLength(10);
      fixture.clock.advance(5000);

      expect((await fixture.claim({ limit: 10 })).map(({ id }) => id)).toContain(lost?.id);
    });

    test("take each hook once, whatever others do meanwhile", async () => {
      await fixture.insertMany(60);
      const seen: string[] = [];
      while (seen.length < 80) {
        const claimed = await fixture.claim({ limit: 10 });
        seen.push(...claimed.map(({ id }) => id));
        for (const hook of claimed) await fixture.settle(hook, COMPLETED);
        if (seen.length <= 20) await fixture.insertMany(10);
        fixture.clock.advance(1);
      }

      expect(new Set(seen).size).toBe(80);
      expect(await fixture.claim()).toEqual([]);
    });
  });
});
