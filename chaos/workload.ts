import type { SeededRandomness } from "../simulation/random.ts";
import type { Application, HookDefinitions, SubjectsDefinition, Workflows } from "../src/index.ts";
import type { Store } from "../src/store/store.ts";
import type { Entry } from "./ledger.ts";
import type { OwnTransactions } from "./own-transactions.ts";
import type { Points } from "./points.ts";

/** Writes into the ledger of the process, under the workload's name. */
export type Write = (did: string, item: string, details?: Readonly<Record<string, unknown>>) => void;

export type ChaosApplication = Application<HookDefinitions, Workflows>;

/** A process that runs due work. */
export interface WorkingProcess {
  readonly random: SeededRandomness;
  readonly points: Points;
  readonly write: Write;
  /** For files that processes share. It is removed after the run. */
  readonly directory: string;
  /** There once handlers run. */
  app(): ChaosApplication;
}

/** A process that creates work. */
export interface ProducingProcess {
  readonly name: string;
  readonly random: SeededRandomness;
  readonly app: ChaosApplication;
  readonly ownTransactions: OwnTransactions;
  readonly write: Write;
  stopping(): boolean;
}

/**
 * A kind of work that must survive everything, and a way to check that it has. The harness starts and ends processes for it;
 * what they did is in the ledgers, the only source that `accounts` may trust beside the database.
 */
export interface Workload {
  readonly name: string;
  /** SQL that creates the application's own tables, for either engine. */
  readonly tables: readonly string[];
  /** The hooks of every process. Handlers record what they do in the ledger. */
  hooks(process: WorkingProcess): HookDefinitions;
  /** The workflows of every process. The bodies of their steps record what they do in the ledger. */
  workflows?(process: WorkingProcess): Workflows;
  /** The subjects that every process handles, by dispatcher id. */
  subjects?(process: WorkingProcess): Record<string, SubjectsDefinition>;
  /** Records the traffic between a process and its database, if the accounts need it. */
  watch?(store: Store, write: Write): void;
  /** Creates work until the process is stopping. Records each request before it is sent, and its answer afterwards. */
  produce(process: ProducingProcess): Promise<void>;
  /**
   * Called when all producers have stopped and all faults are over: finishes the work of producers that were killed, so that
   * everything can end, and creates work that needs calm.
   */
  finish?(app: ChaosApplication, entries: readonly Entry[], write: Write): Promise<void>;
  /** How many items other than hooks haven't ended. */
  left?(app: ChaosApplication): Promise<number>;
  /** The contents of the database at the end. */
  collect(app: ChaosApplication): Promise<unknown>;
  /** Compares what was requested with what has happened. `collected` is the result of `collect`. */
  accounts(entries: readonly Entry[], collected: unknown): Account;
}

export interface Account {
  /** The outcomes of each kind of work, counted; all with the same columns. */
  readonly table: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly problems: readonly Problem[];
}

/** A promise that was broken. */
export interface Problem {
  readonly promise: string;
  readonly details: string;
  /** The items whose history shows it. */
  readonly items: readonly string[];
}
