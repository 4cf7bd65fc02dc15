import { afterEach, describe, expect, test } from "vitest";
import { createSubjectDispatcher, type DatabaseAdapter, perdure, type SubjectDispatcher } from "../../src/index.ts";
import { postgres } from "../../src/store/postgres/index.ts";
import { settle } from "../support/controlled-clock.ts";
import { createCountingPool, StatementLog } from "../support/counting-pool.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { SILENT, useDispatcher } from "./support/use-dispatcher.ts";

const LEASE_MS = 60_000;
const FLOOD = 100_000;
const keyOf = (group: string, index: number) => `${group}:${String(index).padStart(6, "0")}`;

describe.each(ENGINES)("many subjects on $name", (engine) => {
  const fixture = useDispatcher(engine);

  const claim = async (dispatcher: SubjectDispatcher, limit = 10) =>
    (await dispatcher.claimDueSubjects({ limit, leaseMs: LEASE_MS })).map(({ subjectKey }) => subjectKey);

  test("don't keep each other waiting: a tenant's flood leaves room for the others", async () => {
    const dispatcher = fixture.create();
    const since = fixture.clock.now() - FLOOD;
    const subjects = Array.from({ length: FLOOD }, (_, index) => ({
      subjectKey: keyOf("flood", index),
      group: "flood",
      nextDueAt: since + index,
    }));
    await dispatcher.syncSubjects({ subjects });
    const others = ["ada", "bob", "eve"].flatMap((group) =>
      Array.from({ length: 3 }, (_, index) => ({ subjectKey: keyOf(group, index), group })),
    );
    await dispatcher.syncSubjects({ subjects: [...others, { subjectKey: "alone" }] });

    // A worker that has never heard of the groups learns of them from what it claims.
    const worker = fixture.create();
    const first = await claim(worker);
    expect(first).toEqual(Array.from({ length: 10 }, (_, index) => keyOf("flood", index)));
    const claimed = new Set<string>();
    for (let round = 0; round < 4; round++) for (const key of await claim(worker)) claimed.add(key);
    for (const { subjectKey } of others) expect(claimed).toContain(subjectKey);
    expect(claimed.size).toBe(40);
    expect(claimed).toContain(keyOf("flood", 10));
  });

  test("are claimed by age one at a time, and in turns", async () => {
    const dispatcher = fixture.create();
    const flood = Array.from({ length: 50 }, (_, index) => ({
      subjectKey: keyOf("flood", index),
      group: "flood",
      nextDueAt: index,
    }));
    await dispatcher.syncSubjects({ subjects: [...flood, { subjectKey: "small:1", group: "small" }] });
    await dispatcher.syncSubjects({ subjects: [{ subjectKey: "alone", nextDueAt: 10 }] });

    const claimed: string[] = [];
    for (let count = 0; count < 30; count++) claimed.push(...(await claim(dispatcher, 1)));
    expect(claimed).toContain("small:1");
    expect(claimed).toContain("alone");
    expect(new Set(claimed).size).toBe(30);
  });
});

describe("ten thousand subjects on PostgreSQL", () => {
  const engine = ENGINES.find(({ name }) => name === "postgres") as (typeof ENGINES)[number];
  const fixture = useDispatcher(engine);
  const log = new StatementLog();
  const subjects = Array.from({ length: 10_000 }, (_, index) => ({
    subjectKey: keyOf("s", index),
    cursor: { page: 1 },
    meta: { id: index },
  }));
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  function open(): DatabaseAdapter {
    const pool = createCountingPool(fixture.database.location, log);
    const adapter = postgres(pool, { clock: fixture.clock, logger: SILENT });
    ends.push(
      () => adapter.store.close(),
      () => pool.end(),
    );
    return adapter;
  }

  test("are synced, refreshed and retired with a handful of statements", async () => {
    const dispatcher = createSubjectDispatcher({
      database: open(),
      profile: fixture.profile,
      dispatcherId: "inventory",
    });
    await dispatcher.getSubject("s");
    log.clear();
    expect(await dispatcher.syncSubjects({ subjects })).toMatchObject({ created: 10_000 });
    expect(log.matching(/subject/)).toHaveLength(2);
    log.clear();
    const changed = subjects.map((subject) => ({ ...subject, meta: { id: -1 } }));
    expect(await dispatcher.syncSubjects({ subjects: changed, retire: true })).toEqual({
      created: 0,
      refreshed: 10_000,
      retired: 0,
    });
    expect(log.matching(/subject/)).toHaveLength(5);
  });

  test("at rest cost an idle worker one question at a time, and then nothing", async () => {
    const database = open();
    const namespace = fixture.profile.replace(" ", "-");
    const dispatcher = createSubjectDispatcher({ database, profile: namespace, dispatcherId: "inventory" });
    const nextDueAt = fixture.clock.now() + 3_600_000;
    await dispatcher.syncSubjects({ subjects: subjects.map((subject) => ({ ...subject, nextDueAt })) });
    let handled = 0;
    await using app = await perdure({ database, namespace, logger: SILENT });
    log.clear();
    app.subjects.define("inventory", {
      every: "1 day",
      concurrency: 1000,
      limit: 1000,
      handle: () => {
        handled++;
      },
    });
    // It looks when it begins, and again when it can hear of other processes.
    const asked = () => log.matching(/as remaining/).length === 2 && log.inFlight === 0;
    await waitUntil("it has asked for the next wake", () => database.store.work.connected && asked());
    expect(log.matching(/subject/)).toHaveLength(4);
    fixture.clock.advance(20_000);
    await settle();
    expect(log.matching(/subject/)).toHaveLength(4);
    fixture.clock.advance(3_600_000);
    await waitUntil("all are handled", () => handled === 10_000);
  });
});
