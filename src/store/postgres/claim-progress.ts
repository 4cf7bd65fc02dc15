import type { Clock } from "../../clock.ts";
import type { QueueLane } from "../queue/lanes.ts";
import { BEFORE_ALL_RANKS } from "../queue/rank.ts";
import { WorkClass } from "../queue/work-class.ts";

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

  stoppedAt({ namespace, class: workClass }: QueueLane): number {
    return this.#stoppedAt.get(`${namespace} ${workClass}`) ?? BEFORE_ALL_RANKS;
  }

  /** A claim has begun, or has started from the beginning again. */
  begin(): void {
    this.#startedAt = this.#clock.monotonic();
    this.#stoppedAt.clear();
  }

  /** A claim has ended. `full` is whether it got as many rows as it asked for. */
  end({ full }: { full: boolean }): void {
    this.#resumes = full;
  }

  /** A row of this lane was taken. What is taken over, or has a priority, is always looked for from the beginning. */
  note({ namespace, class: workClass }: QueueLane, dueAt: number): void {
    if (workClass !== WorkClass.continuing && workClass !== WorkClass.fresh) return;
    const lane = `${namespace} ${workClass}`;
    this.#stoppedAt.set(lane, Math.max(this.#stoppedAt.get(lane) ?? 0, dueAt));
  }
}
