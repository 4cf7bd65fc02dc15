import type { Client } from "pg";
import { describe, expect, test } from "vitest";
import { type ClaimedInstance, NO_TRAITS } from "../../src/store/instances/instance-records.ts";
import type { InstanceStatements } from "../../src/store/instances/instance-statements.ts";
import type { AdmitRequest } from "../../src/store/lines/line-records.ts";
import type { Connection } from "../../src/store/postgres/connection/connection.ts";
import { PostgresInstanceStatements } from "../../src/store/postgres/instances/instance-statements.ts";
import type { Statement } from "../../src/store/postgres/sql/statement.ts";
import { COMPLETED, InstancesUnderTest, LEASE_MS } from "../support/use-instances.ts";
import { usePostgres } from "../support/use-postgres.ts";

describe("forced interleavings of lines on PostgreSQL", () => {
  const sessions = usePostgres();
  const fixture = new InstancesUnderTest(sessions);
  const key = () => `${fixture.namespace}/checkout`;
  const ids = (instances: readonly ClaimedInstance[]) => instances.map(({ id }) => id);
  const join = async (...names: string[]) => {
    for (const name of names) await fixture.join(name, { slotKey: key() });
  };
  const end = (instance: ClaimedInstance) => fixture.commit(instance, COMPLETED, { limited: true });

  /** What admits on a session of the test's own, in its transaction, which the test ends. */
  function admittingOn(client: Client): InstanceStatements {
    const send = ({ text }: Statement, values: unknown[]) => client.query({ text, values });
    const connection = { run: send, runWhole: send };
    const dedicated = { client: undefined, distrust: () => {} };
    return new PostgresInstanceStatements(connection as unknown as Connection, fixture.clock, '"perdure".', dedicated);
  }

  const request = (slots: number, room = 10): AdmitRequest => ({
    scopes: [{ namespace: fixture.namespace, names: ["checkout"] }],
    limitsOf: () => ({ slots, starts: null }),
    versionsOf: () => [0],
    room,
    lock: "held open",
    leaseMs: LEASE_MS,
  });

  /** Admits in a transaction that stays open. */
  async function holdAdmission(slots: number, room?: number): Promise<{ client: Client; admitted: string[] }> {
    const client = await sessions.begin();
    return { client, admitted: ids(await admittingOn(client).admit(request(slots, room))) };
  }

  test("an instance without limits is created while another transaction holds the line that its neighbour joins", async () => {
    await join("first");
    const holder = await sessions.begin();
    await holder.query("select from perdure.line where namespace = $1 for update", [fixture.namespace]);
    const { instances } = fixture.store.store;
    let joined = false;
    const limited = Array.from({ length: 3 }, () =>
      instances.insert([fixture.instance({ traits: { ...NO_TRAITS, slotKey: key() } })]).then(() => {
        joined = true;
      }),
    );
    const [created] = await instances.insert([fixture.instance({ id: "unlimited" })]);
    expect(created).toMatchObject({ result: "created" });
    expect(joined).toBe(false);
    await holder.query("commit");
    await Promise.all(limited);
  });

  test("two that admit at the same time don't wait for each other, and don't give away a slot twice", async () => {
    await join("a", "b", "c");
    const { client, admitted } = await holdAdmission(2);
    expect(admitted).toEqual(["a", "b"]);

    expect(await fixture.admit({ slots: 2 })).toEqual([]);
    await client.query("commit");
    expect(await fixture.admit({ slots: 2 })).toEqual([]);
  });

  test("an admission counts slots that were taken after it had found its line", async () => {
    await join("a", "b", "c");
    const taker = await sessions.begin();
    await taker.query("lock table perdure.instance in access exclusive mode");
    const admitting = fixture.admit({ slots: 2 });
    await sessions.waiting(1);
    await taker.query("update perdure.instance set class = 2, lock = 'taken' where id = 'a' and namespace = $1", [
      fixture.namespace,
    ]);
    await taker.query("commit");

    expect(ids(await admitting)).toEqual(["b"]);
  });

  test("a slot that is freed during an admission is given away afterwards", async () => {
    await join("a");
    const [a] = (await fixture.admit({ slots: 2 })) as [ClaimedInstance];
    await join("b", "c");
    const { client, admitted } = await holdAdmission(2);
    expect(admitted).toEqual(["b"]);
    const ending = end(a);
    await sessions.waiting(1);
    await client.query("commit");
    expect(await ending).toMatchObject({ result: "written" });

    expect(await fixture.nextAdmission()).toBe(0);
    expect(ids(await fixture.admit({ slots: 2 }))).toEqual(["c"]);
  });

  test("a slot whose owner is just ending isn't given away before that is committed", async () => {
    await join("a", "b");
    const [a] = (await fixture.admit({ slots: 1 })) as [ClaimedInstance];
    const client = await sessions.begin();
    await admittingOn(client).commit([fixture.commitOf(a, COMPLETED, { limited: true })], { resent: false });
    expect(await fixture.admit({ slots: 1 })).toEqual([]);
    await client.query("rollback");
    expect(await fixture.admit({ slots: 1 })).toEqual([]);
    await end(a);

    expect(ids(await fixture.admit({ slots: 1 }))).toEqual(["b"]);
  });

  test("an instance that joins a line while it is read, or even dropped, is admitted afterwards", async () => {
    await join("a");
    await end(((await fixture.admit({ slots: 1 })) as [ClaimedInstance])[0]);
    const { client, admitted } = await holdAdmission(1);
    expect(admitted).toEqual([]); // the line is empty, and is gone with this commit
    const joining = join("b");
    await sessions.waiting(1);
    await client.query("commit");
    await joining;

    expect(ids(await fixture.admit({ slots: 1 }))).toEqual(["b"]);
  });

  test("a locked instance is left out, and admitted when the lock is released", async () => {
    await join("a", "b");
    const client = await sessions.begin();
    await client.query("select from perdure.instance where id = 'a' for update");
    expect(ids(await fixture.admit({ slots: 2 }))).toEqual(["b"]);
    await client.query("rollback");
    await fixture.send("a"); // as everybody does who has locked what stands in line, and leaves it there

    expect(ids(await fixture.admit({ slots: 2 }))).toEqual(["a"]);
  });

  test("reacquiring a parked instance waits for an admission, and gets no slot that the admission has given away", async () => {
    await join("a", "b");
    const [a] = (await fixture.admit({ slots: 1 })) as [ClaimedInstance];
    await fixture.park(a, { limited: true });
    const { client, admitted } = await holdAdmission(1);
    expect(admitted).toEqual(["b"]);
    const lease = { lock: "again", leaseMs: LEASE_MS, slots: { key: key(), limit: 1 } };
    const taking = fixture.statements.reacquire(a, lease);
    await sessions.waiting(1);
    await client.query("commit");

    expect(await taking).toBe("full");
  });

  test("many that admit, end, park and send at the same time never exceed a limit, and nothing is left behind", async () => {
    const SLOTS = 3;
    const names = Array.from({ length: 40 }, (_, index) => `instance-${index}`);
    let held = 0;
    let most = 0;
    let done = 0;
    const parked = new Set<string>();
    const work = async () => {
      while (done < names.length) {
        for (const instance of await fixture.admit({ slots: SLOTS }, { room: 2 })) {
          held++;
          most = Math.max(most, held);
          await fixture.nextAdmission();
          held--; // before the commit: an instance that it lets in comes later
          if (instance.id.endsWith("3") && !parked.has(instance.id)) {
            parked.add(instance.id);
            await fixture.park(instance, { limited: true, dueAt: fixture.now + LEASE_MS });
            await fixture.send(instance.id, { eventId: "wake" });
          } else {
            await end(instance);
            done++;
          }
        }
      }
    };
    await Promise.all([join(...names.slice(0, 20)), join(...names.slice(20)), work(), work(), work(), work()]);

    expect(most).toBeLessThanOrEqual(SLOTS);
    expect(await fixture.list({ status: "complete" })).toHaveLength(names.length);
    while ((await fixture.nextAdmission()) !== null) expect(await fixture.admit({ slots: SLOTS })).toEqual([]);
    expect(await fixture.statements.openLines([fixture.namespace])).toBe(false);
  });
});
