import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { systemClock } from "../../src/clock.ts";
import {
  type ClaimedInstance,
  type InstanceChange,
  type InstanceRecord,
  NO_TRAITS,
} from "../../src/store/instances/instance-records.ts";
import type { AdmitRequest } from "../../src/store/lines/line-records.ts";
import { postgres } from "../../src/store/postgres/index.ts";
import type { Store } from "../../src/store/store.ts";
import { endingTrigger } from "../../src/workflows/define/terminal-hooks.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { COMPLETED, InstancesUnderTest, LEASE_MS } from "../support/use-instances.ts";
import { usePostgres } from "../support/use-postgres.ts";

const quiet = { info: () => {}, warn: () => {}, error: () => {} };
const RATE = { limit: 10, periodMs: 60_000 };

/** How far its question has come when a process falls silent. */
const MOMENTS: readonly (readonly [moment: string, bytesOf: (bytes: number) => number])[] = [
  ["before it has asked", () => 0],
  ["when a byte of its question has arrived", () => 1],
  ["in the middle of its question", (bytes) => Math.floor(bytes / 2)],
  ["a byte before the end of its question", (bytes) => bytes - 1],
];

describe("a process that admits from a line on PostgreSQL", () => {
  const sessions = usePostgres();
  const fixture = new InstancesUnderTest(sessions);
  const key = () => `${fixture.namespace}/checkout`;
  let proxy: CuttingProxy;
  let store: Store;

  beforeEach(async () => {
    // A commit carries a notification unless the last one was a moment ago. Here all but the first are that, and equally long.
    vi.spyOn(systemClock, "monotonic").mockReturnValue(0);
    proxy = await CuttingProxy.start(sessions.url);
    ({ store } = postgres(proxy.url, { logger: quiet, clock: fixture.clock }));
    await store.engine.instances.nextWake([{ namespace: fixture.namespace, names: ["checkout"] }], { takeOver: true });
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await store.close();
    await proxy.stop();
  });

  const join = async (...ids: string[]) => {
    for (const id of ids) await fixture.join(id, { slotKey: key(), rateKey: `${key()}/rate` });
  };

  const request = (): AdmitRequest => ({
    scopes: [{ namespace: fixture.namespace, names: ["checkout"] }],
    limitsOf: () => ({ slots: 3, starts: RATE }),
    versionsOf: () => [0],
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

  test.each(MOMENTS)("holds up no other process when it falls silent %s", async (_, bytesOf) => {
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

  test("holds up no other process when it falls silent before the answer, and keeps the slot it was given", async () => {
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

  /** Changes by operators, which free the slot of an instance. */
  const changes: Record<string, (id: string) => Promise<InstanceChange>> = {
    "deletes an instance": (id) => store.engine.instances.delete(fixture.named(id)),
    "terminates an instance that triggers a hook": (id) =>
      store.engine.instances.terminate(fixture.named(id), (run) =>
        endingTrigger({ ...fixture.named(id), run }, "terminated", null, () => `hook-of-${id}`),
      ),
  };

  describe.each(Object.entries(changes))("and %s", (_, change) => {
    test("frees its slot in one round trip", async () => {
      await join("a", "b");
      const [a] = await fixture.admit({ slots: 1, starts: null });
      expect(a?.id).toBe("a");
      const find = await measure(() => store.engine.instances.find([fixture.named("a")]));
      const { roundTrips } = await measure(() => change("a"));
      expect(roundTrips).toBeLessThanOrEqual(1 + find.roundTrips);
      expect(await fixture.admit({ slots: 1, starts: null })).toMatchObject([{ id: "b" }]);
    });

    test.each(MOMENTS)("holds up no other process when it falls silent %s", async (_, bytesOf) => {
      await join("a", "b", "c", "d");
      expect(await fixture.admit({ slots: 2, starts: null }, { room: 10 })).toHaveLength(2);
      await store.engine.instances.find([fixture.named("a")]); // is prepared, and asked in fewer bytes from now on
      const { bytes } = await measure(() => change("a"));
      const silent = proxy.fallSilentAfter(bytesOf(bytes));
      const lost = expect(change("b")).rejects.toMatchObject({ transient: true });
      await silent;
      await sessions.idle();

      expect(await fixture.admit({ slots: 2, starts: null }, { room: 10 })).toMatchObject([{ id: "c" }]);
      proxy.cutAll();
      await lost;
    });
  });

  /** Of several statements, of which one frees a slot of the line or joins it, for one of the running instances. */
  const transactions: Record<string, (running: ClaimedInstance) => Promise<unknown>> = {
    "terminates an instance with a receipt": ({ id }) => store.engine.instances.terminate(receipted(id)),
    "terminates an instance that triggers a hook, with a receipt": ({ id }) =>
      store.engine.instances.terminate(receipted(id), (run) =>
        endingTrigger({ ...fixture.named(id), run }, "terminated", null, () => `hook-of-${id}`),
      ),
    "restarts an instance with a receipt": ({ id }) => store.engine.instances.restart(receipted(id)),
    "deletes an instance with a receipt": ({ id }) => store.engine.instances.delete(receipted(id)),
    "creates an instance with a receipt": ({ id }) =>
      store.engine.instances.insert([
        fixture.instance({ ...receipted(`new-${id}`), traits: { ...NO_TRAITS, slotKey: key() } }),
      ]),
    "sends an event with a receipt to a parked instance": async (running) => {
      await fixture.park(running, { limited: true });
      return store.engine.instances.sendEvents([{ ...fixture.event(running.id), ...receipted(running.id) }]);
    },
    "terminates an instance that another waits for": async ({ id, ref, run }) => {
      const waiter = { ...(await waiting(id)), type: `$end of ${ref}/${run}` };
      await fixture.statements.awaitEnds([{ instance: fixture.named(id), waiter }]);
      return store.engine.instances.terminate(fixture.named(id));
    },
    "deletes an instance that another waits for": async ({ id, ref, run }) => {
      const waiter = { ...(await waiting(id)), type: `$end of ${ref}/${run}` };
      await fixture.statements.awaitEnds([{ instance: fixture.named(id), waiter }]);
      return store.engine.instances.delete(fixture.named(id));
    },
    "completes an instance that another waits for": async (running) => {
      const waiter = { ...(await waiting(running.id)), type: `$end of ${running.ref}/${running.run}` };
      await fixture.statements.awaitEnds([{ instance: fixture.named(running.id), waiter }]);
      return store.engine.instances.commit([fixture.commitOf(running, COMPLETED, { limited: true })], {
        resent: false,
      });
    },
    "completes an instance in a transaction of its own": (running) =>
      store.engine.transaction((transaction) =>
        transaction.commitInstance(fixture.commitOf(running, COMPLETED, { limited: true })),
      ),
    "creates an instance in a unit of work": ({ id }) =>
      store.engine.transaction((transaction) =>
        transaction.insertInstances([fixture.instance({ id: `new-${id}`, traits: { ...NO_TRAITS, slotKey: key() } })]),
      ),
    "adds an instance to its line after a transaction of the application": () =>
      store.engine.transaction((transaction) => transaction.joinLines([standing]), { internal: true }),
  };
  let standing: string;

  function receipted(id: string) {
    return { ...fixture.named(id), receipt: { key: `${fixture.namespace} ${id}`, note: "{}", keepMs: 60_000 } };
  }

  /** Another parked instance, which stands in the same line. */
  async function waiting(id: string): Promise<{ ref: string; run: number }> {
    const parent = `parent-of-${id}`;
    const { ref, run } = (await fixture.find(parent)) as InstanceRecord;
    return { ref, run };
  }

  describe.each(Object.entries(transactions))("and %s", (_, act) => {
    const limits = { slots: 20, starts: null };

    /** Three that run, and others that wait for them; two more will stand in line. */
    async function prepare(): Promise<ClaimedInstance[]> {
      const ids = ["one", "two", "six"];
      await join(...ids.map((id) => `parent-of-${id}`));
      for (const parent of await fixture.admit(limits)) await fixture.park(parent, { limited: true });
      await join(...ids);
      const running = await fixture.admit(limits);
      expect(running.map(({ id }) => id)).toEqual(ids);
      return running;
    }

    test.each([...MOMENTS, ["in the middle of its last question", (bytes: number) => bytes - 8] as const])(
      "holds up no other process when it falls silent %s",
      async (__, bytesOf) => {
        const [warm, measured, silenced] = (await prepare()) as [ClaimedInstance, ClaimedInstance, ClaimedInstance];
        await join("last", "very last");
        standing = ((await fixture.find("last")) as InstanceRecord).ref;
        await act(warm); // what it says is prepared, and said in fewer bytes from now on
        const { bytes } = await measure(() => act(measured));
        const silent = proxy.fallSilentAfter(bytesOf(bytes));
        const lost = expect(act(silenced)).rejects.toThrow();
        await silent;
        await sessions.idle();

        const admitted = await fixture.admit(limits, { room: 20 });
        expect(admitted.map(({ id }) => id)).toEqual(expect.arrayContaining(["last", "very last"]));
        proxy.cutAll();
        await lost;
      },
    );

    test("tells the line in the end", async () => {
      const [running] = (await prepare()) as [ClaimedInstance];
      await fixture.admit(limits); // nothing is left to look at
      expect(await fixture.nextAdmission()).toSatisfy((delayMs) => delayMs === null || delayMs > 0);
      await join("last");
      standing = ((await fixture.find("last")) as InstanceRecord).ref;
      await sessions.observer?.query("update perdure.line set available_at = null where namespace = $1", [
        fixture.namespace,
      ]);
      await act(running);
      expect(await fixture.nextAdmission()).toBe(0);
    });
  });
});
