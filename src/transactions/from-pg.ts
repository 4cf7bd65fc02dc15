import { InvalidInputError } from "../errors.ts";
import type { AsyncTransaction } from "../store/foreign-transaction.ts";
import type { SqlRow } from "../store/sql-value.ts";

/** A client of `pg`, checked out of a pool or connected by itself. */
interface PgClient {
  query(text: string, parameters?: unknown[]): Promise<{ rows: SqlRow[] }>;
  /** Of newer versions: `I` outside a transaction, as of the last statement that was answered. */
  getTransactionStatus?(): string | null;
  /** Whether every statement was answered. */
  readonly readyForQuery?: boolean;
  /** Emits `readyForQuery` after each statement. */
  readonly connection?: unknown;
}

/** The connection of a client, which hears from the server whether a transaction is open. */
interface PgConnection {
  on(event: "readyForQuery", listener: (message: { readonly status: string }) => void): unknown;
}

/**
 * The transaction that is open on a client of `pg`.
 *
 * @example
 * await client.query("begin");
 * await client.query("insert into orders (id) values ($1)", [order.id]);
 * await app.within(fromPg(client)).triggerHook("sendMail", order);
 * await client.query("commit");
 */
export function fromPg(client: PgClient): AsyncTransaction {
  if (typeof client?.query !== "function" || "totalCount" in client) {
    throw new InvalidInputError(
      "transaction.invalid",
      "fromPg takes a client with an open transaction, not a pool: a pool runs each query on any connection.",
    );
  }
  return {
    mode: "async",
    dialect: "postgres",
    isOpen: () => {
      const status = client.readyForQuery === true ? (client.getTransactionStatus?.() ?? null) : null;
      return status === null ? null : status !== "I"; // a statement that isn't answered may be the end of the transaction
    },
    onEnd: (listener) => onPgEnd(client, listener),
    execute: async (text, parameters) => (await client.query(text, [...parameters])).rows,
  };
}

/** Who listens for the ends of transactions on a connection: many calls can wait at the same time. */
const listeners = new WeakMap<Partial<PgConnection>, Set<() => void>>();

/** Tells whenever a statement leaves no transaction open. */
export function onPgEnd(client: { readonly connection?: unknown } | undefined, listener: () => void): () => void {
  const connection = client?.connection as Partial<PgConnection> | undefined;
  if (typeof connection?.on !== "function") return () => {};
  const known = listeners.get(connection) ?? new Set();
  if (!listeners.has(connection)) {
    listeners.set(connection, known);
    connection.on("readyForQuery", ({ status }) => {
      if (status === "I") for (const tell of known) tell();
    });
  }
  known.add(listener);
  return () => known.delete(listener);
}
