import type { WorkerInsert, WorkerRecord } from "./worker-records.ts";

/** How often a worker writes that it lives. */
export interface BeatPace {
  /** The least time between two heartbeats that ride on another statement. */
  readonly shortestMs: number;
  /** After this time without one, a heartbeat is a statement of its own. */
  readonly longestMs: number;
}

/** The statements for workers: see `WorkerInsert`. */
export interface WorkerStatements {
  readonly pace: BeatPace;

  /** Writes that the worker lives, with all that is known about it if it is new. */
  beat(worker: WorkerInsert): Promise<void>;

  /** Deletes some workers that have been silent for long. Returns how many. */
  sweep(): Promise<number>;

  /** The worker has stopped. */
  remove(id: string): Promise<void>;

  /** The workers of a namespace, the one that was seen last first. */
  list(namespace: string, limit: number): Promise<WorkerRecord[]>;
}
