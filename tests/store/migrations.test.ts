import Database from "better-sqlite3";
import { Client } from "pg";
import { afterEach, describe, expect, test } from "vitest";
import { SchemaError, StoreError } from "../../src/errors.ts";
import type { Engine } from "../../src/store/engine.ts";
import type { HookInsert } from "../../src/store/hooks/hook-records.ts";
import { migrateEngine, type OwnedTables } from "../../src/store/migrate-store.ts";
import type { Migration } from "../../src/store/migration.ts";
import { postgresMigrations } from "../../src/store/postgres/index.ts";
import { sqliteMigrations } from "../../src/store/sqlite/index.ts";
import { DRIVERS, type TestStore } from "../support/engines.ts";
import { PLAIN_TRIGGER } from "../support/use-store.ts";

const orders: OwnedTables = {
  namespace: "orders",
  tables: {
    migrations: [
      { name: "orders", sqlite: "create table orders (id text)", postgres: "create table orders (id text)" },
      {
        name: "totals",
        sqlite: "alter table orders add column total integer; insert into orders (id, total) values ('first', 1)",
        postgres: "alter table orders add column total integer; insert into orders (id, total) values ('first', 1)",
      },
    ],
  },
};

const anyHook: HookInsert = { ...PLAIN_TRIGGER, namespace: "app", id: "first" };

describe.each(DRIVERS)("migrations on $name", (engine) => {
  const open: TestStore[] = [];
  afterEach(async () => {
    for (const store of open.splice(0)) await store.dispose();
  });

  async function createEmpty(): Promise<{ database: TestStore; engine: Engine }> {
    const database = await engine.createEmpty();
    open.push(database);
    return { database, engine: database.store.engine };
  }

  /** The same database, as a release that has these migrations sees it. */
  function withMigrations(store: Engine, schemaMigrations: readonly Migration[]): Engine {
    const { dialect } = store;
    const methods = {
      appliedMigrations: () => store.appliedMigrations(),
      migrate: (body: Parameters<Engine["migrate"]>[0]) => store.migrate(body),
    };
    return { dialect, schemaMigrations, ...methods } as Partial<Engine> as Engine;
  }

  const query = (store: Engine, text: string) => store.transaction((tx) => tx.query(text, []));
  const migrationTable = engine.dialect === "postgres" ? "perdure.migration" : "perdure_migration";
  const hookTable = engine.dialect === "postgres" ? "perdure.hook" : "perdure_hook";
  const record = (owner: string, number: number, breaking: boolean) =>
    engine.dialect === "postgres"
      ? `insert into ${migrationTable} (owner, number, name, breaking) values ('${owner}', ${number}, 'future', ${breaking})`
      : `insert into ${migrationTable} values ('${owner}', ${number}, 'future', ${breaking ? 1 : 0}, 0)`;

  test("say what is missing before the first", async () => {
    const { engine: store } = await createEmpty();

    expect(await store.appliedMigrations()).toEqual([]);
    await expect(store.hooks.statistics("app")).rejects.toMatchObject({ code: "store.not_migrated", transient: false });
  });

  test("do nothing the second time", async () => {
    const { engine: store } = await createEmpty();
    await migrateEngine(store, []);
    const applied = await store.appliedMigrations();
    const times = await query(store, `select applied_at from ${migrationTable}`);

    await migrateEngine(store, []);

    expect(applied.map(({ owner, number }) => `${owner} ${number}`)).toEqual(
      store.schemaMigrations.map(({ owner, number }) => `${owner} ${number}`),
    );
    expect(await store.appliedMigrations()).toEqual(applied);
    expect(await query(store, `select applied_at from ${migrationTable}`)).toEqual(times);
  });

  test("of a later release are applied to the tables and rows of an earlier one, which continues beside it", async () => {
    const { engine: store } = await createEmpty();
    await migrateEngine(store, []);
    await store.hooks.insert([anyHook]);
    const [last] = store.schemaMigrations.slice(-1) as [Migration];
    const second = { ...last, number: last.number + 1, name: "notes", breaking: false };
    const sql = `alter table ${hookTable} add column note text; update ${hookTable} set note = name || '!'`;
    const later = withMigrations(store, [...store.schemaMigrations, { ...second, sql }]);

    await Promise.all([migrateEngine(later, []), migrateEngine(later, [])]);
    await migrateEngine(store, []);

    expect((await store.appliedMigrations()).slice(-1)).toEqual([
      { owner: "perdure", number: second.number, name: "notes", breaking: false },
    ]);
    expect(await query(store, `select id, note from ${hookTable}`)).toEqual([{ id: anyHook.id, note: "greet!" }]);
  });

  test("can be asked for by ten processes at once", async () => {
    const { database } = await createEmpty();
    const stores = Array.from({ length: 10 }, () => database.reopen().store);

    await Promise.all(stores.map((store) => migrateEngine(store.engine, [orders])));

    const applied = await database.store.engine.appliedMigrations();
    expect(applied).toHaveLength(database.store.engine.schemaMigrations.length + orders.tables.migrations.length);
    expect(await query(database.store.engine, "select * from orders")).toEqual([{ id: "first", total: 1 }]);
  });

  test("of a fragment are applied in order, and only the new ones later", async () => {
    const { engine: store } = await createEmpty();
    const [first] = orders.tables.migrations;
    await migrateEngine(store, [{ namespace: "orders", tables: { migrations: first ? [first] : [] } }]);
    await query(store, "insert into orders (id) values ('mine')");

    await migrateEngine(store, [orders]);

    expect(await query(store, "select * from orders order by id")).toEqual([
      { id: "first", total: 1 },
      { id: "mine", total: null },
    ]);
    expect((await store.appliedMigrations()).filter(({ owner }) => owner === "orders")).toEqual([
      { owner: "orders", number: 1, name: "orders", breaking: false },
      { owner: "orders", number: 2, name: "totals", breaking: false },
    ]);
  });

  test("of two fragments are kept apart", async () => {
    const { engine: store } = await createEmpty();
    const parcels = {
      namespace: "parcels",
      tables: {
        migrations: [
          { name: "parcels", sqlite: "create table parcels (id text)", postgres: "create table parcels (id text)" },
        ],
      },
    };
    await migrateEngine(store, [orders]);
    await migrateEngine(store, [parcels]);

    expect(await query(store, "select * from parcels")).toEqual([]);
  });

  test("leave nothing behind when one fails", async () => {
    const { engine: store } = await createEmpty();
    const broken = {
      namespace: "orders",
      tables: {
        migrations: [
          ...orders.tables.migrations,
          {
            name: "broken",
            sqlite: "create table more (id text); nonsense",
            postgres: "create table more (id text); nonsense",
          },
        ],
      },
    };

    const failure: unknown = await migrateEngine(store, [broken]).catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(StoreError);
    expect(failure).toMatchObject({ code: "store.rejected", message: expect.stringContaining("nonsense") });
    expect(await store.appliedMigrations()).toEqual([]);
    await expect(query(store, `select * from ${hookTable}`)).rejects.toThrow();
    await expect(query(store, "select * from orders")).rejects.toThrow();
    await migrateEngine(store, [orders]);
    expect(await query(store, "select * from orders")).toHaveLength(1);
  });

  test("refuse a database that a newer version has changed for good, and change nothing", async () => {
    const { engine: store } = await createEmpty();
    await migrateEngine(store, []);
    await query(store, record("perdure", 999, true));

    const failure: unknown = await migrateEngine(store, [orders]).catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(SchemaError);
    expect(failure).toMatchObject({ code: "schema.too_new", message: expect.stringContaining('999 "future"') });
    await expect(query(store, "select * from orders")).rejects.toThrow();
  });

  test("refuse a fragment's tables that a newer version of it has changed for good", async () => {
    const { engine: store } = await createEmpty();
    await migrateEngine(store, [orders]);
    await query(store, record("orders", 3, true));

    await expect(migrateEngine(store, [orders])).rejects.toMatchObject({ code: "schema.too_new" });
  });

  test("live with newer ones that break nothing, and with those of fragments that aren't here", async () => {
    const { engine: store } = await createEmpty();
    await migrateEngine(store, []);
    await query(store, record("perdure", 999, false));
    await query(store, record("somebody else", 1, true));

    await migrateEngine(store, [orders]);

    expect(await query(store, "select * from orders")).toHaveLength(1);
  });

  test("are the same as the SQL that is printed", async () => {
    const byHand = await createEmpty();
    const byMigrate = await createEmpty();
    await runPrinted(byHand.database.location);
    await migrateEngine(byMigrate.engine, []);

    expect(await describeSchema(byHand.engine)).toEqual(await describeSchema(byMigrate.engine));
    expect(await byHand.engine.appliedMigrations()).toEqual(await byMigrate.engine.appliedMigrations());
    await migrateEngine(byHand.engine, []);
    expect(await byHand.engine.hooks.nextWake([{ namespace: "app", names: ["greet"] }], { takeOver: true })).toBeNull();
  });

  async function runPrinted(location: string): Promise<void> {
    if (engine.dialect === "sqlite") {
      const database = new Database(location);
      database.exec(sqliteMigrations());
      database.close();
      return;
    }
    const client = new Client({ connectionString: location });
    await client.connect();
    await client.query(postgresMigrations());
    await client.end();
  }

  /** Everything that the schema is made of, as the database itself tells it. */
  function describeSchema(store: Engine): Promise<unknown[]> {
    if (engine.dialect === "sqlite") return query(store, "select type, name, sql from sqlite_master order by name");
    return query(
      store,
      `select table_name, column_name, data_type, is_nullable, column_default, collation_name::text as rule
      from information_schema.columns where table_schema = 'perdure'
      union all
      select tablename, indexname, indexdef, '', '', '' from pg_indexes where schemaname = 'perdure'
      union all
      select relname, 'options', reloptions::text, '', '', '' from pg_class where relnamespace = 'perdure'::regnamespace
      order by 1, 2`,
    );
  }
});
