import type { Owner } from "../queue/owner.ts";
import { createTokens } from "../queue/owner.ts";
import type { Processor } from "../queue/processor.ts";
import { Worker, type WorkerOptions } from "../queue/worker.ts";
import type { ClaimedWork, Reservation, WorkKind, WorkTaker } from "../store/queue/work-board.ts";
import type { Store } from "../store/store.ts";

type SpareWorkerOptions = Pick<WorkerOptions, "concurrency" | "leaseMs" | "onFailure" | "onError"> & {
  readonly processor: Processor;
  readonly store: Store;
  readonly owner: Owner;
  /** Whether it is a workflow that asks. */
  readonly isWorkflow: () => boolean;
};

/**
 * Runs instances that continue by themselves: one that was released while its code waited for the test continues as soon as the
 * test lets it, whether or not the test drives the process at that moment.
 */
export class SpareWorker implements WorkTaker {
  readonly #options: SpareWorkerOptions;
  readonly #worker: Worker;
  #waiting: (() => void)[] = [];

  constructor(options: SpareWorkerOptions) {
    const { processor, owner, ...rest } = options;
    this.#options = options;
    this.#worker = new Worker({
      ...rest,
      clock: processor.clock,
      nextToken: createTokens(owner),
      onTakeOver: () => {},
      onRoom: () => {
        for (const resolve of this.#waiting.splice(0)) resolve();
      },
    });
  }

  notice(): boolean {
    return false;
  }

  reserve<Kind extends WorkKind>(kind: Kind, namespace: string, name: string): Reservation<Kind> | null {
    if (!this.#options.isWorkflow()) return null;
    const source = this.#options.processor.sourceOf(kind, namespace, name, this.#options.store);
    const place = source === null ? null : this.#worker.reserve(source);
    if (source === null || place === null) return null;
    const { lock, leaseMs, cancel } = place;
    return {
      lock,
      leaseMs,
      cancel,
      start: (claimed: ClaimedWork[Kind]) => place.start(source.toWork(claimed, place.requestedAt)),
    };
  }

  /** Resolves when it has nothing to do any more. Says whether it had. */
  async untilIdle(): Promise<boolean> {
    if (this.#worker.held === 0) return false;
    while (this.#worker.held > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return true;
  }
}
