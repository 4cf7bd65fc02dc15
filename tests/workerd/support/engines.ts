import { aesGcm } from "../../../src/store/codec/aes-gcm.ts";
import { migrateEngine } from "../../../src/store/migrate-store.ts";
import { durableObject } from "../../../src/store/sqlite/durable-object.ts";
import type { DatabaseAdapter } from "../../../src/store/store.ts";
import type { EngineOptions, TestEngine } from "../../support/engines.ts";
import { presentObject } from "./object-under-test.ts";

/** Stands in for tests/support/engines.ts inside workerd: the only engine there is a Durable Object's storage. */
export const ENGINES: readonly TestEngine[] = [
  {
    name: "durable object",
    dialect: "sqlite",
    create: async (options) => {
      const created = await createEmpty(options);
      await migrateEngine(created.store.engine, []);
      return created;
    },
    createEmpty: (options) => createEmpty(options),
  },
];

export const DRIVERS: readonly TestEngine[] = [...ENGINES];

/** What is in use of the databases of an object. One that was reset, or that another file has, is another object. */
const inUse = new WeakMap<object, Set<object>>();

const codec = aesGcm({ keys: { tests: new Uint8Array(32).fill(7) }, current: "tests" });

/** The same, with values that are encrypted. */
export const ENCRYPTED: readonly TestEngine[] = ENGINES.map((engine) => ({
  name: "encrypted sqlite",
  dialect: "sqlite",
  create: (options) => engine.create({ codec, ...options }),
  createEmpty: (options) => engine.createEmpty({ codec, ...options }),
}));

export const ENCRYPTED_SQLITE: TestEngine = ENCRYPTED[0] as TestEngine;

/**
 * An object has one database: it begins where the last one ended, unless that is still in use. Tests have namespaces anyway.
 */
async function createEmpty(options: EngineOptions = {}) {
  const state = presentObject();
  const live = inUse.get(state) ?? new Set();
  inUse.set(state, live);
  if (live.size === 0) dropEverything(state.storage.sql);
  const token = {};
  live.add(token);
  const adapters: DatabaseAdapter[] = [];
  const reopen = (reopenOptions: EngineOptions = {}) => {
    const adapter = durableObject(state, { ...options, ...reopenOptions });
    adapters.push(adapter);
    return adapter;
  };
  const dispose = async () => {
    for (const { store } of adapters.splice(0)) await store.close();
    live.delete(token);
  };
  const adapter = reopen();
  return { adapter, store: adapter.store, location: "", toOpen: () => reopen(), reopen, dispose };
}

function dropEverything(sql: ReturnType<typeof presentObject>["storage"]["sql"]): void {
  const tables = sql.exec("select name from sqlite_master where type = 'table' and name not like '\\_%' escape '\\'");
  for (const { name } of tables.toArray())
    if (!String(name).startsWith("sqlite_")) sql.exec(`drop table "${name}"`).toArray();
}
