import pg from "pg";
import postgresJs from "postgres";
import { fromPg, fromPostgresJs } from "../../../src/index.ts";
import { type Library, type OwnTransaction, withSavepoints } from "./own-transaction.ts";

const INT8 = 20;

/** `pg`, with the parsers of types that the application has chosen. */
function pgLibrary(name: string, options: pg.ClientConfig): Library {
  return {
    name,
    open: async (connectionString, { connections: max = 10 } = {}) => {
      const pool = new pg.Pool({ connectionString, max, ...options });
      return {
        transact: async (body, isolation = "read committed") => {
          const client = await pool.connect();
          try {
            await client.query(`begin isolation level ${isolation}`);
            await body(fromPgClient(client));
            await client.query("commit");
          } catch (error) {
            await client.query("rollback");
            throw error;
          } finally {
            client.release();
          }
        },
        wrapClient: () => fromPg(pool as unknown as pg.Client),
        close: () => pool.end(),
      };
    },
  };
}

function fromPgClient(client: pg.PoolClient): OwnTransaction {
  return withSavepoints({ transaction: fromPg(client), query: (text) => client.query(text) });
}

function postgresJsLibrary(name: string, options: postgresJs.Options<Record<string, never>>): Library {
  return {
    name,
    open: async (url, { connections: max = 10 } = {}) => {
      const sql = postgresJs(url, { ...options, max, onnotice: () => {} });
      const wrap = (tx: postgresJs.TransactionSql): OwnTransaction => ({
        transaction: fromPostgresJs(tx),
        query: (text) => tx.unsafe(text),
        savepoint: (body) => tx.savepoint((inner) => body(wrap(inner))),
      });
      return {
        transact: (body, isolation = "read committed") =>
          sql.begin(`isolation level ${isolation}`, (tx) => body(wrap(tx))),
        wrapClient: () => fromPostgresJs(sql as unknown as postgresJs.TransactionSql),
        close: () => sql.end(),
      };
    },
  };
}

const bigints = { getTypeParser: (oid: number) => (oid === INT8 ? BigInt : (text: string) => text) };

export const DRIVER_LIBRARIES: readonly Library[] = [
  pgLibrary("pg", {}),
  pgLibrary("pg with parsers of its own", { types: bigints as never }),
  postgresJsLibrary("postgres.js", {}),
  postgresJsLibrary("postgres.js with transforms", {
    transform: { ...postgresJs.camel, undefined: null },
    types: { bigint: postgresJs.BigInt } as never,
    prepare: false,
  }),
];
