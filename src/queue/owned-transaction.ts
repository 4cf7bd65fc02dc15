import type { SqlRow, SqlValue } from "../store/sql-value.ts";

/**
 * A transaction that is committed together with what its owner has to write: the result of a step, or the end of a hook.
 * `Client` is the type of your driver's client: name it where you use `client`.
 *
 * @example
 * step.transaction("book", async (tx: OwnedTransaction<PoolClient>) => drizzle(tx.client).insert(bookings).values(booking));
 */
export interface OwnedTransaction<Client = unknown> {
  /**
   * Runs SQL; each value becomes a parameter of the engine.
   *
   * @example
   * const [account] = await tx.sql`select * from accounts where id = ${id}`;
   */
  sql<Row extends SqlRow = SqlRow>(parts: TemplateStringsArray, ...values: unknown[]): Promise<Row[]>;
  /** Runs native SQL with the engine's own placeholders, untouched. */
  query<Row extends SqlRow = SqlRow>(text: string, parameters?: readonly SqlValue[]): Promise<Row[]>;
  /**
   * The connection itself: a client of `pg`, a database of `node:sqlite` or `better-sqlite3`, or the storage of a Durable
   * Object. Give it to your own library. It refuses to begin and end transactions, and everything once this one is over.
   */
  readonly client: Client;
}
