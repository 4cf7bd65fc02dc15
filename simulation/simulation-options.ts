import type { EngineTransaction } from "../src/store/engine.ts";
import type { HookStatements } from "../src/store/hooks/hook-statements.ts";
import type { InstanceStatements } from "../src/store/instances/instance-statements.ts";
import type { SqliteDriver } from "../src/store/sqlite/drivers/driver.ts";
import type { StreamStatements } from "../src/store/streams/stream-statements.ts";
import type { Fault } from "./machines/faults.ts";
import type { SimulatedProcess } from "./machines/simulated-process.ts";
import type { Profile } from "./profile.ts";

/** Puts something between the engine and SQLite, such as a statement that was broken on purpose. */
export type WrapDriver = (driver: SqliteDriver) => SqliteDriver;

export type Moment = "arrived" | "done" | "answered";

export interface SimulationOptions {
  /** Instead of what the seed says. */
  readonly profile?: Partial<Profile>;
  /** The call with this number, counted from 1 over all processes, certainly goes wrong. */
  readonly faultAt?: { readonly call: number; readonly fault: Fault };
  /** What a client process does, instead of random actions. Then the world comes to rest. */
  readonly scenario?: (client: SimulatedProcess) => Promise<void>;
  /** Called when a call of the database has arrived, when it is done, and when it was answered. */
  readonly interpose?: (call: string, moment: Moment, process: SimulatedProcess) => Promise<void> | void;

  // What is broken on purpose, to see whether the simulation notices.

  readonly wrapDriver?: WrapDriver;
  /** The answers that processes get about their hooks. */
  readonly wrapHooks?: (statements: HookStatements) => HookStatements;
  /** The answers that processes get about their instances. */
  readonly wrapInstances?: (statements: InstanceStatements) => InstanceStatements;
  /** What the database does with instances; `read` looks into its tables. */
  readonly wrapEngine?: (
    statements: InstanceStatements,
    read: (text: string) => Record<string, unknown>[],
  ) => InstanceStatements;
  /** What the database does in transactions; `read` looks into its tables. */
  readonly wrapTransaction?: (
    transaction: EngineTransaction,
    read: (text: string) => Record<string, unknown>[],
  ) => EngineTransaction;
  /** What the database does with streams. */
  readonly wrapStreams?: (statements: StreamStatements) => StreamStatements;
  /** A suspended process doesn't know for how long: its monotonic clock stood still, too. */
  readonly stoppedClocks?: boolean;
  /** Every process considers all others dead. */
  readonly rashProcesses?: boolean;
}
