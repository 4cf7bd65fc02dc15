import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type {
  ClaimedInstance,
  InstanceInsert,
  InstanceOutcome,
  InstanceStatus,
} from "../../src/store/instances/instance-records.ts";
import { postgres } from "../../src/store/postgres/index.ts";
import type { Store } from "../../src/store/store.ts";
import { type Cut, CuttingProxy } from "../support/cutting-proxy.ts";
import { COMPLETED, ERRORED, InstancesUnderTest, LEASE_MS, RELEASED, RUNNING } from "../support/use-instances.ts";
import { usePostgres } from "../support/use-postgres.ts";

/** PostgreSQL may have done what it was asked, or may never have heard of it. The client can't tell, and needn't. */
const CUTS: Cut[] = ["answer", "request"];
const silent = { info: () => {}, warn: () => {}, error: () => {} };
const HOUR_MS = 3_600_000;

describe("a connection to PostgreSQL that is cut, for workflows,", () => {
  const database = usePostgres();
  const fixture = new InstancesUnderTest(database);
  let proxy: CuttingProxy;
  let store: Store;

  beforeAll(async () => {
    proxy = await CuttingProxy.start(database.url);
    ({ store } = postgres(proxy.url, { logger: silent }));
  });
  afterAll(async () => {
    await store.close();
    await proxy.stop();
  });

  const instance = (overrides: Partial<InstanceInsert> = {}) =>
    fixture.instance({ id: "a", ref: `${fixture.namespace}-a`, ...overrides });
  const claim = () => store.engine.instances.claim(fixture.request());
  const parked = (): InstanceOutcome => ({ kind: "parked", dueAt: Date.now() + HOUR_MS, wakes: 0 });

  /** Created and claimed. */
  async function start(): Promise<ClaimedInstance> {
    await store.instances.insert([instance()]);
    const [claimed] = await claim();
    if (!claimed) throw new Error("Expected an instance.");
    return claimed;
  }

  describe.each(CUTS)("before the %s came", (cut) => {
    test("creates an instance once, and says so", async () => {
      const wasCut = proxy.cut(fixture.namespace, cut);
      const results = await store.instances.insert([instance(), instance({ id: "b", ref: `${fixture.namespace}-b` })]);
      await wasCut;

      expect(results).toMatchObject([
        { result: "created", ref: `${fixture.namespace}-a` },
        { result: "created", ref: `${fixture.namespace}-b` },
      ]);
      expect(await claim()).toHaveLength(2);
      expect(await claim()).toEqual([]);
    });

    test("creates an instance once that is born claimed, and it is still ours", async () => {
      const wasCut = proxy.cut(fixture.namespace, cut);
      const lease = { lock: `${fixture.namespace} mine`, leaseMs: LEASE_MS };
      expect(await store.instances.insert([instance({ lease })])).toMatchObject([{ result: "created" }]);
      await wasCut;

      const commit = fixture.commitOf({ ref: `${fixture.namespace}-a`, run: 1, lock: lease.lock }, COMPLETED);
      expect(await store.instances.commit(commit)).toMatchObject({ result: "written" });
    });

    test.each<[InstanceStatus, () => InstanceOutcome]>([
      ["running", () => RUNNING],
      ["waiting", parked],
      ["complete", () => COMPLETED],
      ["errored", () => ERRORED],
    ])("commits once, and says so: %s", async (status, outcome) => {
      const owner = await start();
      const entries = [fixture.entry({ name: "charge" }), fixture.entry({ name: "pack", value: '{"a": "\\u0000"}' })];
      const wasCut = proxy.cut(owner.ref, cut);
      const result = await store.instances.commit(fixture.commitOf(owner, outcome(), { entries }));
      await wasCut;

      expect(result).toMatchObject({ result: "written", wakes: 0, paused: false });
      expect((await fixture.history(owner.ref)).map(({ name, position }) => [name, position])).toEqual([
        ["charge", 1],
        ["pack", 2],
      ]);
      expect(await fixture.find("a")).toMatchObject({ status });
    });

    test("gives an instance back once", async () => {
      const owner = await start();
      const wasCut = proxy.cut(owner.ref, cut);
      const result = await store.instances.commit(fixture.commitOf(owner, RELEASED, { entries: [fixture.entry()] }));
      await wasCut;

      // It has no owner then, and the process that gave it back isn't told: it has no use for it any more.
      expect(result.result).toBe(cut === "answer" ? "superseded" : "written");
      expect(await fixture.history(owner.ref)).toHaveLength(1);
      expect(await claim()).toMatchObject([{ recoveries: 0, begun: true }]);
    });

    test("commits what many did at once, once", async () => {
      const refs = Array.from({ length: 50 }, (_, index) => `${fixture.namespace}-${index}`);
      const lease = { lock: `${fixture.namespace} mine`, leaseMs: LEASE_MS };
      await store.instances.insert(refs.map((ref) => instance({ ref, id: ref, lease })));
      const outcomes = [() => RUNNING, parked, () => COMPLETED, () => ERRORED];
      const wasCut = proxy.cut(lease.lock, cut);
      const results = await Promise.all(
        refs.map((ref, index) => {
          const outcome = (outcomes[index % outcomes.length] as () => InstanceOutcome)();
          const entries = index % 5 === 0 ? [] : [fixture.entry()];
          return store.instances.commit(fixture.commitOf({ ref, run: 1, lock: lease.lock }, outcome, { entries }));
        }),
      );
      await wasCut;

      expect(results.map(({ result }) => result)).toEqual(refs.map(() => "written"));
      const runs = refs.map((ref) => ({ ref, run: 1 }));
      const counts = (await fixture.loadAll(runs)).map(({ ref, entries }) => [ref, entries.length]);
      expect(counts.sort()).toEqual(refs.map((ref, index) => [ref, index % 5 === 0 ? 0 : 1]).sort());
    });

    test("sends an event once", async () => {
      const owner = await start();
      const eventId = `${fixture.namespace}-event`;
      const wasCut = proxy.cut(eventId, cut);
      const result = await store.instances.sendEvent(fixture.event("a", { eventId }));
      await wasCut;

      expect(result).toEqual({ result: cut === "answer" ? "known" : "sent", ref: owner.ref });
      expect(await fixture.load(owner)).toMatchObject({ wakes: 1, events: [{ id: eventId, sequence: 1 }] });
    });

    test("lets a restart be repeated", async () => {
      const owner = await start();
      await store.instances.commit(fixture.commitOf(owner, COMPLETED, { entries: [fixture.entry()] }));
      const wasCut = proxy.cut(fixture.namespace, cut);
      const restarting = store.engine.instances.restart(owner);
      await expect(restarting).rejects.toMatchObject({ code: "store.unavailable", transient: true });
      await wasCut;

      const runs = cut === "answer" ? 3 : 2;
      expect(await store.engine.instances.restart(owner)).toMatchObject({ changed: true, instance: { run: runs } });
      expect(await fixture.pastRuns(owner.ref)).toHaveLength(runs - 1);
      expect((await fixture.pastRuns(owner.ref))[0]).toMatchObject({ run: 1, status: "complete" });
      expect(await claim()).toMatchObject([{ run: runs, recoveries: 0 }]);
      expect(await claim()).toEqual([]);
    });

    test("lets an instance be reacquired by asking again", async () => {
      const owner = await start();
      await store.instances.commit(fixture.commitOf(owner, parked()));
      const lease = { lock: `${fixture.namespace} again`, leaseMs: LEASE_MS };
      const wasCut = proxy.cut(lease.lock, cut);
      await expect(store.engine.instances.reacquire(owner, lease)).rejects.toMatchObject({ transient: true });
      await wasCut;

      expect(await store.engine.instances.reacquire(owner, lease)).toMatchObject({ lock: lease.lock });
      expect(await store.engine.instances.renew([{ ...owner, lock: lease.lock }], LEASE_MS)).toHaveLength(1);
    });

    test("lets a lease be renewed by asking again", async () => {
      const owner = await start();
      const wasCut = proxy.cut(owner.lock, cut);
      await expect(store.engine.instances.renew([owner], LEASE_MS)).rejects.toMatchObject({ transient: true });
      await wasCut;

      expect(await store.engine.instances.renew([owner], LEASE_MS)).toHaveLength(1);
    });
  });
});
