import type { Dialect } from "./dialect.ts";
import type { SqlRow, SqlValue } from "./sql-value.ts";

/** A transaction that the application began and will end, on a connection of its own. */
export type ForeignTransaction = SyncTransaction | AsyncTransaction;

export interface SyncTransaction {
  readonly mode: "sync";
  readonly dialect: Dialect;
  /** Whether a transaction is open on the connection. */
  isOpen(): boolean;
  execute(text: string, parameters: readonly SqlValue[]): SqlRow[];
}

export interface AsyncTransaction {
  readonly mode: "async";
  readonly dialect: Dialect;
  /** Whether a transaction is open on the connection. */
  isOpen(): Promise<boolean>;
  execute(text: string, parameters: readonly SqlValue[]): Promise<SqlRow[]>;
}

/** The statement that writes one trigger in such a transaction. */
export interface ForeignInsert {
  readonly text: string;
  readonly parameters: readonly SqlValue[];
}
