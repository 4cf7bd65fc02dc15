import type { Clock } from "../../clock.ts";

/** For how long a round may be late before its loop counts as stalled. */
const PATIENCE_MS = 60_000;

/** The rounds of one loop: how it looks for work, again and again. */
export interface LoopRounds {
  /** A round has ended well. The next one ends by that monotonic time, if all is well. */
  completed(nextAt: number): void;
  /** The loop has stopped. */
  stop(): void;
}

export interface RoundsState {
  /** False if a loop hasn't completed a round for too long. */
  readonly inTime: boolean;
  /** When the loop that is furthest behind completed its last round; null if it hasn't completed any. */
  readonly lastAt: number | null;
}

interface Loop {
  nextAt: number;
  lastAt: number | null;
}

/** The loops of this process that look for work in one database. In memory only. */
export class Rounds {
  readonly #clock: Clock;
  readonly #loops = new Set<Loop>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  start(): LoopRounds {
    const loop: Loop = { nextAt: this.#clock.monotonic(), lastAt: null };
    this.#loops.add(loop);
    return {
      completed: (nextAt) => {
        loop.nextAt = nextAt;
        loop.lastAt = this.#clock.now();
      },
      stop: () => this.#loops.delete(loop),
    };
  }

  /** Null if no loop runs. */
  state(): RoundsState | null {
    const loops = [...this.#loops];
    if (loops.length === 0) return null;
    const now = this.#clock.monotonic();
    const last = loops.map(({ lastAt }) => lastAt).filter((lastAt) => lastAt !== null);
    return {
      inTime: loops.every(({ nextAt }) => now <= nextAt + PATIENCE_MS),
      lastAt: last.length < loops.length ? null : Math.min(...last),
    };
  }
}
