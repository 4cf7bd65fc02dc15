import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { fromNodeSqlite, fromPg, type TriggerOptions } from "../src/index.ts";
import type { ChaosEngine } from "./settings.ts";
import type { ChaosApplication } from "./workload.ts";

const PATIENCE_MS = 5000;

/** Transactions that the application begins and ends itself, with a driver of its own. */
export interface OwnTransactions {
  begin(app: ChaosApplication): Promise<OwnTransaction>;
  close(): Promise<void>;
}

export interface OwnTransaction {
  /** Writes one value into the column `item` of a table. */
  insert(table: string, item: string): Promise<void>;
  triggerHook(name: string, payload: unknown, options?: TriggerOptions): Promise<void>;
  /** If it rejects, the outcome is unknown. */
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

export function openOwnTransactions(engine: ChaosEngine, database: string): OwnTransactions {
  return engine === "postgres" ? openPostgres(database) : openSqlite(database);
}

function openPostgres(connectionString: string): OwnTransactions {
  const timeouts = { connectionTimeoutMillis: PATIENCE_MS, query_timeout: PATIENCE_MS };
  const pool = new pg.Pool({ connectionString, max: 4, ...timeouts });
  const told = () => {}; // the pending statement reports it, or the next one
  pool.on("error", told);
  pool.on("connect", (client) => client.on("error", told));
  return {
    close: () => pool.end(),
    async begin(app) {
      const client = await pool.connect();
      const end = (error?: unknown) => client.release(error !== undefined);
      const query = async (text: string, parameters: unknown[] = []) => {
        try {
          await client.query(text, parameters);
        } catch (error) {
          end(error);
          throw error;
        }
      };
      await query("begin");
      return {
        insert: (table, item) => query(`insert into ${table} (item) values ($1)`, [item]),
        async triggerHook(name, payload, options) {
          try {
            await app.within(fromPg(client)).triggerHook(name, payload as never, options);
          } catch (error) {
            end(error);
            throw error;
          }
        },
        async commit() {
          await query("commit");
          end();
        },
        async rollback() {
          await query("rollback");
          end();
        },
      };
    },
  };
}

function openSqlite(path: string): OwnTransactions {
  const database = new DatabaseSync(path);
  database.exec(`pragma busy_timeout = ${PATIENCE_MS}; pragma synchronous = full;`);
  const attempt = async (body: () => unknown) => {
    try {
      body();
    } catch (error) {
      if (database.isTransaction) database.exec("rollback");
      throw error;
    }
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
    close: async () => database.close(),
    /** One at a time: there is one connection. */
    async begin(app) {
      const before = last;
      const { promise, resolve } = Promise.withResolvers<void>();
      last = promise;
      await before;
      const step = (body: () => unknown) =>
        attempt(body).catch((error: unknown) => {
          resolve();
          throw error;
        });
      await step(() => database.exec("begin immediate"));
      return {
        insert: (table, item) => step(() => database.prepare(`insert into ${table} (item) values (?)`).run(item)),
        triggerHook: (name, payload, options) =>
          step(() => app.within(fromNodeSqlite(database)).triggerHook(name, payload as never, options)),
        commit: () => step(() => database.exec("commit")).then(resolve),
        rollback: () => step(() => database.exec("rollback")).then(resolve),
      };
    },
  };
}
