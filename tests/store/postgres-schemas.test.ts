import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { migrateEngine } from "../../src/store/migrate-store.ts";
import { postgres, postgresMigrations } from "../../src/store/postgres/index.ts";
import type { Store } from "../../src/store/store.ts";
import { createDatabase, type TestDatabase } from "../support/postgres-database.ts";
import { COMPLETED, StoreUnderTest } from "../support/use-store.ts";

const LONGEST = "a_schema_name_of_forty_characters_in_all";

describe("the schema of a PostgreSQL database", () => {
  const fixture = new StoreUnderTest();
  let database: TestDatabase;
  let pool: Pool;

  beforeAll(async () => {
    database = await createDatabase({ empty: true });
    pool = new Pool({ connectionString: database.url, max: 5 });
  });
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  async function open(schema: string): Promise<Store> {
    const { store } = postgres(pool, { schema, clock: fixture.clock });
    await migrateEngine(store.engine, []);
    return store;
  }

  test("keeps two installations apart, in one pool too", async () => {
    const [first, second] = [await open("first"), await open("second")];
    fixture.nextNamespace();
    const trigger = fixture.trigger({ id: "a", payload: "1" });
    await first.hooks.insert([trigger]);

    const request = fixture.request();
    expect(await second.hooks.statements.claim(request)).toEqual([]);
    expect(await second.hooks.insert([{ ...trigger, payload: "2" }])).toMatchObject([{ result: "inserted" }]);
    expect(await first.hooks.statements.claim(request)).toMatchObject([{ id: "a", payload: "1" }]);
    expect(await second.hooks.statements.claim(request)).toMatchObject([{ id: "a", payload: "2" }]);
  });

  test("has its own migrations", async () => {
    const third = postgres(pool, { schema: "third" });
    expect(await third.store.engine.appliedMigrations()).toEqual([]);
    await migrateEngine(third.store.engine, []);
    expect(await third.store.engine.appliedMigrations()).not.toEqual([]);
  });

  test.each([LONGEST, "select", "_", "a1"])("may be called %s", async (schema) => {
    const warn = vi.spyOn(console, "error");
    const store = await open(schema);
    fixture.nextNamespace();
    await store.hooks.insert([fixture.trigger(), fixture.trigger({ key: "k" })]);
    const claimed = await store.hooks.statements.claim(fixture.request());
    const settlements = claimed.map((hook) => ({ ...hook, keyed: hook.key !== null, outcome: COMPLETED }));

    expect(await store.hooks.statements.settle(settlements)).toEqual(["deleted", "deleted"]);
    expect(await store.hooks.statements.nextWake(fixture.request().scopes, { takeOver: true })).toBeNull();
    expect(warn, "the driver complains about names that are too long").not.toHaveBeenCalled();
    warn.mockRestore();
  });

  test.each([
    "",
    `${LONGEST}s`,
    "Perdure",
    "1st",
    "a b",
    "a-b",
    'a"; drop table users; --',
    "a'b",
    "a.b",
    "ü",
    "a\0",
    "a\n",
    7,
    ["a"],
  ])("may not be called %j", (schema) => {
    const refused = expect.objectContaining({ code: "postgres.schema_invalid" });
    expect(() => postgres(pool, { schema: schema as string })).toThrow(refused);
    expect(() => postgresMigrations({ schema: schema as string })).toThrow(refused);
  });

  test("is perdure by default", () => {
    expect(postgresMigrations()).toBe(postgresMigrations({ schema: "perdure" }));
    expect(postgresMigrations({ schema: "other" })).not.toContain('perdure".');
  });
});
