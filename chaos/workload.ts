import type { SeededRandomness } from "../simulation/random.ts";
import type { Application, HookDefinitions, SubjectsDefinition, Workflows } from "../src/index.ts";
import type { Store } from "../src/store/store.ts";
import type { Entry } from "./ledger.ts";
import type { OwnTransactions } from "./own-transactions.ts";
import type { Points } from "./points.ts";

/** Writes into the ledger of the process, under the workload's name. */
export type Write = (did: string, item: string, details?: Readonly<Record<string, unknown>>) => void;

export type ChaosApplication = Application<HookDefinitions, Workflows>;

/** A process that runs what is due. */
export interface WorkingProcess {
  readonly random: SeededRandomness;
  readonly points: Points;
  readonly write: Write;
  /** For files that processes show each other. It is gone after the run. */
  readonly directory: string;
  /** There once handlers run. */
  app(): ChaosApplication;
}

/** A process that asks for work. */
export interface ProducingProcess {
  readonly name: string;
  readonly random: SeededRandomness;
  readonly app: ChaosApplication;
  readonly ownTransactions: OwnTransactions;
  readonly write: Write;
  stopping(): boolean;
}

/**
 * A kind of work that must survive everything, and how to tell that it has. The harness gives it processes and takes them away;
 * what they did is in the ledgers, which are all that `accounts` may believe beside the database.
 */
export interface Workload {
  readonly name: string;
  /** SQL that creates the application's own tables, for either engine. */
  readonly tables: readonly string[];
  /** The hooks of every process. Handlers write what they do into the ledger. */
  hooks(process: WorkingProcess): HookDefinitions;
  /** The workflows of every process. The bodies of their steps write what they do into the ledger. */
  workflows?(process: WorkingProcess): Workflows;
  /** The subjects that every process handles, by dispatcher id. */
  subjects?(process: WorkingProcess): Record<string, SubjectsDefinition>;
  /** Writes down what passes between a process and its database, where that is needed to judge what came of it. */
  watch?(store: Store, write: Write): void;
  /** Asks for work until the process is stopping, and writes down what it asked for before, and the answer after. */
  produce(process: ProducingProcess): Promise<void>;
  /**
   * When no producer asks for more and all faults are over: finishes the work of producers that were killed, so that everything
   * can come to its end, and asks for what needs calm.
   */
  finish?(app: ChaosApplication, entries: readonly Entry[], write: Write): Promise<void>;
  /** How much hasn't come to its end, besides hooks. */
  left?(app: ChaosApplication): Promise<number>;
  /** What the database holds in the end. */
  collect(app: ChaosApplication): Promise<unknown>;
  /** Compares what was asked for with what has happened. `collected` is what `collect` gave. */
  accounts(entries: readonly Entry[], collected: unknown): Account;
}

export interface Account {
  /** For each kind of work how many pieces of it came to what; all with the same columns. */
  readonly table: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly problems: readonly Problem[];
}

/** A promise that was broken. */
export interface Problem {
  readonly promise: string;
  readonly details: string;
  /** The items whose story shows it. */
  readonly items: readonly string[];
}
