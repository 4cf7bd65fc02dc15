import { KEPT_MS, type WorkerInsert, type WorkerRecord } from "../workers/worker-records.ts";
import { toWorkerRecord } from "../workers/worker-rows.ts";
import type { BeatPace, WorkerStatements } from "../workers/worker-statements.ts";
import { beatWorker, listWorkers, removeWorker, sweepWorkers } from "./sql/workers.ts";
import { PostgresStatements } from "./statements.ts";

export class PostgresWorkerStatements extends PostgresStatements implements WorkerStatements {
  /** A safety poll, at least twice a minute, carries a heartbeat. A worker that is too busy to poll sends one by itself. */
  readonly pace: BeatPace = { shortestMs: 20_000, longestMs: 45_000 };

  async beat(worker: WorkerInsert): Promise<void> {
    await this.run(beatWorker, [this.now(), ...workerColumns(worker)]);
  }

  async sweep(): Promise<number> {
    return (await this.run(sweepWorkers, [this.now(), KEPT_MS])).rowCount ?? 0;
  }

  async remove(id: string): Promise<void> {
    await this.run(removeWorker, [id]);
  }

  async list(namespace: string, limit: number): Promise<WorkerRecord[]> {
    return (await this.run(listWorkers, [this.now(), namespace, limit])).rows.map(toWorkerRecord);
  }
}

/** The columns of a worker, in the order of its upsert. */
export function workerColumns({ id, host, pid, version, concurrency, work }: WorkerInsert): unknown[] {
  return [id, host, pid, version, concurrency.hooks, concurrency.workflows, JSON.stringify(work)];
}
