import { describe, expect, it } from "vitest";
import type { ClaimedHook } from "../../src/store/hook-records.ts";
import { usePostgres } from "../support/use-postgres.ts";
import { COMPLETED, RELEASED } from "../support/use-store.ts";

describe("claims of several processes on PostgreSQL", () => {
  const test = usePostgres();

  it("never exceed their limit, and never give a hook to two", async () => {
    const limit = 7;
    await test.insertMany(500);
    for (const hook of await test.claim({ limit: 100 })) await test.settle(hook, RELEASED);
    const claimers = Array.from({ length: 4 }, () => test.reopen().store.hooks.statements);
    const claimed: ClaimedHook[] = [];
    const sizes: number[] = [];

    await Promise.all(
      claimers.map(async (hooks) => {
        for (;;) {
          const batch = await hooks.claim({ ...test.request(), limit });
          sizes.push(batch.length);
          claimed.push(...batch);
          if (batch.length === 0 && (await test.hooks.statistics(test.namespace)).pending === 0) return;
        }
      }),
    );

    expect(Math.max(...sizes)).toBe(limit);
    expect(claimed).toHaveLength(500);
    expect(new Set(claimed.map(({ id }) => id)).size).toBe(500);
    expect(claimed.every(({ attempts, recoveries }) => attempts === 1 && recoveries === 0)).toBe(true);
  });

  it("skip what another is just taking, and don't wait for it", async () => {
    const ids = await test.insertMany(6);
    const other = await test.begin();
    await other.query("select from perdure.hook where namespace = $1 and id = any ($2) for update", [
      test.namespace,
      ids.slice(0, 3),
    ]);

    expect((await test.claim({ limit: 2 })).map(({ id }) => id)).toEqual(ids.slice(3, 5));
    expect((await test.claim({ limit: 2 })).map(({ id }) => id)).toEqual(ids.slice(5));
    expect(await test.claim({ limit: 2 })).toEqual([]);
    await other.query("rollback");
    expect((await test.claim()).map(({ id }) => id)).toEqual(ids.slice(0, 3));
  });

  it("take over a lost hook once", async () => {
    await test.insert({ id: "a", lease: { lock: "gone", leaseMs: 1000 } });
    test.clock.advance(1000);
    const claimers = Array.from({ length: 4 }, () => test.reopen().store.hooks.statements);

    const claimed = await Promise.all(claimers.map((hooks) => hooks.claim(test.request())));

    expect(claimed.flat()).toMatchObject([{ id: "a", unconfirmed: true }]);
  });

  describe("of a queue that is longer than they can take", () => {
    it("find what was committed late, with an earlier time than what is claimed already", async () => {
      const user = await test.begin();
      await user.query(
        `insert into perdure.hook (namespace, id, name, payload, created_at, triggered_at, attempts, class, available_at)
        values ($1, 'late', 'greet', 'null', $2, $2, 0, 1, $2)`,
        [test.namespace, test.clock.now()],
      );
      test.clock.advance(100);
      await test.insertMany(100);
      for (let round = 0; round < 3; round++) expect(await test.claim({ limit: 10 })).toHaveLength(10);
      await user.query("commit");
      test.clock.advance(5000);

      expect((await test.claim({ limit: 10 })).map(({ id }) => id)).toContain("late");
    });

    it("take over what was lost", async () => {
      await test.insertMany(100);
      const [lost] = await test.claim({ limit: 10, leaseMs: 1000 });
      for (let round = 0; round < 3; round++) expect(await test.claim({ limit: 10 })).toHaveLength(10);
      test.clock.advance(5000);

      expect((await test.claim({ limit: 10 })).map(({ id }) => id)).toContain(lost?.id);
    });

    it("take each hook once, whatever others do meanwhile", async () => {
      await test.insertMany(60);
      const seen: string[] = [];
      while (seen.length < 80) {
        const claimed = await test.claim({ limit: 10 });
        seen.push(...claimed.map(({ id }) => id));
        for (const hook of claimed) await test.settle(hook, COMPLETED);
        if (seen.length <= 20) await test.insertMany(10);
        test.clock.advance(1);
      }

      expect(new Set(seen).size).toBe(80);
      expect(await test.claim()).toEqual([]);
    });
  });
});
