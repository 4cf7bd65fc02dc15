import { Client, type Pool } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { defineWorkflow, perdure } from "../../src/index.ts";
import type { Connection } from "../../src/store/postgres/connection/connection.ts";
import { PostgresWakeups } from "../../src/store/postgres/connection/wakeups.ts";
import { postgres } from "../../src/store/postgres/index.ts";
import { finishedTopic } from "../../src/store/queue/work-board.ts";
import { ControlledClock } from "../support/controlled-clock.ts";
import { createCountingPool, StatementLog } from "../support/counting-pool.ts";
import { createDatabase, type TestDatabase } from "../support/postgres-database.ts";
import { waitUntil } from "../support/wait-until.ts";

const TOPIC = finishedTopic("app");

describe("the end of an instance on PostgreSQL", () => {
  const log = new StatementLog();
  const heard: string[] = [];
  let database: TestDatabase;
  let pool: Pool;
  let listener: Client;

  beforeEach(async () => {
    database = await createDatabase();
    pool = createCountingPool(database.url, log);
    listener = new Client({ connectionString: database.url });
    await listener.connect();
    heard.length = 0;
    listener.on("notification", ({ payload = "" }) => heard.push(payload));
    await listener.query("listen perdure_perdure");
  });

  afterEach(async () => {
    await listener.end();
    await pool.end();
    await database.drop();
  });

  test("is announced to other processes by its commit, so one workflow sends its four commits and nothing else", async () => {
    const work = defineWorkflow({ name: "work" }, async (_event, step) => {
      for (const name of ["first", "second", "third"]) await step.do(name, () => name);
      return "done";
    });
    const app = await perdure({ database: postgres(pool), workflows: { work } });
    await waitUntil("it has begun", () => log.inFlight === 0 && log.matching(/^listen/).length === 1);
    log.clear();
    await (await app.workflows.work.create()).result();
    const texts = log.texts.filter((text) => /insert into|journal/.test(text));
    expect(texts, texts.join("\n\n")).toHaveLength(4);
    await waitUntil("others are told", () => heard.length === 1);
    await app.stop(); // sends what is still to be announced

    expect(log.matching(/pg_notify/)).toEqual([]);
    expect(heard).toEqual([JSON.stringify([TOPIC])]);
  });
});

describe("ends that follow each other on PostgreSQL", () => {
  /** Notifications that were sent by themselves. */
  let sent: unknown[][];
  let clock: ControlledClock;
  let wakeups: PostgresWakeups;

  beforeEach(() => {
    sent = [];
    clock = new ControlledClock();
    const connection = { run: async (_: unknown, values: unknown[]) => sent.push(JSON.parse(values[1] as string)) };
    const randomness = { fraction: () => 0, bytes: (length: number) => new Uint8Array(length) };
    wakeups = new PostgresWakeups(connection as never as Connection, clock, randomness, "channel", () => {});
  });

  /** What the commit of one end has carried; undefined if it carried nothing. */
  function end({ written = true } = {}): unknown {
    const carried = wakeups.carryEnd(TOPIC);
    if (written) carried?.onDone?.();
    if (written) wakeups.announce(TOPIC);
    return carried === null ? undefined : JSON.parse(carried.values[1] as string);
  }

  test("are announced by the commit of the next, as long as they follow each other", async () => {
    const carried = [];
    for (let ends = 0; ends < 7; ends++) {
      if (ends > 0) await clock.advanceAndSettle(4);
      carried.push(end());
    }
    await wakeups.close();

    const [yes, no] = [[TOPIC], undefined];
    expect(carried).toEqual([yes, no, no, yes, no, no, yes]);
    expect(sent).toEqual([]);
  });

  test("are announced a moment later if no other end follows", async () => {
    expect([end(), end(), end()]).toEqual([[TOPIC], undefined, undefined]);
    await clock.advanceAndSettle(19);
    expect(sent).toEqual([]);
    await clock.advanceAndSettle(1);

    expect(sent).toEqual([[TOPIC]]);
  });

  test("are announced although the commit that carries them fails", async () => {
    end();
    await clock.advanceAndSettle(5);
    end();
    await clock.advanceAndSettle(5);
    expect(end({ written: false })).toEqual([TOPIC]);
    await clock.advanceAndSettle(10);

    expect(sent).toEqual([[TOPIC]]);
  });

  test("are announced if they come while the commit that carries earlier ones is under way", async () => {
    end();
    await clock.advanceAndSettle(10);
    const carried = wakeups.carryEnd(TOPIC);
    wakeups.announce(TOPIC); // of a batch
    carried?.onDone?.();
    wakeups.announce(TOPIC);
    await clock.advanceAndSettle(20);

    expect(sent).toEqual([[TOPIC]]);
  });

  test("take other announcements with them, and don't hold them up", async () => {
    end();
    wakeups.announce(TOPIC);
    wakeups.announce("orders");

    expect(sent).toEqual([[TOPIC, "orders"]]);
  });

  test("are announced at once if they aren't alone in their flush", () => {
    wakeups.announce(TOPIC);

    expect(sent).toEqual([[TOPIC]]);
  });
});
