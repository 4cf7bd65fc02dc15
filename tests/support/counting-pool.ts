import { Pool, type PoolClient } from "pg";

/** What was sent to a database, and a way to refuse some of it before it gets there. */
export class StatementLog {
  readonly texts: string[] = [];
  /** The SQLSTATEs of statements that failed. */
  readonly failures: unknown[] = [];
  /** How many statements have no answer yet, and how many connections are on their way. */
  inFlight = 0;
  /** Statements that this finds are refused, as a server or a pooler would; as many as this says. */
  refused: RegExp | undefined;
  refusals: number = Number.POSITIVE_INFINITY;

  clear(): void {
    this.texts.length = 0;
  }

  /** Those whose text this finds. */
  matching(pattern: RegExp): string[] {
    return this.texts.filter((text) => pattern.test(text));
  }
}

type Query = (config: unknown, values?: unknown, callback?: (error: unknown, result?: unknown) => void) => unknown;

type Connect = (callback?: (...answer: unknown[]) => void) => Promise<unknown> | undefined;

/** A pool of `pg` whose clients write down each statement. */
export function createCountingPool(connectionString: string, log: StatementLog): Pool {
  const pool = new Pool({ connectionString });
  pool.on("connect", (client) => countStatements(client, log));
  const connect = pool.connect.bind(pool) as Connect;
  const counted: Connect = (callback) => {
    log.inFlight++;
    const connected = () => {
      log.inFlight--;
    };
    if (callback === undefined) return connect()?.finally(connected);
    return connect((...answer) => {
      connected();
      callback(...answer);
    });
  };
  pool.connect = counted as typeof pool.connect;
  return pool;
}

function countStatements(client: PoolClient, log: StatementLog): void {
  const query = client.query.bind(client) as unknown as Query;
  const counted: Query = (config, values, callback) => {
    const text = typeof config === "string" ? config : (config as { text: string }).text;
    log.texts.push(text);
    if (log.refused?.test(text) && log.refusals > 0) {
      log.refusals--;
      const error = Object.assign(new Error("not supported here"), { code: "0A000" });
      return callback === undefined ? Promise.reject(error) : void setImmediate(callback, error);
    }
    log.inFlight++;
    const answered = (error?: unknown) => {
      log.inFlight--;
      if (error) log.failures.push((error as { code?: unknown }).code);
    };
    if (callback === undefined) {
      const answer = query(config, values) as Promise<unknown>;
      answer.then(() => answered(), answered);
      return answer;
    }
    return query(config, values, (error, result) => {
      answered(error);
      callback(error, result);
    });
  };
  client.query = counted as typeof client.query;
}
