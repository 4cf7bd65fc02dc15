import { Client, Pool } from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { PostgresPool } from "../../src/store/postgres/index.ts";
import { postgres } from "../../src/store/postgres/index.ts";
import { eventually } from "../support/eventually.ts";
import { createDatabase, type TestDatabase } from "../support/postgres-database.ts";

const silent = { info: () => {}, warn: () => {}, error: () => {} };

describe("the connections of a PostgreSQL store", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });
  afterAll(() => database.drop());

  test("can serve several stores, which all use the same prepared statements", async () => {
    const pool = new Pool({ connectionString: database.url, max: 3 });
    const stores = [postgres(pool, { logger: silent }), postgres(pool, { logger: silent })].map(({ store }) => store);
    const all = { namespace: "app", status: null, after: null, order: "newest", limit: 1 } as const;
    for (const store of [...stores, ...stores]) {
      await store.hooks.statements.statistics("app");
      await store.hooks.statements.list(all);
    }
    for (const store of stores) await store.close();
    const { totalCount } = pool;
    await pool.end();

    expect(totalCount).toBe(1);
  });

  describe("of its own", () => {
    test("are closed with it, and may be cut while they are", async () => {
      const end = Pool.prototype.end as () => Promise<void>;
      vi.spyOn(Pool.prototype, "end").mockImplementation(async function (this: Pool) {
        this.emit("error", new Error("cut"), new Client());
        await end.call(this);
      });
      const { store } = postgres(database.url, { logger: silent });
      await store.hooks.statements.statistics("app");

      await expect(store.close()).resolves.toBeUndefined();
    });

    test("outlast the time between two looks of an idle worker", async () => {
      const connect = vi.spyOn(Client.prototype, "connect");
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      const { store } = postgres(database.url, { logger: silent });
      await store.hooks.statements.statistics("app");
      vi.advanceTimersByTime(45_000);
      await store.hooks.statements.statistics("app");
      vi.useRealTimers();
      await store.close();

      expect(connect).toHaveBeenCalledTimes(1);
    });

    test("may be cut while they are idle, which is logged", async () => {
      const warn = vi.fn();
      const { store } = postgres(database.url, { logger: { ...silent, warn } });
      await store.hooks.statements.statistics("app");
      const other = new Client({ connectionString: database.url });
      await other.connect();
      await other.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'perdure'`,
      );
      await eventually(() => expect(warn).toHaveBeenCalled());
      await other.end();

      await expect(store.hooks.statements.statistics("app")).resolves.toMatchObject({ pending: 0 });
      await store.close();
    });
  });

  describe("of the application's pool", () => {
    test("stay open when it is closed, and it leaves nothing behind", async () => {
      const pool = new Pool({ connectionString: database.url, max: 4 });
      const before = pool.listenerCount("error");
      const { store } = postgres(pool, { logger: silent });
      await store.hooks.statements.statistics("app");
      await store.close();

      expect(pool.listenerCount("error")).toBe(before);
      await expect(pool.query("select 1 as one")).resolves.toMatchObject({ rows: [{ one: 1 }] });
      await pool.end();
    });

    test("must be enough to listen, claim and commit at once", () => {
      const pool = new Pool({ connectionString: database.url, max: 2 });
      expect(() => postgres(pool)).toThrow(expect.objectContaining({ code: "postgres.pool_too_small" }));
      expect(() => postgres(database.url, { connections: 2 })).toThrow(/at least 3/);
    });

    test.each([
      ["a single connection", new Client()],
      ["nothing", null],
      ["anything else", {}],
    ])("aren't %s", (_, given) => {
      const refused = expect.objectContaining({ code: "postgres.pool_invalid" });
      expect(() => postgres(given as unknown as PostgresPool)).toThrow(refused);
    });

    test.each(["0", "99999", "54x2", "-1", "5432:5432", "port"])("aren't a URL with the port %s", (port) => {
      const refused = expect.objectContaining({
        code: "postgres.url_invalid",
        message: expect.stringContaining("port"),
      });
      const urls = [
        `postgres://localhost:${port}/app`,
        `postgresql://u:p@[::1]:${port}`,
        `postgres://h/app?port=${port}`,
      ];
      for (const url of [...urls, `postgres://a:5432,b:${port}/app`]) expect(() => postgres(url)).toThrow(refused);
    });

    test.each([
      "postgres://localhost/app",
      "postgres://user:pass:word@localhost:5432/app",
      "postgres://[::1]/app",
      "postgres://[::1]:5432/app?sslmode=disable",
      "postgres:///app?host=/var/run/postgresql&port=5433",
      "postgres://%2Fvar%2Frun%2Fpostgresql/app",
    ])("are the URL %s", async (url) => {
      await postgres(url).close();
    });

    test("aren't the URL of something else", () => {
      expect(() => postgres("mysql://root@localhost/app")).toThrow(
        expect.objectContaining({ code: "postgres.url_invalid" }),
      );
    });
  });

  test("work without prepared statements, as poolers may need", async () => {
    const pool = new Pool({ connectionString: database.url, max: 3 });
    const query = vi.spyOn(Client.prototype, "query");
    const { store } = postgres(pool, { preparedStatements: false, logger: silent });
    const scopes = [{ namespace: "app", names: ["greet"] }];
    await store.hooks.statements.claim({ scopes, limit: 1, takeOver: true, lock: "mine", leaseMs: 1000 });
    await store.hooks.statements.nextWake(scopes, { takeOver: true });

    const names = query.mock.calls.map(([first]) => (first as unknown as { name?: string }).name);
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => name !== undefined)).toEqual([]);
    await store.close();
    await pool.end();
  });
});
