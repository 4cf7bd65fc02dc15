import type { Contender } from "../harness/contender.ts";

/** A library that can run workflows whose steps are stored. */
export interface WorkflowContender extends Contender {
  /** How many samples are enough, if the contender is too slow for more. */
  readonly maximumSamples?: number;
  /** How many workflows at once are enough, for the same reason. */
  readonly maximumWorkflows?: number;
  /** Prepares a fresh database (a path for SQLite, a URL for PostgreSQL), and starts a worker in this process. */
  open(database: string): Promise<Session>;
}

/** A contender at work on a database of its own. */
export interface Session extends AsyncDisposable {
  /** Starts a workflow of this many steps, and resolves when it has its result. */
  runOne(steps: number): Promise<void>;
  /** Starts this many three-step workflows at once, and resolves when the database says that all of them are finished. */
  runMany(count: number): Promise<void>;
  /** The same with never more than `width` of them unfinished: one is started whenever one returns. */
  runInFlight?(count: number, width: number): Promise<void>;
}
