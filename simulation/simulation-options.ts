import type { SqliteDriver } from "../src/store/sqlite/driver.ts";

/** Puts something between the engine and SQLite, such as a statement that was broken on purpose. */
export type WrapDriver = (driver: SqliteDriver) => SqliteDriver;

/** What is broken on purpose, to see whether the simulation notices. */
export interface SimulationOptions {
  readonly wrapDriver?: WrapDriver;
  /** A process that stood still doesn't know for how long: its monotonic clock stood still too. */
  readonly stoppedClocks?: boolean;
  /** Every process takes all others for dead. */
  readonly rashProcesses?: boolean;
}
