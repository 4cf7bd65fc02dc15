import type { Clock } from "../../../clock.ts";
import { PerdureError } from "../../../errors.ts";
import type { Isolation } from "../../engine.ts";
import { isDeadlock, MOST_DEADLOCKS, toStoreError } from "../errors.ts";
import type { SchemaPrefix, Statement } from "../sql/statement.ts";
import { tellNotedLines } from "../sql/tell-lines.ts";
import { type Accompany, accompanyQueries, type Companion } from "./accompanied-query.ts";
import type { PostgresClient, PostgresPool, PostgresQuery, PostgresQueryable, PostgresResult } from "./driver.ts";
import { ANSWER_TIMEOUT_MS, type Limits, SLOW_ANSWER_TIMEOUT_MS, setLimits } from "./limits.ts";
import { inTransaction, lastOf } from "./transaction.ts";

const DRIVER_MISSING = "ERR_MODULE_NOT_FOUND";
/** A little less than the client waits for an answer: a statement that it has given up must not run later. */
const LIMITS: Limits = { lock: ANSWER_TIMEOUT_MS - 2000, statement: ANSWER_TIMEOUT_MS - 1000, idle: 5000 };
const SLOW_LIMITS: Limits = { ...LIMITS, statement: SLOW_ANSWER_TIMEOUT_MS - 1000 };
const LIMITING: Companion = { name: "limits", text: setLimits(LIMITS), values: [] };
const SLOW_LIMITING: Companion = { name: "slow_limits", text: setLimits(SLOW_LIMITS), values: [] };

/** Longer than an idle worker waits between two polls, so that it needn't reconnect for each. */
const IDLE_MS = 60_000;
/**
 * It has its own time limit, because the pool's ends with the connect, and the caller that asked for the connection waits for
 * it.
 */
const GENERIC_PLANS = { text: "set plan_cache_mode = force_generic_plan", query_timeout: ANSWER_TIMEOUT_MS };

export interface ConnectionOptions {
  readonly pool: PostgresPool | { readonly url: string; readonly connections: number };
  /** Off for connection poolers that share server connections between clients without keeping prepared statements. */
  readonly preparedStatements: boolean;
  /** Distinguishes the statements' names from those of another schema in the same pool. */
  readonly statementPrefix: string;
  readonly schema: SchemaPrefix;
  readonly clock: Clock;
  readonly onPoolError: (error: Error) => void;
}

interface OpenTransaction {
  /** Whether lines were noted that must be told at the commit. */
  notedLines: boolean;
}

type Callback = (error: unknown, result: PostgresResult) => void;

/** The pool, opened at its first use. Turns the driver's errors into Perdure's. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #guarded = new WeakSet<PostgresClient>();
  /** Those that are under way, by their clients. */
  readonly #transactions = new WeakMap<PostgresQueryable, OpenTransaction>();
  #accompany: Accompany | undefined;
  #pool: Promise<PostgresPool> | undefined;
  #closed = false;
  /** How many callers wait for a connection of the pool, or for an answer on one. */
  #waiting = 0;
  #onQuiet: (() => void) | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /**
   * A statement outside a transaction gets time limits of its own. `carried` is committed with it and costs no further
   * request; drivers that can't do that leave it out.
   */
  async run(
    statement: Statement,
    values: unknown[],
    on?: PostgresQueryable,
    carried?: Companion | null,
  ): Promise<PostgresResult> {
    const query_timeout = statement.slow ? SLOW_ANSWER_TIMEOUT_MS : ANSWER_TIMEOUT_MS;
    const query = { ...this.#nameOf({ planOnce: false, ...statement }), text: statement.text, values, query_timeout };
    const transaction = on && this.#transactions.get(on);
    const ours = transaction !== undefined;
    if (statement.tellsLater) (transaction as OpenTransaction).notedLines = true;
    const companions = ours ? [] : [statement.slow ? SLOW_LIMITING : LIMITING];
    if (carried) companions.push(carried);
    await (ours ? this.#pool : this.pool()); // sets #accompany; a transaction under way ends though the pool is closing
    if (companions.length === 0 || this.#accompany === undefined) return this.query(query, on);
    const named = companions.map(({ name, ...companion }) => ({ ...companion, ...this.#nameOf({ name }) }));
    const accompany = this.#accompany;
    const result = await this.#repeat(on, (queryable) => submit(queryable, accompany(query, named)));
    carried?.onDone?.();
    return result;
  }

  /**
   * The same in one message with the values, so that PostgreSQL receives all of it or nothing: it never holds locks while it
   * waits for the rest, even if the process or the network fails. For statements that lock rows which all processes need.
   */
  async runWhole(statement: Statement, values: readonly unknown[]): Promise<PostgresResult> {
    const text = `${setLimits(LIMITS)};${withLiterals(statement.text, values)}`;
    return lastOf(await this.query({ text, query_timeout: ANSWER_TIMEOUT_MS }));
  }

  query(query: PostgresQuery, on?: PostgresQueryable): Promise<PostgresResult> {
    return this.#repeat(on, (queryable) => queryable.query(query));
  }

  /** A transaction on a connection of its own. PostgreSQL ends it if the client falls silent. See `inTransaction`. */
  async transaction<Result>(
    body: (client: PostgresClient) => Promise<Result>,
    limits: Limits = LIMITS,
    isolation?: Isolation,
  ): Promise<Result> {
    const client = await this.checkOut();
    const transaction: OpenTransaction = { notedLines: false };
    const run = async () => {
      this.#transactions.set(client, transaction);
      try {
        return await body(client);
      } finally {
        this.#transactions.delete(client);
      }
    };
    const beforeCommit = () => (transaction.notedLines ? this.#tellLines() : "");
    return inTransaction(client, limits, run, { isolation, beforeCommit });
  }

  async checkOut(): Promise<PostgresClient> {
    this.#waiting++;
    try {
      const pool = await this.pool();
      return await pool.connect();
    } catch (error) {
      throw toStoreError(error);
    } finally {
      this.#leave();
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
      await this.#quiet();
      await pool?.end(); // the listener stays: an error of a connection that is cut while it closes would end the process
    }
  }

  /** A pool that ends gives no connection to callers that wait for one: they would wait until their time is over. */
  async #quiet(): Promise<void> {
    if (this.#waiting === 0) return;
    await new Promise<void>((resolve) => {
      this.#onQuiet = resolve;
    });
  }

  #leave(): void {
    this.#waiting--;
    if (this.#waiting === 0) this.#onQuiet?.();
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

  /** In front of the commit, in one message with it: PostgreSQL never waits for this client while it holds a line. */
  #tellLines(): string {
    const { schema, clock } = this.#options;
    return `${withLiterals(tellNotedLines(schema).text, [clock.controlled ? clock.now() : null])};`;
  }

  #nameOf({ name, planOnce = true }: { readonly name?: string | undefined; readonly planOnce?: boolean }): {
    name?: string;
  } {
    const { preparedStatements, statementPrefix } = this.#options;
    return preparedStatements && planOnce && name !== undefined ? { name: statementPrefix + name } : {};
  }

  /**
   * Sends a single statement again after a deadlock. In a transaction (`on` is its client) the whole transaction was undone.
   */
  async #repeat(
    on: PostgresQueryable | undefined,
    send: (queryable: PostgresQueryable) => Promise<PostgresResult>,
  ): Promise<PostgresResult> {
    this.#waiting++;
    try {
      for (let deadlocks = 0; ; deadlocks++) {
        try {
          return await send(on ?? (await this.pool()));
        } catch (error) {
          if (on === undefined && isDeadlock(error) && deadlocks < MOST_DEADLOCKS) continue;
          throw toStoreError(error);
        }
      }
    } finally {
      this.#leave();
    }
  }

  /**
   * The pool hands over a client at once, but the code that awaits it can add a listener only a little later. If the connection
   * is lost in between, an error without a listener would end the process. With this listener, the next statement fails
   * instead.
   */
  readonly #guard = (client: PostgresClient): void => {
    if (this.#guarded.has(client)) return;
    this.#guarded.add(client);
    client.on("error", () => {});
  };
}

/** Replaces parameters by literals. Arrays must be given as array literals. */
function withLiterals(text: string, values: readonly unknown[]): string {
  return text.replace(/\$(\d+)/g, (_, number: string) => toLiteral(values[Number(number) - 1]));
}

/** An escape string, which means the same whatever `standard_conforming_strings` is. */
function toLiteral(value: unknown): string {
  if (value === null || typeof value === "number") return String(value);
  return ` E'${String(value).replace(/[\\']/g, "$&$&")}'`;
}

/** A client, unlike a pool, returns no promise for a query object of the driver's class. */
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
    // Each statement has one good plan, and planning it again for every batch costs more than running it.
    onConnect: async (client) => {
      if (preparedStatements) await client.query(GENERIC_PLANS);
    },
  });
}
