import type { PostgresPool, PostgresQuery } from "./driver.ts";

/** A query object of the driver, which sends its own protocol messages. */
interface DriverQuery {
  name?: string | undefined;
  text: string;
  query_timeout?: number | undefined;
  submit(connection: DriverConnection): Error | null;
  handleCommandComplete(message: unknown, connection: DriverConnection): void;
  handleError(error: unknown, connection: DriverConnection): void;
}

interface DriverConnection {
  readonly stream: { cork?(): void; uncork?(): void; destroy(): void };
  /** By name: the statements that the server has parsed. The driver adds a query's name and text when it is told so. */
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements?: Record<string, unknown>;
  parse(statement: { name?: string | undefined; text: string }): void;
  bind(portal: { statement?: string | undefined; values: readonly string[] }): void;
  execute(portal: { rows: number }): void;
}

type QueryClass = new (query: PostgresQuery) => DriverQuery;

/**
 * A statement that is sent before another, in the same transaction. It returns no rows. Without a name it is parsed each time.
 */
export interface Companion {
  readonly name?: string;
  readonly text: string;
  readonly values: readonly string[];
  /** Called when both have succeeded. */
  readonly onDone?: () => void;
}

export type Accompany = (query: PostgresQuery, companions: readonly Companion[]) => PostgresQuery;

/**
 * Sends statements together. A statement that is its own transaction can't get its time limits from an earlier one, because a
 * pooler may send each to another server connection. Statements without a `Sync` between them are one transaction to
 * PostgreSQL, and one round trip. Undefined for drivers other than `pg` in JavaScript: there statements are sent without
 * companions.
 */
export function accompanyQueries(pool: PostgresPool): Accompany | undefined {
  const Query = (pool as { Client?: { Query?: QueryClass } }).Client?.Query;
  const { hasBeenParsed, submit } = (Query?.prototype ?? {}) as Record<string, unknown>;
  if (Query === undefined || typeof hasBeenParsed !== "function" || typeof submit !== "function") return undefined;

  class AccompaniedQuery extends Query {
    readonly #companions: readonly Companion[];
    readonly #statement: { readonly name: string | undefined; readonly text: string };
    #done = 0;

    constructor(query: PostgresQuery, companions: readonly Companion[]) {
      super(query);
      this.query_timeout = query.query_timeout;
      this.#companions = companions;
      this.#statement = { name: this.name, text: this.text };
    }

    override submit(connection: DriverConnection): Error | null {
      connection.stream.cork?.();
      try {
        for (const { name, text, values } of this.#companions) {
          if (name === undefined || connection.parsedStatements[name] === undefined) connection.parse({ name, text });
          connection.bind({ statement: name, values });
          connection.execute({ rows: 0 });
        }
        const problem = super.submit(connection);
        if (problem !== null) connection.stream.destroy(); // the companions alone would be half a request
        this.#showCurrent();
        return problem;
      } finally {
        connection.stream.uncork?.();
      }
    }

    override handleCommandComplete(message: unknown, connection: DriverConnection): void {
      if (this.#done === this.#companions.length) return super.handleCommandComplete(message, connection);
      this.#done++;
      this.#showCurrent();
    }

    override handleError(error: unknown, connection: DriverConnection): void {
      if (this.#done < this.#companions.length) {
        const { name } = this.#statement;
        if (name !== undefined) delete connection.submittedNamedStatements?.[name]; // the server skipped it
        this.#done = this.#companions.length;
        this.#showCurrent();
      }
      super.handleError(error, connection);
    }

    /** The driver takes what the server has parsed for the statement of this query: so that is the one which is under way. */
    #showCurrent(): void {
      const { name, text } = this.#companions[this.#done] ?? this.#statement;
      this.name = name;
      this.text = text;
    }
  }

  return (query, companions) => new AccompaniedQuery(query, companions) as unknown as PostgresQuery;
}
