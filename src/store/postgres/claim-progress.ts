import type { Clock } from "../../clock.ts";
import type { HookLane } from "../hook-lanes.ts";
import type { ClaimedHook } from "../hook-records.ts";

/** At least this often a claim starts from the beginning: it finds what was committed late, and what lost owners left behind. */
const LONGEST_RUN_MS = 2000;

/**
 * Where the claims of a long queue have got to. A row that was claimed leaves a dead entry at the front of the index, and those
 * stay until the next vacuum. While claims come back full, the next one goes on where the last one stopped.
 */
export class ClaimProgress {
  readonly #clock: Clock;
  /** The latest due time that was claimed, by namespace and class. */
  readonly #stoppedAt = new Map<string, number>();
  #resumes = false;
  #startedAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the next claim may go on where the last one stopped. */
  resumes(): boolean {
    return this.#resumes && this.#clock.monotonic() - this.#startedAt < LONGEST_RUN_MS;
  }

  stoppedAt({ namespace, class: workClass }: HookLane): number {
    return this.#stoppedAt.get(`${namespace} ${workClass}`) ?? 0;
  }

  note(claimed: readonly ClaimedHook[], { fromStart, full }: { fromStart: boolean; full: boolean }): void {
    if (fromStart) {
      this.#startedAt = this.#clock.monotonic();
      this.#stoppedAt.clear();
    }
    this.#resumes = full;
    for (const { namespace, attempts, recoveries, dueAt } of claimed) {
      if (recoveries > 0) continue;
      const lane = `${namespace} ${attempts === 1 ? 1 : 0}`;
      this.#stoppedAt.set(lane, Math.max(this.#stoppedAt.get(lane) ?? 0, dueAt));
    }
  }
}
