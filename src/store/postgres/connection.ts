import { PerdureError } from "../../errors.ts";
import type { PostgresClient, PostgresPool, PostgresQuery, PostgresQueryable, PostgresResult } from "./driver.ts";
import { isDeadlock, MOST_DEADLOCKS, toStoreError } from "./errors.ts";
import type { Statement } from "./sql/statement.ts";

const DRIVER_MISSING = "ERR_MODULE_NOT_FOUND";
/**
 * A connection that was cut without a word looks open for hours. Our statements take milliseconds; who waits longer than this
 * has time left to ask again on another connection, before a caller loses patience or a lease ends.
 */
export const ANSWER_TIMEOUT_MS = 10_000;
/** For statements that read whole tables. */
const SLOW_ANSWER_TIMEOUT_MS = 300_000;

/** The pool's own time limit is over when it is connected. Who asked for a connection would wait for this one for ever. */
/** Longer than an idle worker waits between two looks, so that it needn't connect anew for each. */
const IDLE_MS = 60_000;
const GENERIC_PLANS = { text: "set plan_cache_mode = force_generic_plan", query_timeout: ANSWER_TIMEOUT_MS };

export interface ConnectionOptions {
  readonly pool: PostgresPool | { readonly url: string; readonly connections: number };
  /** Off for connection poolers that share server connections between clients without keeping prepared statements. */
  readonly preparedStatements: boolean;
  /** Distinguishes our statements' names from those of another schema in the same pool. */
  readonly statementPrefix: string;
  readonly onPoolError: (error: Error) => void;
}

/** The pool, made at the first use, and errors as ours. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #guarded = new WeakSet<PostgresClient>();
  #pool: Promise<PostgresPool> | undefined;
  #closed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  async run(statement: Statement, values: unknown[], on?: PostgresQueryable): Promise<PostgresResult> {
    const { preparedStatements, statementPrefix } = this.#options;
    const name = preparedStatements && statement.planOnce ? { name: statementPrefix + statement.name } : {};
    const query_timeout = statement.slow ? SLOW_ANSWER_TIMEOUT_MS : ANSWER_TIMEOUT_MS;
    return this.query({ ...name, text: statement.text, values, query_timeout }, on);
  }

  /** A statement of its own is sent again if it was chosen to end a deadlock; of a transaction's, `on` its client, more is undone. */
  async query(query: PostgresQuery, on?: PostgresQueryable): Promise<PostgresResult> {
    for (let deadlocks = 0; ; deadlocks++) {
      try {
        const queryable = on ?? (await this.pool());
        return await queryable.query(query);
      } catch (error) {
        if (on === undefined && isDeadlock(error) && deadlocks < MOST_DEADLOCKS) continue;
        throw toStoreError(error);
      }
    }
  }

  async checkOut(): Promise<PostgresClient> {
    try {
      const pool = await this.pool();
      return await pool.connect();
    } catch (error) {
      throw toStoreError(error);
    }
  }

  pool(): Promise<PostgresPool> {
    if (this.#closed) return Promise.reject(new PerdureError("store.closed", "The database connection was closed."));
    this.#pool ??= this.#open();
    return this.#pool;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const pool = await this.#pool;
    if (pool === this.#options.pool) {
      pool?.removeListener("error", this.#options.onPoolError);
      pool?.removeListener("acquire", this.#guard);
    } else {
      await pool?.end(); // and goes on listening: a connection that is cut while it closes would end the process
    }
  }

  async #open(): Promise<PostgresPool> {
    const { pool } = this.#options;
    const opened =
      "connect" in pool ? pool : await createPool(pool.url, pool.connections, this.#options.preparedStatements);
    opened.on("error", this.#options.onPoolError); // without a listener a database restart would end the process
    opened.on("acquire", this.#guard);
    return opened;
  }

  /**
   * A pool hands over a client at once, but whoever waits for it gets to listen to it only a little later. A connection that is
   * lost between the two would end the process; with somebody listening, the next statement on it fails.
   */
  readonly #guard = (client: PostgresClient): void => {
    if (this.#guarded.has(client)) return;
    this.#guarded.add(client);
    client.on("error", () => {});
  };
}

async function createPool(connectionString: string, max: number, preparedStatements: boolean): Promise<PostgresPool> {
  const { default: pg } = await import("pg").catch((error: unknown) => {
    if ((error as { code?: string }).code !== DRIVER_MISSING) throw error;
    throw new PerdureError("postgres.driver_missing", "PostgreSQL needs the package pg: npm install pg", {
      cause: error,
    });
  });
  return new pg.Pool({
    connectionString,
    max,
    allowExitOnIdle: true,
    keepAlive: true,
    connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_MS,
    application_name: "perdure",
    // Our statements have one good plan each: planning them anew for every batch costs more than running them.
    onConnect: async (client) => {
      if (preparedStatements) await client.query(GENERIC_PLANS);
    },
  });
}
