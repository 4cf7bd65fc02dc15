import type { SqliteDriver } from "./driver.ts";

/** How statements reach the one connection, on which one thing happens at a time. */
export interface SqliteAccess {
  readonly driver: SqliteDriver;
  readonly now: () => number;
  /** Runs synchronous reads between other people's transactions. */
  readonly read: <Result>(body: () => Result) => Promise<Result>;
  /** The same, with other processes' writes kept out of sight from the first read to the last. */
  readonly readSnapshot: <Result>(body: () => Result) => Promise<Result>;
  /** Runs synchronous work in a transaction of its own. */
  readonly write: <Result>(body: () => Result) => Promise<Result>;
}
