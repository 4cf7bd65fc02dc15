import { Pool, type PoolClient } from "pg";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type PostgresPool, postgres } from "../../src/store/postgres/index.ts";
import type { Store } from "../../src/store/store.ts";
import { PREPARE_CONNECTION } from "../support/cut-texts.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { useFakeTime } from "../support/fake-time.ts";
import { createDatabase, type TestDatabase } from "../support/postgres-database.ts";
import { waitUntil } from "../support/wait-until.ts";

const MAX = 3;
const silent = { info: () => {}, warn: () => {}, error: () => {} };
let database: TestDatabase;

beforeEach(async () => {
  database = await createDatabase();
});

afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await database.drop();
});

describe("a connection that falls silent before it was ever used", () => {
  test("is given up, and its place is free for another", async () => {
    useFakeTime();
    const proxy = await CuttingProxy.start(database.url);
    const { store } = postgres(proxy.url, { logger: silent, connections: MAX });
    const ask = () =>
      store.hooks.statements.statistics("app").then(
        () => "done",
        ({ code }: { code: string }) => code,
      );

    const answers: string[] = [];
    for (let number = 1; number <= MAX; number++) {
      const fellSilent = proxy.cut(PREPARE_CONNECTION, "silence");
      void ask().then((answer) => answers.push(answer));
      await fellSilent;
    }
    await waitUntil("all were told", () => {
      vi.advanceTimersByTime(250);
      return answers.length === MAX;
    });

    expect(answers).toEqual(Array(MAX).fill("store.unavailable"));
    expect(await ask()).toBe("done");
    vi.useRealTimers();
    await store.close();
    await proxy.stop();
  });
});

describe("a connection that is lost in the moment in which it is handed from one to the next", () => {
  /** All connections are taken, and a caller waits; then one is given back and lost before that caller could notice. */
  async function handOver(store: Store, pool: Pool): Promise<void> {
    const taken = await Promise.all(Array.from({ length: MAX }, () => pool.connect()));
    const waiting = store.engine.transaction(async () => "done").catch(() => "failed");
    await waitUntil("it waits", () => pool.waitingCount === 1);
    const [lost, ...others] = taken as [PoolClient, ...PoolClient[]];
    lost.release();
    lost.emit("error", new Error("terminating connection due to administrator command"));
    for (const client of others) client.release();
    await waiting;
  }

  test("doesn't end the process", async () => {
    const { promise: opened, resolve } = Promise.withResolvers<Pool>();
    const connect = Pool.prototype.connect;
    vi.spyOn(Pool.prototype, "connect").mockImplementation(function (this: Pool, ...parameters) {
      resolve(this);
      return connect.apply(this, parameters);
    });
    const { store } = postgres(database.url, { logger: silent, connections: MAX });
    await store.hooks.statements.statistics("app");

    await expect(handOver(store, await opened)).resolves.toBeUndefined();
    await store.close();
  });

  test("doesn't end the process of an application with a pool of its own, which is left as it was", async () => {
    const pool = new Pool({ connectionString: database.url, max: MAX });
    pool.on("error", () => {});
    const { store } = postgres(pool as PostgresPool, { logger: silent });
    await store.hooks.statements.statistics("app");

    await expect(handOver(store, pool)).resolves.toBeUndefined();
    await store.close();
    expect(pool.listenerCount("acquire")).toBe(0);
    await pool.end();
  });
});
