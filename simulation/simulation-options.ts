import type { SqliteDriver } from "../src/store/sqlite/driver.ts";
import type { Fault } from "./faults.ts";
import type { Profile } from "./profile.ts";

/** Puts something between the engine and SQLite, such as a statement that was broken on purpose. */
export type WrapDriver = (driver: SqliteDriver) => SqliteDriver;

export interface SimulationOptions {
  /** Instead of what the seed says. */
  readonly profile?: Partial<Profile>;
  /** Goes wrong for certain: the call of this number, counted from 1 over all processes. */
  readonly faultAt?: { readonly call: number; readonly fault: Fault };

  // What is broken on purpose, to see whether the simulation notices.

  readonly wrapDriver?: WrapDriver;
  /** A process that stood still doesn't know for how long: its monotonic clock stood still too. */
  readonly stoppedClocks?: boolean;
  /** Every process takes all others for dead. */
  readonly rashProcesses?: boolean;
}
