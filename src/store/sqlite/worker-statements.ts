import { KEPT_MS, type WorkerInsert, type WorkerRecord } from "../workers/worker-records.ts";
import { toWorkerRecord } from "../workers/worker-rows.ts";
import type { BeatPace, WorkerStatements } from "../workers/worker-statements.ts";
import type { SqliteAccess } from "./drivers/driver.ts";
import { BEAT_WORKER, LIST_WORKERS, REMOVE_WORKER, SWEEP_WORKERS } from "./sql/workers.ts";

export class SqliteWorkerStatements implements WorkerStatements {
  /** Every write to the file wakes the workers of all other processes, so heartbeats are rare. */
  readonly pace: BeatPace = { shortestMs: 240_000, longestMs: 270_000 };
  readonly #access: SqliteAccess;

  constructor(access: SqliteAccess) {
    this.#access = access;
  }

  async beat(worker: WorkerInsert): Promise<void> {
    await this.#access.write(() => writeBeat(this.#access, worker));
  }

  sweep(): Promise<number> {
    const { driver, now } = this.#access;
    return this.#access.write(() => driver.run(SWEEP_WORKERS, [now() - KEPT_MS]));
  }

  async remove(id: string): Promise<void> {
    await this.#access.write(() => this.#access.driver.run(REMOVE_WORKER, [id]));
  }

  async list(namespace: string, limit: number): Promise<WorkerRecord[]> {
    const { driver, now } = this.#access;
    return (await this.#access.read(() => driver.all(LIST_WORKERS, [now(), namespace, limit]))).map(toWorkerRecord);
  }
}

/** Inside of a transaction that is open already. */
export function writeBeat({ driver, now }: SqliteAccess, worker: WorkerInsert): void {
  const { id, host, pid, version, concurrency, work } = worker;
  const described = [id, host, pid, version, concurrency.hooks, concurrency.workflows, JSON.stringify(work)];
  driver.run(BEAT_WORKER, [...described, now()]);
}
