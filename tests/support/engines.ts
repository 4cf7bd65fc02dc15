import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { Clock } from "../../src/clock.ts";
import type { Logger } from "../../src/logger.ts";
import { aesGcm } from "../../src/store/codec/aes-gcm.ts";
import type { Codec } from "../../src/store/codec/codec.ts";
import type { Dialect } from "../../src/store/dialect.ts";
import { migrateEngine } from "../../src/store/migrate-store.ts";
import { postgres } from "../../src/store/postgres/index.ts";
import { sqlite } from "../../src/store/sqlite/index.ts";
import type { DatabaseAdapter, Store } from "../../src/store/store.ts";
import { createDatabase } from "./postgres-database.ts";

export interface EngineOptions {
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly codec?: Codec;
  readonly stackTraces?: boolean;
}

export interface TestStore {
  readonly adapter: DatabaseAdapter;
  readonly store: Store;
  /** The path of the file, or the URL. */
  readonly location: string;
  /** What `perdure` is given to use it: a path, a URL, or an adapter. */
  toOpen(): string | DatabaseAdapter;
  /** Another adapter on the same database, with connections of its own. It is closed with the rest. */
  reopen(options?: EngineOptions): DatabaseAdapter;
  /** Closes every adapter and deletes the database. Rejects if a connection was left open. */
  dispose(): Promise<void>;
}

export interface TestEngine {
  readonly name:
    | "node:sqlite"
    | "better-sqlite3"
    | "postgres"
    | "durable object"
    | "encrypted sqlite"
    | "encrypted postgres";
  readonly dialect: Dialect;
  /** A database of its own, migrated and ready. */
  create(options?: EngineOptions): Promise<TestStore>;
  /** The same without any tables. */
  createEmpty(options?: EngineOptions): Promise<TestStore>;
}

/** Every engine on every driver, for tests of the store: `describe.each(DRIVERS)`. */
export const DRIVERS: readonly TestEngine[] = [
  sqliteEngine("node:sqlite", (path, options) => ({ adapter: sqlite(path, options), close: () => {} })),
  sqliteEngine("better-sqlite3", (path, options) => {
    const database = new Database(path);
    database.pragma("journal_mode = wal");
    return { adapter: sqlite(database, options), close: () => void database.close() };
  }),
  {
    name: "postgres",
    dialect: "postgres",
    create: (options) => createPostgres({ empty: false }, options),
    createEmpty: (options) => createPostgres({ empty: true }, options),
  },
];

/** Every engine once, for tests of what is built on the store: `describe.each(ENGINES)`. */
export const ENGINES: readonly TestEngine[] = DRIVERS.filter(({ name }) => name !== "better-sqlite3");

const codec = aesGcm({ keys: { tests: new Uint8Array(32).fill(7) }, current: "tests" });

/** Engines whose values are encrypted. */
export const ENCRYPTED: readonly TestEngine[] = ENGINES.map((engine) => ({
  name: `encrypted ${engine.dialect}` as const,
  dialect: engine.dialect,
  create: (options) => engine.create({ codec, ...options }),
  createEmpty: (options) => engine.createEmpty({ codec, ...options }),
}));

/** For suites in which it matters: `describe.each([...ENGINES, ENCRYPTED_SQLITE])`. */
export const ENCRYPTED_SQLITE: TestEngine = ENCRYPTED[0] as TestEngine;

type OpenSqlite = (path: string, options: EngineOptions) => { adapter: DatabaseAdapter; close: () => void };

function sqliteEngine(name: "node:sqlite" | "better-sqlite3", open: OpenSqlite): TestEngine {
  const createEmpty = async (options: EngineOptions = {}) => {
    const directory = mkdtempSync(join(tmpdir(), "perdure-sqlite-"));
    const location = join(directory, "test.db");
    const closeAll: (() => Promise<void>)[] = [];
    const reopen = (reopenOptions: EngineOptions = {}) => {
      const { adapter, close } = open(location, { ...options, ...reopenOptions });
      closeAll.push(async () => {
        await adapter.store.close();
        close();
      });
      return adapter;
    };
    const dispose = async () => {
      for (const close of closeAll.splice(0)) await close();
      rmSync(directory, { recursive: true, force: true });
    };
    const toOpen = () => (name === "node:sqlite" ? location : reopen());
    return toTestStore(reopen(), { location, toOpen, reopen, dispose });
  };
  const create = async (options?: EngineOptions) => {
    const created = await createEmpty(options);
    await migrateEngine(created.store.engine, []);
    return created;
  };
  return { name, dialect: "sqlite", create, createEmpty };
}

/** Clones of the template are migrated already. */
async function createPostgres({ empty }: { empty: boolean }, options: EngineOptions = {}): Promise<TestStore> {
  const database = await createDatabase({ empty });
  const adapters: DatabaseAdapter[] = [];
  const reopen = (reopenOptions: EngineOptions = {}) => {
    const adapter = postgres(database.url, { ...options, ...reopenOptions });
    adapters.push(adapter);
    return adapter;
  };
  const dispose = async () => {
    for (const { store } of adapters.splice(0)) await store.close();
    await database.drop();
  };
  return toTestStore(reopen(), { location: database.url, toOpen: () => database.url, reopen, dispose });
}

function toTestStore(adapter: DatabaseAdapter, rest: Omit<TestStore, "adapter" | "store">): TestStore {
  return { adapter, store: adapter.store, ...rest };
}
