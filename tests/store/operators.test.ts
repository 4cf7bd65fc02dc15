import { describe, expect, it } from "vitest";
import type { HookFilter } from "../../src/store/hook-records.ts";
import { WorkClass } from "../../src/store/work-class.ts";
import { ENGINES } from "../support/engines.ts";
import { COMPLETED, FAILED, KEPT, LEASE_MS, retryAfter, useStore } from "../support/use-store.ts";

describe.each(ENGINES)("what operators do on $name", (engine) => {
  const test = useStore(engine);

  async function list(filter: Partial<HookFilter> = {}): Promise<string[]> {
    const all = {
      namespace: test.namespace,
      status: null,
      name: null,
      after: null,
      order: "oldest",
      limit: 100,
    } as const;
    return (await test.hooks.list({ ...all, ...filter })).map(({ id }) => id);
  }

  /** One hook of each status. */
  async function insertOneOfEach(): Promise<void> {
    for (const [id, outcome] of [
      ["a-failed", FAILED],
      ["b-completed", KEPT],
    ] as const) {
      await test.insert({ id });
      await test.settle(await test.claimOne(), outcome);
    }
    await test.insert({ id: "c-processing" });
    await test.claimOne();
    await test.insert({ id: "d-pending", name: "wave" });
  }

  describe("getting", () => {
    it("gives nothing for an id or a namespace that isn't there", async () => {
      await test.insert({ id: "a" });

      expect(await test.get("b")).toBeNull();
      expect(await test.hooks.get({ namespace: "elsewhere", id: "a" })).toBeNull();
    });
  });

  describe("listing", () => {
    it("gives hooks by status", async () => {
      await insertOneOfEach();

      expect(await list({ status: "failed" })).toEqual(["a-failed"]);
      expect(await list({ status: "completed" })).toEqual(["b-completed"]);
      expect(await list({ status: "processing" })).toEqual(["c-processing"]);
      expect(await list({ status: "pending" })).toEqual(["d-pending"]);
      expect(await list()).toEqual(["a-failed", "b-completed", "c-processing", "d-pending"]);
    });

    it("gives hooks by name, and of one namespace", async () => {
      await insertOneOfEach();

      expect(await list({ name: "wave" })).toEqual(["d-pending"]);
      expect(await list({ name: "wave", status: "failed" })).toEqual([]);
      expect(await list({ namespace: "elsewhere" })).toEqual([]);
    });

    it.each([null, "pending", "processing", "failed", "completed"] as const)(
      "gives every hook of status %s once, page by page, in both orders",
      async (status) => {
        const ids = await test.insertMany(7);
        if (status !== null && status !== "pending") {
          for (const hook of await test.claim()) {
            if (status === "failed") await test.settle(hook, FAILED);
            if (status === "completed") await test.settle(hook, KEPT);
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

    it("goes on where it was when hooks come and go between the pages", async () => {
      await Promise.all(["b", "d", "f", "h"].map((id) => test.insert({ id })));
      expect(await list({ limit: 2 })).toEqual(["b", "d"]);
      await test.hooks.cancel(test.namespace, { id: "d" });
      await Promise.all(["a", "e"].map((id) => test.insert({ id })));

      expect(await list({ limit: 2, after: "d" })).toEqual(["e", "f"]);
      expect(await list({ limit: 9, after: "e", order: "newest" })).toEqual(["b", "a"]);
    });

    it("orders ids by their bytes, whatever the database's language", async () => {
      const ids = ["B", "Z", "_", "a", "b", "z", "ä", "\u{1f600}"];
      await test.hooks.insert(ids.toReversed().map((id) => test.trigger({ id })));

      expect(await list()).toEqual(ids);
      expect(await list({ after: "Z", limit: 2 })).toEqual(["_", "a"]);
    });
  });

  describe("statistics", () => {
    it("count hooks by status, and tell how long the oldest due one has waited", async () => {
      await insertOneOfEach();
      test.clock.advance(70);
      await test.insert({ id: "e" });
      await test.insert({ id: "f", processAt: test.clock.now() + 5000 });
      test.clock.advance(30);

      expect(await test.hooks.statistics(test.namespace)).toEqual({
        pending: 3,
        due: 2,
        processing: 1,
        failed: 1,
        completed: 1,
        oldestDueMs: 100,
      });
    });

    it("are zero where there is nothing, and not of other namespaces", async () => {
      await test.insert({ namespace: "elsewhere" });

      expect(await test.hooks.statistics(test.namespace)).toEqual({
        pending: 0,
        due: 0,
        processing: 0,
        failed: 0,
        completed: 0,
        oldestDueMs: null,
      });
    });

    it("don't count as due what runs or sleeps", async () => {
      await test.insert();
      await test.claimOne();
      await test.insert({ processAt: test.clock.now() + 1 });
      test.clock.advance(LEASE_MS);

      expect(await test.hooks.statistics(test.namespace)).toMatchObject({ due: 1, oldestDueMs: LEASE_MS - 1 });
    });
  });

  describe("redriving", () => {
    it("makes dead letters due with fresh attempts", async () => {
      await test.insert({ id: "a", payload: "1" });
      await test.settle(await test.claimOne(), retryAfter(0));
      await test.settle(await test.claimOne(), FAILED);
      test.clock.advance(1000);

      expect(await test.hooks.redrive(test.namespace, ["a"])).toEqual(["a"]);
      expect(await test.get("a")).toMatchObject({
        status: "pending",
        class: WorkClass.continuing,
        attempts: 0,
        recoveries: 0,
        availableAt: test.clock.now(),
        finishedAt: null,
      });
      const again = await test.claimOne();
      expect(again).toMatchObject({ attempts: 1, payload: "1" });
      expect(await test.settle(again, COMPLETED)).toBe("deleted");
    });

    it("leaves alone what is no dead letter, isn't there, or is elsewhere", async () => {
      await insertOneOfEach();

      expect(await test.hooks.redrive(test.namespace, ["b-completed", "c-processing", "d-pending", "x"])).toEqual([]);
      expect(await test.hooks.redrive("elsewhere", ["a-failed"])).toEqual([]);
      expect(await test.hooks.redrive(test.namespace, [])).toEqual([]);
      expect(await list({ status: "failed" })).toEqual(["a-failed"]);
    });

    it("leaves a dead letter alone whose key a newer hook holds", async () => {
      await test.insert({ id: "a", key: "k" });
      await test.settle(await test.claimOne(), FAILED);
      await test.insert({ id: "b", key: "k" });

      expect(await test.hooks.redrive(test.namespace, ["a"])).toEqual([]);
      await test.settle(await test.claimOne(), COMPLETED);
      expect(await test.hooks.redrive(test.namespace, ["a"])).toEqual(["a"]);
      expect(await test.insert({ key: "k" })).toMatchObject({ result: "collapsed", id: "a" });
    });

    it("takes one of two dead letters of the same key, and all others", async () => {
      for (const [id, key] of [
        ["a", "k"],
        ["b", "k"],
        ["c", "l"],
        ["d", null],
      ] as const) {
        await test.insert({ id, key });
        await test.settle(await test.claimOne(), FAILED);
      }

      expect((await test.hooks.redrive(test.namespace, ["a", "b", "c", "d"])).sort()).toEqual(["a", "c", "d"]);
      expect(await list({ status: "failed" })).toEqual(["b"]);
    });
  });

  describe("discarding", () => {
    it("deletes finished hooks, and only those", async () => {
      await insertOneOfEach();

      const ids = await test.hooks.discard(test.namespace, [
        "a-failed",
        "b-completed",
        "c-processing",
        "d-pending",
        "x",
      ]);
      expect(ids.sort()).toEqual(["a-failed", "b-completed"]);
      expect(await list()).toEqual(["c-processing", "d-pending"]);
      expect(await test.hooks.discard("elsewhere", ["c-processing"])).toEqual([]);
    });
  });

  describe("purging", () => {
    async function completeMany(count: number, keepMs: number): Promise<void> {
      await test.insertMany(count);
      for (const hook of await test.claim({ limit: count })) await test.settle(hook, { kind: "completed", keepMs });
    }

    it("deletes completed hooks when their time is over", async () => {
      await completeMany(1, 1000);
      test.clock.advance(999);
      expect(await test.hooks.purge(test.namespace, 10)).toBe(0);
      test.clock.advance(1);

      expect(await test.hooks.purge(test.namespace, 10)).toBe(1);
      expect(await list()).toEqual([]);
    });

    it("deletes a batch at a time, those first whose time was over first", async () => {
      await completeMany(2, 2000);
      await completeMany(3, 1000);
      test.clock.advance(2000);

      expect(await test.hooks.purge(test.namespace, 3)).toBe(3);
      expect(await list()).toEqual(["hook-0001", "hook-0002"]);
      expect(await test.hooks.purge(test.namespace, 3)).toBe(2);
      expect(await test.hooks.purge(test.namespace, 3)).toBe(0);
    });

    it("leaves everything else", async () => {
      await insertOneOfEach();
      test.clock.advance(10 ** 10);

      expect(await test.hooks.purge(test.namespace, 10)).toBe(1);
      expect(await list()).toEqual(["a-failed", "c-processing", "d-pending"]);
      expect(await test.hooks.purge("elsewhere", 10)).toBe(0);
    });
  });
});
