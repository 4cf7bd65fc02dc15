import type { Clock } from "../clock.ts";
import type { WorkerInsert } from "../store/workers/worker-records.ts";
import type { WorkerStatements } from "../store/workers/worker-statements.ts";
import { Chore } from "./chore.ts";

interface HeartbeatOptions {
  readonly clock: Clock;
  readonly workers: WorkerStatements;
  readonly worker: WorkerInsert;
  readonly onError: (error: unknown) => void;
}

/**
 * Keeps a worker's row in one database up to date, so that operators see that it lives. Where it can, a heartbeat rides on a
 * question that the worker asks anyway; a worker that asks none sends it by itself.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #chore: Chore;
  /** The monotonic time of the last heartbeat; null until the row is written. */
  #lastAt: number | null = null;
  #stopped = false;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    const { longestMs } = options.workers.pace;
    this.#chore = new Chore({
      clock: options.clock,
      body: () => this.#beat(),
      onFailure: (error) => {
        options.onError(error);
        return longestMs;
      },
    });
  }

  start(): void {
    this.#chore.within(0);
  }

  /** Asks, and gives the question the worker's heartbeat if one is due. */
  async carriedBy<Answer>(ask: (worker: WorkerInsert | undefined) => Promise<Answer>): Promise<Answer> {
    const { clock, workers, worker } = this.#options;
    const before = this.#lastAt;
    const now = clock.monotonic();
    if (before === null || this.#stopped || now - before < workers.pace.shortestMs) return ask(undefined);
    this.#lastAt = now;
    try {
      return await ask(worker);
    } catch (error) {
      this.#lastAt = before;
      throw error;
    }
  }

  /** No question carries a heartbeat from now on, so that none writes the row again after `remove`. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#chore.stop();
  }

  /** Deletes the row. If that fails, the worker is taken for dead after a while. */
  async remove(): Promise<void> {
    const { workers, worker, onError } = this.#options;
    if (this.#lastAt !== null) await workers.remove(worker.id).catch(onError);
  }

  async #beat(): Promise<number> {
    const { clock, workers, worker } = this.#options;
    const { longestMs } = workers.pace;
    const askedAt = clock.monotonic();
    const remaining = this.#lastAt === null ? 0 : this.#lastAt + longestMs - askedAt;
    if (remaining > 0) return remaining;
    await workers.beat(worker);
    const first = this.#lastAt === null;
    this.#lastAt = askedAt;
    if (first) await workers.sweep();
    return longestMs;
  }
}
