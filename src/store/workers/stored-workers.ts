import type { Clock } from "../../clock.ts";
import type { WorkerInsert, WorkerRecord } from "./worker-records.ts";
import type { WorkerStatements } from "./worker-statements.ts";

/** The most workers that are listed. */
const MOST_LISTED = 1000;
/** A worker is dead after this many times the longest pause between two heartbeats. */
const MISSED_BEATS = 2.25;

export interface ListedWorker extends WorkerRecord {
  readonly alive: boolean;
}

/** The workers of one database. */
export class StoredWorkers {
  readonly statements: WorkerStatements;
  /** Whether the process of a worker is known to have ended. Set by an edge that can tell. */
  isGone: (id: string) => boolean = () => false;
  readonly #clock: Clock;
  readonly #unstored = new Map<string, WorkerRecord>();

  constructor(statements: WorkerStatements, clock: Clock) {
    this.statements = statements;
    this.#clock = clock;
  }

  /** A worker of a database that only this process uses has no row: it lives for as long as the process answers. */
  addUnstored(worker: WorkerInsert): void {
    const now = this.#clock.now();
    this.#unstored.set(worker.id, { ...worker, startedAt: now, seenAt: now, silentMs: 0 });
  }

  /** The workers of a namespace, the one that was seen last first. */
  async list(namespace: string): Promise<ListedWorker[]> {
    const here = [...this.#unstored.values()].filter(({ work }) => Object.hasOwn(work, namespace));
    if (here.length > 0) return here.map((worker) => ({ ...worker, seenAt: this.#clock.now(), alive: true }));
    const records = await this.statements.list(namespace, MOST_LISTED);
    const patienceMs = this.statements.pace.longestMs * MISSED_BEATS;
    return records.map((record) => ({
      ...record,
      alive: record.silentMs <= patienceMs && !this.isGone(record.id),
    }));
  }
}
