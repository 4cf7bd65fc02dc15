import { PerdureError } from "../../errors.ts";
import { type Accompany, accompanyQueries, type Companion } from "./accompanied-query.ts";
import type { PostgresClient, PostgresPool, PostgresQuery, PostgresQueryable, PostgresResult } from "./driver.ts";
import { isDeadlock, MOST_DEADLOCKS, toStoreError } from "./errors.ts";
import { ANSWER_TIMEOUT_MS, type Limits, SLOW_ANSWER_TIMEOUT_MS, setLimits } from "./limits.ts";
import type { Statement } from "./sql/statement.ts";
import { inTransaction } from "./transaction.ts";

const DRIVER_MISSING = "ERR_MODULE_NOT_FOUND";
/** A little less than we wait for an answer: what we have given up must not happen later. */
const LIMITS: Limits = { lock: ANSWER_TIMEOUT_MS - 2000, statement: ANSWER_TIMEOUT_MS - 1000, idle: 5000 };
const SLOW_LIMITS: Limits = { ...LIMITS, statement: SLOW_ANSWER_TIMEOUT_MS - 1000 };
const LIMITING: Companion = { name: "limits", text: setLimits(LIMITS), values: [] };
const SLOW_LIMITING: Companion = { name: "slow_limits", text: setLimits(SLOW_LIMITS), values: [] };

/** Longer than an idle worker waits between two looks, so that it needn't connect anew for each. */
const IDLE_MS = 60_000;
/** The pool's own time limit is over when it is connected. Who asked for a connection would wait for this one for ever. */
const GENERIC_PLANS = { text: "set plan_cache_mode = force_generic_plan", query_timeout: ANSWER_TIMEOUT_MS };

export interface ConnectionOptions {
  readonly pool: PostgresPool | { readonly url: string; readonly connections: number };
  /** Off for connection poolers that share server connections between clients without keeping prepared statements. */
  readonly preparedStatements: boolean;
  /** Distinguishes our statements' names from those of another schema in the same pool. */
  readonly statementPrefix: string;
  readonly onPoolError: (error: Error) => void;
}

type Callback = (error: unknown, result: PostgresResult) => void;

/** The pool, made at the first use, and errors as ours. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #guarded = new WeakSet<PostgresClient>();
  /** The clients of transactions that are under way. */
  readonly #inTransaction = new WeakSet<PostgresQueryable>();
  #accompany: Accompany | undefined;
  #pool: Promise<PostgresPool> | undefined;
  #closed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /**
   * What isn't part of a transaction has limits of its own. `carried` happens with it, if it is committed, and costs no request of
   * its own; drivers that can't do that leave it out.
   */
  async run(
    statement: Statement,
    values: unknown[],
    on?: PostgresQueryable,
    carried?: Companion | null,
  ): Promise<PostgresResult> {
    const query_timeout = statement.slow ? SLOW_ANSWER_TIMEOUT_MS : ANSWER_TIMEOUT_MS;
    const query = { ...this.#nameOf({ planOnce: false, ...statement }), text: statement.text, values, query_timeout };
    const companions =
      on !== undefined && this.#inTransaction.has(on) ? [] : [statement.slow ? SLOW_LIMITING : LIMITING];
    if (carried) companions.push(carried);
    await this.pool(); // which says whether statements can be accompanied
    if (companions.length === 0 || this.#accompany === undefined) return this.query(query, on);
    const named = companions.map(({ name, ...companion }) => ({ ...companion, ...this.#nameOf({ name }) }));
    const accompany = this.#accompany;
    const result = await this.#repeat(on, (queryable) => submit(queryable, accompany(query, named)));
    carried?.onDone?.();
    return result;
  }

  /**
   * The same in one message, values included: PostgreSQL gets all of it or nothing. So it never holds locks while it waits for the
   * rest of what we say, whatever becomes of us or the network. For statements that lock what all processes need.
   */
  async runWhole(statement: Statement, values: readonly unknown[]): Promise<PostgresResult> {
    const text = `${setLimits(LIMITS)};${withLiterals(statement.text, values)}`;
    const result = await this.query({ text, query_timeout: ANSWER_TIMEOUT_MS });
    return Array.isArray(result) ? (result.at(-1) as PostgresResult) : result;
  }

  query(query: PostgresQuery, on?: PostgresQueryable): Promise<PostgresResult> {
    return this.#repeat(on, (queryable) => queryable.query(query));
  }

  /** A transaction on a connection of its own, which PostgreSQL ends if we fall silent. See `inTransaction`. */
  async transaction<Result>(
    body: (client: PostgresClient) => Promise<Result>,
    limits: Limits = LIMITS,
  ): Promise<Result> {
    const client = await this.checkOut();
    return inTransaction(client, limits, async () => {
      this.#inTransaction.add(client);
      try {
        return await body(client);
      } finally {
        this.#inTransaction.delete(client);
      }
    });
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
    this.#accompany = accompanyQueries(opened);
    return opened;
  }

  #nameOf({ name, planOnce = true }: { readonly name?: string | undefined; readonly planOnce?: boolean }): {
    name?: string;
  } {
    const { preparedStatements, statementPrefix } = this.#options;
    return preparedStatements && planOnce && name !== undefined ? { name: statementPrefix + name } : {};
  }

  /** A statement of its own is sent again if it was chosen to end a deadlock; of a transaction's, `on` its client, more is undone. */
  async #repeat(
    on: PostgresQueryable | undefined,
    send: (queryable: PostgresQueryable) => Promise<PostgresResult>,
  ): Promise<PostgresResult> {
    for (let deadlocks = 0; ; deadlocks++) {
      try {
        return await send(on ?? (await this.pool()));
      } catch (error) {
        if (on === undefined && isDeadlock(error) && deadlocks < MOST_DEADLOCKS) continue;
        throw toStoreError(error);
      }
    }
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

/** Puts values in the place of parameters. Arrays are given as texts. */
function withLiterals(text: string, values: readonly unknown[]): string {
  return text.replace(/\$(\d+)/g, (_, number: string) => toLiteral(values[Number(number) - 1]));
}

/** With or without backslashes, this means the same whatever `standard_conforming_strings` is. */
function toLiteral(value: unknown): string {
  if (value === null || typeof value === "number") return String(value);
  return ` E'${String(value).replace(/[\\']/g, "$&$&")}'`;
}

/** A client gives no promise for a query of its own class, unlike a pool. */
function submit(queryable: PostgresQueryable, query: PostgresQuery): Promise<PostgresResult> {
  const ask = queryable.query.bind(queryable) as (query: PostgresQuery, values: undefined, callback: Callback) => void;
  return new Promise((resolve, reject) => {
    ask(query, undefined, (error, result) => (error ? reject(error) : resolve(result)));
  });
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
