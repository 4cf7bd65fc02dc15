import type { Clock } from "../../clock.ts";
import type { ProgressRange } from "../../store/instances/instance-records.ts";

/**
 * How long what a step emitted is kept after its end. Followers in other processes look every two seconds at the latest, and read
 * it page by page: this leaves them time for that.
 */
const KEEP_MS = 30_000;
/** If more steps than this emit something within that time, the oldest go first. */
const MOST_WAITING = 10_000;

/**
 * The progress of steps that have ended: it is dropped, but not before those who follow the instance can have read it. There is no
 * timer, so that an object or a process can come to rest: what is due is dropped when the process commits something, or looks
 * when to wake up next. What a process leaves behind when it ends is dropped after the next load of the instance.
 */
export class ProgressDrops {
  readonly #clock: Clock;
  readonly #drop: (range: ProgressRange) => Promise<void>;
  readonly #waiting: { readonly range: ProgressRange; readonly dueAt: number }[] = [];
  #sweeping = false;

  constructor(clock: Clock, drop: (range: ProgressRange) => Promise<void>) {
    this.#clock = clock;
    this.#drop = drop;
  }

  add(range: ProgressRange): void {
    this.#waiting.push({ range, dueAt: this.#clock.monotonic() + KEEP_MS });
    this.sweep();
  }

  /** Drops what is due, one after the other. */
  sweep(): void {
    if (this.#waiting.length > 0 && !this.#sweeping && this.#isDue) void this.#sweep();
  }

  get #isDue(): boolean {
    const [first] = this.#waiting;
    if (first === undefined) return false;
    return this.#waiting.length > MOST_WAITING || first.dueAt <= this.#clock.monotonic();
  }

  async #sweep(): Promise<void> {
    this.#sweeping = true;
    while (this.#isDue) {
      const { range } = this.#waiting.shift() as { range: ProgressRange };
      await this.#drop(range).catch(() => {}); // then it stays until the next load, and does no harm
    }
    this.#sweeping = false;
  }
}
