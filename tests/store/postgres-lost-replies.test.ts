import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CommitOutcomeUnknownError } from "../../src/errors.ts";
import type { HookOutcome } from "../../src/store/hooks/hook-records.ts";
import { postgres } from "../../src/store/postgres/index.ts";
import type { Store } from "../../src/store/store.ts";
import { COMMIT } from "../support/cut-texts.ts";
import { type Cut, CuttingProxy } from "../support/cutting-proxy.ts";
import { usePostgres } from "../support/use-postgres.ts";
import { COMPLETED, FAILED, KEPT, LEASE_MS, RELEASED, retryAfter } from "../support/use-store.ts";

/** PostgreSQL may have done what it was asked, or may never have heard of it. The client can't tell, and needn't. */
const CUTS: Cut[] = ["answer", "request"];
const silent = { info: () => {}, warn: () => {}, error: () => {} };

describe("a connection to PostgreSQL that is cut", () => {
  const fixture = usePostgres();
  let proxy: CuttingProxy;
  let store: Store;

  beforeAll(async () => {
    proxy = await CuttingProxy.start(fixture.url);
    ({ store } = postgres(proxy.url, { logger: silent }));
  });
  afterAll(async () => {
    await store.close();
    await proxy.stop();
  });

  const trigger = (overrides: Parameters<typeof fixture.trigger>[0]) =>
    fixture.trigger({ id: `${fixture.namespace}-hook`, ...overrides });
  const claim = () => store.hooks.statements.claim(fixture.request());
  const get = (id = `${fixture.namespace}-hook`) => store.hooks.statements.get({ namespace: fixture.namespace, id });

  describe.each(CUTS)("before the %s came", (cut) => {
    test("stores a trigger once", async () => {
      const wasCut = proxy.cut(fixture.namespace, cut);
      const [result] = await store.hooks.insert([trigger({})]);
      await wasCut;

      expect(result).toMatchObject({
        id: `${fixture.namespace}-hook`,
        result: cut === "answer" ? "existing" : "inserted",
      });
      expect(await claim()).toMatchObject([{ attempts: 1, triggers: 1 }]);
      expect(await claim()).toEqual([]);
    });

    test("stores a hook once that is born claimed, and it is still ours", async () => {
      const wasCut = proxy.cut(fixture.namespace, cut);
      const lease = { lock: `${fixture.namespace} mine`, leaseMs: LEASE_MS };
      const [result] = await store.hooks.insert([trigger({ lease })]);
      await wasCut;

      expect(result).toMatchObject({ result: "inserted" });
      const hook = { namespace: fixture.namespace, id: `${fixture.namespace}-hook`, lock: lease.lock };
      expect(await store.hooks.settle({ ...hook, keyed: false, outcome: COMPLETED })).toBe("deleted");
    });

    test("counts a trigger with a key once, pending and running", async () => {
      await store.hooks.insert([trigger({ key: "k", payload: "1" })]);
      let wasCut = proxy.cut(`${fixture.namespace}-second`, cut);
      expect(
        await store.hooks.insert([trigger({ id: `${fixture.namespace}-second`, key: "k", payload: "2" })]),
      ).toMatchObject([{ id: `${fixture.namespace}-hook` }]);
      await wasCut;
      const [running] = await claim();
      expect(running).toMatchObject({ triggers: 2, payload: "2" });

      wasCut = proxy.cut(`${fixture.namespace}-third`, cut);
      await store.hooks.insert([trigger({ id: `${fixture.namespace}-third`, key: "k", payload: "3" })]);
      await wasCut;
      if (!running) throw new Error("Expected a hook.");
      expect(await store.hooks.settle({ ...running, keyed: true, outcome: COMPLETED })).toBe("pending");
      expect(await claim()).toMatchObject([{ triggers: 3, payload: "3", attempts: 1 }]);
    });

    test.each<[string, HookOutcome, string | null]>([
      ["completed", COMPLETED, null],
      ["completed and kept", KEPT, "completed"],
      ["retry", retryAfter(3_600_000), "pending"],
      ["failed", FAILED, "failed"],
      ["released", RELEASED, "pending"],
    ])("settles a hook once, and says so: %s", async (_, outcome, status) => {
      for (const key of [null, "k"]) {
        const id = `${fixture.namespace}-${key}`;
        await store.hooks.insert([trigger({ id, key })]);
        const [hook] = (await claim()).filter((one) => one.id === id);
        if (!hook) throw new Error("Expected a hook.");
        const wasCut = proxy.cut(id, cut);
        const result = await store.hooks.settle({ ...hook, keyed: key !== null, outcome });
        await wasCut;

        expect(result).toBe(status ?? "deleted");
        expect((await get(id))?.status ?? null).toBe(status);
        expect((await get(id))?.attempts ?? 1).toBe(outcome.kind === "released" ? 0 : 1);
        await store.hooks.statements.cancel(fixture.namespace, { id });
      }
    });

    test("writes all that many callers wrote at once, once", async () => {
      const ids = Array.from({ length: 50 }, (_, index) => `${fixture.namespace}-${index}`);
      const wasCut = proxy.cut(fixture.namespace, cut);
      await Promise.all(ids.map((id, index) => store.hooks.insert([trigger({ id, key: index % 2 ? null : id })])));
      await wasCut;

      expect((await fixture.ids()).sort()).toEqual(ids.sort());
      expect((await store.hooks.statements.statistics(fixture.namespace)).pending).toBe(50);
    });
  });

  test("reports an unknown outcome when it was cut at a commit, and the effects are there", async () => {
    const wasCut = proxy.cut(COMMIT);
    const transaction = store.engine.transaction((tx) => tx.insertHooks([trigger({})]));

    await expect(transaction).rejects.toBeInstanceOf(CommitOutcomeUnknownError);
    await wasCut;
    expect(await get()).toMatchObject({ status: "pending" });
  });

  test("reports an unknown outcome when it was cut at a commit, and the effects aren't there", async () => {
    const wasCut = proxy.cut(COMMIT, "request");
    const transaction = store.engine.transaction((tx) => tx.insertHooks([trigger({})]));

    await expect(transaction).rejects.toMatchObject({ code: "transaction.outcome_unknown", transient: false });
    await wasCut;
    expect(await get()).toBeNull();
  });

  test("rolls a transaction back that it was cut in, and says so", async () => {
    const transaction = store.engine.transaction(async (tx) => {
      await tx.insertHooks([trigger({})]);
      const wasCut = proxy.cut("select 7");
      await Promise.allSettled([tx.query("select 7", []), wasCut]);
      await tx.query("select 8", []);
    });

    await expect(transaction).rejects.toThrow();
    expect(await get()).toBeNull();
  });

  test("is replaced by another", async () => {
    proxy.cutAll();

    await store.hooks.insert([trigger({})]);
    expect(await get()).toMatchObject({ status: "pending" });
  });

  test("is a transient error of what isn't sent again by itself", async () => {
    const wasCut = proxy.cut(fixture.namespace);

    await expect(get()).rejects.toMatchObject({ code: "store.unavailable", transient: true });
    await wasCut;
  });
});
