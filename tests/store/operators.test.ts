import { describe, expect, test } from "vitest";
import type { HookFilter } from "../../src/store/hooks/hook-records.ts";
import { WorkClass } from "../../src/store/queue/work-class.ts";
import { DRIVERS } from "../support/engines.ts";
import { COMPLETED, FAILED, KEPT, LEASE_MS, retryAfter, useStore } from "../support/use-store.ts";

describe.each(DRIVERS)("operations on hooks on $name", (engine) => {
  const fixture = useStore(engine);

  async function list(filter: Partial<HookFilter> = {}): Promise<string[]> {
    const all = {
      namespace: fixture.namespace,
      status: null,
      after: null,
      order: "oldest",
      limit: 100,
    } as const;
    return (await fixture.hooks.list({ ...all, ...filter })).map(({ id }) => id);
  }

  /** One hook of each status. */
  async function insertOneOfEach(): Promise<void> {
    for (const [id, outcome] of [
      ["a-failed", FAILED],
      ["b-completed", KEPT],
    ] as const) {
      await fixture.insert({ id });
      await fixture.settle(await fixture.claimOne(), outcome);
    }
    await fixture.insert({ id: "c-processing" });
    await fixture.claimOne();
    await fixture.insert({ id: "d-pending", name: "wave" });
  }

  describe("getting", () => {
    test("gives nothing for an id or a namespace that isn't there", async () => {
      await fixture.insert({ id: "a" });

      expect(await fixture.get("b")).toBeNull();
      expect(await fixture.hooks.get({ namespace: "elsewhere", id: "a" })).toBeNull();
    });
  });

  describe("listing", () => {
    test("gives hooks by status", async () => {
      await insertOneOfEach();

      expect(await list({ status: "failed" })).toEqual(["a-failed"]);
      expect(await list({ status: "completed" })).toEqual(["b-completed"]);
      expect(await list({ status: "processing" })).toEqual(["c-processing"]);
      expect(await list({ status: "pending" })).toEqual(["d-pending"]);
      expect(await list()).toEqual(["a-failed", "b-completed", "c-processing", "d-pending"]);
    });

    test("gives hooks of one namespace", async () => {
      await insertOneOfEach();

      expect(await list({ namespace: "elsewhere" })).toEqual([]);
    });

    test.each([null, "pending", "processing", "failed", "completed"] as const)(
      "gives every hook of status %s once, page by page, in both orders",
      async (status) => {
        const ids = await fixture.insertMany(7);
        if (status !== null && status !== "pending") {
          for (const hook of await fixture.claim()) {
            if (status === "failed") await fixture.settle(hook, FAILED);
            if (status === "completed") await fixture.settle(hook, KEPT);
          }
        }
        for (const order of ["oldest", "newest"] as const) {
          const seen: string[] = [];
          for (let page = await list({ status, order, limit: 3 }); page.length > 0; ) {
            seen.push(...page);
            page = await list({ status, order, limit: 3, after: page.at(-1) ?? null });
          }
          expect(seen).toEqual(order === "oldest" ? ids : ids.toReversed());
        }
      },
    );

    test("continues where it was when hooks come and go between the pages", async () => {
      await Promise.all(["b", "d", "f", "h"].map((id) => fixture.insert({ id })));
      expect(await list({ limit: 2 })).toEqual(["b", "d"]);
      await fixture.hooks.cancel(fixture.namespace, { id: "d" });
      await Promise.all(["a", "e"].map((id) => fixture.insert({ id })));

      expect(await list({ limit: 2, after: "d" })).toEqual(["e", "f"]);
      expect(await list({ limit: 9, after: "e", order: "newest" })).toEqual(["b", "a"]);
    });

    test("orders ids by their bytes, whatever the database's language", async () => {
      const ids = ["B", "Z", "_", "a", "b", "z", "ä", "\u{1f600}"];
      await fixture.hooks.insert(ids.toReversed().map((id) => fixture.trigger({ id })));

      expect(await list()).toEqual(ids);
      expect(await list({ after: "Z", limit: 2 })).toEqual(["_", "a"]);
    });
  });

  describe("statistics", () => {
    test("count hooks by status, and tell how long the oldest due one has waited", async () => {
      await insertOneOfEach();
      fixture.clock.advance(70);
      await fixture.insert({ id: "e" });
      await fixture.insert({ id: "f", processAt: fixture.clock.now() + 5000 });
      fixture.clock.advance(30);

      expect(await fixture.hooks.statistics(fixture.namespace)).toEqual({
        pending: 3,
        due: 2,
        processing: 1,
        failed: 1,
        completed: 1,
        oldestDueMs: 100,
      });
    });

    test("are zero where there is nothing, and not of other namespaces", async () => {
      await fixture.insert({ namespace: "elsewhere" });

      expect(await fixture.hooks.statistics(fixture.namespace)).toEqual({
        pending: 0,
        due: 0,
        processing: 0,
        failed: 0,
        completed: 0,
        oldestDueMs: null,
      });
    });

    test("don't count as due what runs or sleeps", async () => {
      await fixture.insert();
      await fixture.claimOne();
      await fixture.insert({ processAt: fixture.clock.now() + 1 });
      fixture.clock.advance(LEASE_MS);

      expect(await fixture.hooks.statistics(fixture.namespace)).toMatchObject({ due: 1, oldestDueMs: LEASE_MS - 1 });
    });
  });

  describe("redriving", () => {
    test("makes dead letters due with fresh attempts", async () => {
      await fixture.insert({ id: "a", payload: "1" });
      await fixture.settle(await fixture.claimOne(), retryAfter(0));
      await fixture.settle(await fixture.claimOne(), FAILED);
      fixture.clock.advance(1000);

      expect(await fixture.hooks.redrive(fixture.namespace, ["a"])).toEqual(["a"]);
      expect(await fixture.get("a")).toMatchObject({
        status: "pending",
        class: WorkClass.continuing,
        attempts: 0,
        recoveries: 0,
        availableAt: fixture.clock.now(),
        finishedAt: null,
      });
      const again = await fixture.claimOne();
      expect(again).toMatchObject({ attempts: 1, payload: "1" });
      expect(await fixture.settle(again, COMPLETED)).toBe("deleted");
    });

    test("leaves alone what is no dead letter, isn't there, or is elsewhere", async () => {
      await insertOneOfEach();

      expect(await fixture.hooks.redrive(fixture.namespace, ["b-completed", "c-processing", "d-pending", "x"])).toEqual(
        [],
      );
      expect(await fixture.hooks.redrive("elsewhere", ["a-failed"])).toEqual([]);
      expect(await fixture.hooks.redrive(fixture.namespace, [])).toEqual([]);
      expect(await list({ status: "failed" })).toEqual(["a-failed"]);
    });

    test("leaves a dead letter alone whose key a newer hook holds", async () => {
      await fixture.insert({ id: "a", key: "k" });
      await fixture.settle(await fixture.claimOne(), FAILED);
      await fixture.insert({ id: "b", key: "k" });

      expect(await fixture.hooks.redrive(fixture.namespace, ["a"])).toEqual([]);
      await fixture.settle(await fixture.claimOne(), COMPLETED);
      expect(await fixture.hooks.redrive(fixture.namespace, ["a"])).toEqual(["a"]);
      expect(await fixture.insert({ key: "k" })).toMatchObject({ result: "collapsed", id: "a" });
    });

    test("takes one of two dead letters of the same key, and all others", async () => {
      for (const [id, key] of [
        ["a", "k"],
        ["b", "k"],
        ["c", "l"],
        ["d", null],
      ] as const) {
        await fixture.insert({ id, key });
        await fixture.settle(await fixture.claimOne(), FAILED);
      }

      expect((await fixture.hooks.redrive(fixture.namespace, ["a", "b", "c", "d"])).sort()).toEqual(["a", "c", "d"]);
      expect(await list({ status: "failed" })).toEqual(["b"]);
    });
  });

  describe("discarding", () => {
    test("deletes finished hooks, and only those", async () => {
      await insertOneOfEach();

      const ids = await fixture.hooks.discard(fixture.namespace, [
        "a-failed",
        "b-completed",
        "c-processing",
        "d-pending",
        "x",
      ]);
      expect(ids.sort()).toEqual(["a-failed", "b-completed"]);
      expect(await list()).toEqual(["c-processing", "d-pending"]);
      expect(await fixture.hooks.discard("elsewhere", ["c-processing"])).toEqual([]);
    });
  });

  describe("purging", () => {
    async function completeMany(count: number, keepMs: number): Promise<void> {
      await fixture.insertMany(count);
      for (const hook of await fixture.claim({ limit: count }))
        await fixture.settle(hook, { kind: "completed", keepMs });
    }

    test("deletes completed hooks when their time is over", async () => {
      await completeMany(1, 1000);
      fixture.clock.advance(999);
      expect(await fixture.hooks.purge(fixture.namespace, 10)).toBe(0);
      fixture.clock.advance(1);

      expect(await fixture.hooks.purge(fixture.namespace, 10)).toBe(1);
      expect(await list()).toEqual([]);
    });

    test("deletes a batch at a time, those first whose time was over first", async () => {
      await completeMany(2, 2000);
      await completeMany(3, 1000);
      fixture.clock.advance(2000);

      expect(await fixture.hooks.purge(fixture.namespace, 3)).toBe(3);
      expect(await list()).toEqual(["hook-0001", "hook-0002"]);
      expect(await fixture.hooks.purge(fixture.namespace, 3)).toBe(2);
      expect(await fixture.hooks.purge(fixture.namespace, 3)).toBe(0);
    });

    test("leaves everything else", async () => {
      await insertOneOfEach();
      fixture.clock.advance(10 ** 10);

      expect(await fixture.hooks.purge(fixture.namespace, 10)).toBe(1);
      expect(await list()).toEqual(["a-failed", "c-processing", "d-pending"]);
      expect(await fixture.hooks.purge("elsewhere", 10)).toBe(0);
    });
  });
});
