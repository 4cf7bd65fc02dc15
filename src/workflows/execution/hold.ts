import type { ClaimedInstance, InstanceLease } from "../../store/instances/instance-records.ts";

/** What every answer of the database says about an instance. */
export interface InstanceNews {
  readonly wakes: number;
  readonly paused: boolean;
  /** The database's time of the answer. */
  readonly at: number;
}

/** The same, with the monotonic time at which the database was asked. */
export interface TimedNews extends InstanceNews {
  readonly askedAt: number;
}

/**
 * An owner's hold on its instance: the lease with its token, and whether anything may begin under it. A pause, a shutdown or a
 * lease that may have run out each keep new work from beginning.
 */
export class Hold {
  lease: InstanceLease;
  /** Whether the lease can't have run out yet. The worker tells us when it starts the execution. */
  isHeld: () => boolean = always;
  /** Whether the process is about to end. */
  stopping = false;
  /** Owners that were lost since the last entry. */
  interruptions: number;
  #paused = false;
  #pauseChanges = 0;

  constructor({ ref, run, lock, recoveries }: ClaimedInstance) {
    this.lease = { ref, run, lock };
    this.interruptions = recoveries;
  }

  get paused(): boolean {
    return this.#paused;
  }

  /**
   * How often this process has paused or resumed the instance. An answer to an earlier question doesn't know about later
   * changes.
   */
  get pauseChanges(): number {
    return this.#pauseChanges;
  }

  /** Whether the instance is to come to rest: nothing begins or comes due any more, and running bodies end. */
  get resting(): boolean {
    return this.#paused || this.stopping;
  }

  get mayBegin(): boolean {
    return !this.resting && this.isHeld();
  }

  /** This process has paused or resumed the instance. */
  setPaused(paused: boolean): void {
    this.#paused = paused;
    this.#pauseChanges++;
  }

  /** The database says so. */
  observePause(paused: boolean): void {
    this.#paused = paused;
  }

  /**
   * Whether the instance is paused, according to an answer to a question that was asked at `pauseChanges`, and to later
   * changes.
   */
  correctPause(paused: boolean, pauseChanges: number): boolean {
    return pauseChanges === this.#pauseChanges ? paused : this.#paused;
  }
}

function always(): boolean {
  return true;
}
