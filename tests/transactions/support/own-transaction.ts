import type { AsyncTransaction } from "../../../src/index.ts";

export type Isolation = "read committed" | "repeatable read" | "serializable";

/** A transaction of a library, as an application has it. */
export interface OwnTransaction {
  readonly transaction: AsyncTransaction;
  /** A statement of the application's. */
  query(text: string): Promise<unknown>;
  savepoint(body: (inner: OwnTransaction) => Promise<unknown>): Promise<unknown>;
}

export interface OpenLibrary {
  /** Commits when the body resolves, rolls back when it rejects. */
  transact(body: (own: OwnTransaction) => Promise<unknown>, isolation?: Isolation): Promise<unknown>;
  /** The library's client itself, wrapped as if it were a transaction. */
  wrapClient(): AsyncTransaction;
  close(): Promise<unknown>;
}

export interface Library {
  readonly name: string;
  /** `connections`: how many it may open. Default: its own. */
  open(url: string, options?: { readonly connections?: number }): Promise<OpenLibrary>;
}

/** With savepoints in SQL, for libraries that have none of their own. */
export function withSavepoints(own: Omit<OwnTransaction, "savepoint">): OwnTransaction {
  const savepoint: OwnTransaction["savepoint"] = async (body) => {
    await own.query("savepoint own");
    try {
      return await body({ ...own, savepoint });
    } catch (error) {
      await own.query("rollback to savepoint own");
      throw error;
    }
  };
  return { ...own, savepoint };
}
