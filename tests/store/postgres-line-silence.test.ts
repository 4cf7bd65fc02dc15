import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AdmitRequest } from "../../src/store/lines/line-records.ts";
import { postgres } from "../../src/store/postgres/index.ts";
import type { Store } from "../../src/store/store.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { InstancesUnderTest, LEASE_MS } from "../support/use-instances.ts";
import { usePostgres } from "../support/use-postgres.ts";

const quiet = { info: () => {}, warn: () => {}, error: () => {} };
const RATE = { limit: 10, periodMs: 60_000 };

describe("a process that admits from a line on PostgreSQL", () => {
  const sessions = usePostgres();
  const fixture = new InstancesUnderTest(sessions);
  const key = () => `${fixture.namespace}/checkout`;
  let proxy: CuttingProxy;
  let store: Store;

  beforeEach(async () => {
    proxy = await CuttingProxy.start(sessions.url);
    ({ store } = postgres(proxy.url, { logger: quiet, clock: fixture.clock }));
    await store.engine.instances.nextWake([{ namespace: fixture.namespace, names: ["checkout"] }], { takeOver: true });
  });
  afterEach(async () => {
    await store.close();
    await proxy.stop();
  });

  const join = async (...ids: string[]) => {
    for (const id of ids) await fixture.join(id, { slotKey: key(), rateKey: `${key()}/rate` });
  };

  const request = (): AdmitRequest => ({
    scopes: [{ namespace: fixture.namespace, names: ["checkout"] }],
    limitsOf: () => ({ slots: 3, starts: RATE }),
    room: 1,
    lock: "behind the proxy",
    leaseMs: LEASE_MS,
  });

  /** What it costs to let in one, which the next call does again in the same way. */
  async function measure(use: () => Promise<unknown>): Promise<{ bytes: number; roundTrips: number }> {
    const { bytesAsked, roundTrips } = proxy;
    await use();
    return { bytes: proxy.bytesAsked - bytesAsked, roundTrips: proxy.roundTrips - roundTrips };
  }

  test("asks once, whether or not there is something to let in", async () => {
    await join("a", "b");
    const admit = () => store.engine.instances.admit(request());
    expect(await measure(admit)).toMatchObject({ roundTrips: 1 });
    expect(await measure(admit)).toMatchObject({ roundTrips: 1 });
    expect(await measure(admit)).toMatchObject({ roundTrips: 1 });
    expect(await fixture.list({ status: "running" })).toHaveLength(2);
  });

  test("asks once to take back a parked instance with its slot", async () => {
    await join("a");
    const [a] = await store.engine.instances.admit(request());
    if (a === undefined) throw new Error("Expected an instance.");
    await fixture.park(a, { limited: true });
    const slots = { key: key(), limit: 3 };
    const take = () => store.engine.instances.reacquire(a, { lock: "again", leaseMs: LEASE_MS, slots });
    expect(await measure(take)).toMatchObject({ roundTrips: 1 });
    expect(await fixture.list({ status: "running" })).toHaveLength(1);
  });

  test.each([
    ["before it has asked", () => 0],
    ["when a byte of its question has arrived", () => 1],
    ["in the middle of its question", (bytes: number) => Math.floor(bytes / 2)],
    ["a byte before the end of its question", (bytes: number) => bytes - 1],
  ])("holds up nobody when it falls silent %s", async (_, bytesOf) => {
    await join("a", "b", "c", "d");
    const { bytes } = await measure(() => store.engine.instances.admit(request()));
    const silent = proxy.fallSilentAfter(bytesOf(bytes));
    const lost = expect(store.engine.instances.admit(request())).rejects.toMatchObject({ transient: true });
    await silent;
    await sessions.idle();

    const admitted = await fixture.admit({ slots: 3, starts: RATE }, { room: 10 });
    expect(admitted).toHaveLength(2); // of three slots, one was taken before
    proxy.cutAll();
    await lost;
  });

  test("holds up nobody when it falls silent before the answer, and keeps the slot it was given", async () => {
    await join("a", "b", "c", "d");
    const { bytes } = await measure(() => store.engine.instances.admit(request()));
    const silent = proxy.fallSilentAfter(bytes);
    const lost = expect(store.engine.instances.admit(request())).rejects.toMatchObject({ transient: true });
    await silent;
    while ((await fixture.list({ status: "running" })).length < 2);

    expect(await fixture.admit({ slots: 3, starts: RATE }, { room: 10 })).toHaveLength(1);
    proxy.cutAll();
    await lost;
  });
});
