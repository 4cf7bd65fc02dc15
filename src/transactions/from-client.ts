import { InvalidInputError } from "../errors.ts";
import type { AsyncTransaction } from "../store/foreign-transaction.ts";
import type { SqlRow, SqlValue } from "../store/sql-value.ts";

/** Any client with an open transaction. */
export interface PostgresClient {
  readonly dialect: "postgres";
  /**
   * Whether a transaction is open for a statement that is sent now, if the client knows for certain; that saves a statement.
   */
  isOpen?(): boolean | null;
  /**
   * The statement has placeholders like `$1`. Its parameters are texts or null, and it gives one row with one column, a text.
   */
  execute(text: string, parameters: (string | null)[]): Promise<readonly object[]>;
}

/**
 * The transaction that is open on any other client of PostgreSQL.
 *
 * @example
 * const transaction = fromClient({
 *   dialect: "postgres",
 *   execute: async (text, parameters) => (await client.query(text, parameters)).rows,
 * });
 * await app.within(transaction).triggerHook("sendMail", order);
 */
export function fromClient(client: PostgresClient): AsyncTransaction {
  if (client?.dialect !== "postgres" || typeof client.execute !== "function") {
    throw new InvalidInputError(
      "transaction.invalid",
      'fromClient takes { dialect: "postgres", execute }, where execute runs a statement and resolves to its rows.',
    );
  }
  return {
    mode: "async",
    dialect: "postgres",
    ...(client.isOpen === undefined ? {} : { isOpen: () => client.isOpen?.() ?? null }),
    execute: async (text, parameters) => rowsOf(await client.execute(text, textsOf(parameters))),
  };
}

/** There is one column, whatever the library makes of its name: many applications have names converted. */
function rowsOf(rows: unknown): SqlRow[] {
  if (Array.isArray(rows)) return rows.map((row: object) => ({ result: Object.values(row)[0] ?? null }));
  throw new InvalidInputError(
    "transaction.invalid",
    "The execute function of a client must resolve to an array of rows.",
  );
}

/** Every parameter of a statement for PostgreSQL is a text or null. */
function textsOf(parameters: readonly SqlValue[]): (string | null)[] {
  return parameters as (string | null)[];
}

/** The transaction is refused because it isn't one. */
export function invalidTransaction(message: string): InvalidInputError {
  return new InvalidInputError("transaction.invalid", message);
}

/** The library itself refuses a transaction that has ended. */
export function transactionEnded(cause: unknown): InvalidInputError {
  return new InvalidInputError(
    "transaction.not_open",
    "The library has ended this transaction, so nothing was written. Await this call before the transaction's function returns.",
    { cause },
  );
}

const ENDED =
  /^(Transaction is already (committed|rolled back)|Transaction query already complete|Query runner already released)/;

/** Kysely, on which MikroORM builds, Knex and TypeORM say it in the message of an error. */
export async function refusingEnded<Result>(result: Promise<Result>): Promise<Result> {
  return result.catch((error: unknown) => {
    throw ENDED.test((error as Error)?.message) ? transactionEnded(error) : error;
  });
}
