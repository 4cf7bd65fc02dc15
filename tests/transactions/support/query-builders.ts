import { drizzle as drizzleOnPg } from "drizzle-orm/node-postgres";
import { drizzle as drizzleOnPostgresJs } from "drizzle-orm/postgres-js";
import createKnex, { type Knex } from "knex";
import { CamelCasePlugin, CompiledQuery, Kysely, type KyselyPlugin, PostgresDialect, type Transaction } from "kysely";
import pg from "pg";
import postgresJs from "postgres";
import { fromDrizzle, fromKnex, fromKysely } from "../../../src/index.ts";
import { type Isolation, type Library, type OwnTransaction, withSavepoints } from "./own-transaction.ts";

function kyselyLibrary(name: string, plugins: KyselyPlugin[]): Library {
  return {
    name,
    open: async (connectionString, { connections: max = 10 } = {}) => {
      const pool = new pg.Pool({ connectionString, max });
      const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }), plugins });
      const wrap = (trx: Transaction<unknown>): OwnTransaction =>
        withSavepoints({
          transaction: fromKysely(trx),
          query: (text) => trx.executeQuery(CompiledQuery.raw(text)),
        });
      return {
        transact: (body, isolation = "read committed") =>
          db
            .transaction()
            .setIsolationLevel(isolation)
            .execute((trx) => body(wrap(trx))),
        wrapClient: () => fromKysely(db),
        close: () => db.destroy(),
      };
    },
  };
}

/** With savepoints, which only a controlled transaction of Kysely has. */
const controlledKysely: Library = {
  name: "Kysely's controlled transactions",
  open: async (connectionString, { connections: max = 10 } = {}) => {
    const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString, max }) }) });
    return {
      transact: async (body, isolation = "read committed") => {
        const trx = await db.startTransaction().setIsolationLevel(isolation).execute();
        const own: OwnTransaction = {
          transaction: fromKysely(trx),
          query: (text) => trx.executeQuery(CompiledQuery.raw(text)),
          savepoint: async (inner) => {
            const after = await trx.savepoint("own").execute();
            try {
              await inner({ ...own, transaction: fromKysely(after) });
            } catch (error) {
              await after.rollbackToSavepoint("own").execute();
              throw error;
            }
          },
        };
        try {
          await body(own);
          await trx.commit().execute();
        } catch (error) {
          if (!trx.isCommitted) await trx.rollback().execute();
          throw error;
        }
      },
      wrapClient: () => fromKysely(db),
      close: () => db.destroy(),
    };
  },
};

type DrizzleDatabase = ReturnType<typeof drizzleOnPg> | ReturnType<typeof drizzleOnPostgresJs>;
type DrizzleTransaction = Parameters<Parameters<DrizzleDatabase["transaction"]>[0]>[0];

function drizzleLibrary(
  name: string,
  connect: (url: string, max: number) => [DrizzleDatabase, () => Promise<unknown>],
): Library {
  return {
    name,
    open: async (url, { connections = 10 } = {}) => {
      const [db, close] = connect(url, connections);
      const wrap = (tx: DrizzleTransaction): OwnTransaction => ({
        transaction: fromDrizzle(tx),
        query: async (text) => tx.execute(text),
        savepoint: (body) => tx.transaction((inner) => body(wrap(inner))),
      });
      return {
        transact: (body, isolationLevel: Isolation = "read committed") =>
          db.transaction((tx) => body(wrap(tx)), { isolationLevel }),
        wrapClient: () => fromDrizzle(db as unknown as DrizzleTransaction),
        close,
      };
    },
  };
}

function knexLibrary(name: string, options: Knex.Config): Library {
  return {
    name,
    open: async (connection, { connections: max = 10 } = {}) => {
      const knex = createKnex({ client: "pg", connection, pool: { min: 0, max }, ...options });
      const wrap = (trx: Knex.Transaction): OwnTransaction => ({
        transaction: fromKnex(trx),
        query: async (text) => trx.raw(text),
        savepoint: (body) => trx.transaction((inner) => body(wrap(inner))),
      });
      return {
        transact: (body, isolationLevel: Isolation = "read committed") =>
          knex.transaction((trx) => body(wrap(trx)), { isolationLevel }),
        wrapClient: () => fromKnex(knex as unknown as Knex.Transaction),
        close: () => knex.destroy(),
      };
    },
  };
}

/** As many applications have them: names of columns in capitals, in results of every kind. */
const inCapitals: Knex.Config = {
  wrapIdentifier: (value, original) => original(value.toLowerCase()),
  postProcessResponse: (result: { rows?: object[] }) => {
    const rename = (row: object) =>
      Object.fromEntries(Object.entries(row).map(([key, value]) => [key.toUpperCase(), value]));
    return Array.isArray(result?.rows) ? { ...result, rows: result.rows.map(rename) } : result;
  },
};

export const QUERY_BUILDERS: readonly Library[] = [
  kyselyLibrary("Kysely", []),
  kyselyLibrary("Kysely with the CamelCasePlugin", [new CamelCasePlugin({ upperCase: true })]),
  controlledKysely,
  drizzleLibrary("Drizzle on pg", (connectionString, max) => {
    const pool = new pg.Pool({ connectionString, max });
    return [drizzleOnPg(pool), () => pool.end()];
  }),
  drizzleLibrary("Drizzle on postgres.js", (url, max) => {
    const sql = postgresJs(url, { max });
    return [drizzleOnPostgresJs(sql), () => sql.end()];
  }),
  knexLibrary("Knex", {}),
  knexLibrary("Knex with renamed columns", inCapitals),
  knexLibrary("Knex with rows as results", { postProcessResponse: (result) => result?.rows ?? result }),
];
