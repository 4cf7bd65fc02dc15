import type { Dialect } from "./dialect.ts";
import type {
  EventInsert,
  EventInsertResult,
  InstanceInsert,
  InstanceInsertResult,
} from "./instances/instance-records.ts";
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
  /**
   * Whether a transaction is open on the connection for a statement that is sent now, where the library can tell without a
   * statement; null if it can't. Then a statement asks which transaction is open, and the next ones must be part of the same.
   */
  isOpen?(): boolean | null;
  /** Tells of the end of every transaction on the connection, where the library does. Returns how to stop that. */
  onEnd?(listener: () => void): () => void;
  /** A call begins: what it must know of the transaction is asked before anything else is sent. @internal */
  enter?(): void;
  /** A statement was part of the transaction with this id: all later ones must be. @internal */
  confirm?(transactionId: string): void;
  /**
   * Runs a statement. On PostgreSQL it has placeholders like `$1` and parameters that are texts or null, and gives at most one
   * row, with the text `result`.
   */
  execute(text: string, parameters: readonly SqlValue[]): Promise<SqlRow[]>;
}

/** A statement for such a transaction. */
export interface ForeignStatement {
  readonly text: string;
  readonly parameters: readonly SqlValue[];
  /** Whether the row that it gives has a `result`, which is null outside a transaction and else says which one it is. */
  readonly confirmed?: true;
}

/** A promise where the transaction is asynchronous, or where a codec is. */
export type Awaitable<Value> = Value | Promise<Value>;

/** Instances and events in such a transaction. */
export interface ForeignInstances {
  /** An instance whose id exists is left alone. The results are in the order of the instances. */
  insert(instances: readonly InstanceInsert[]): Awaitable<InstanceInsertResult[]>;
  /** On PostgreSQL the event is delivered after the commit, so its outcome isn't known yet: it is `relayed`. */
  sendEvent(event: EventInsert): Awaitable<EventInsertResult | { readonly result: "relayed" }>;
}
