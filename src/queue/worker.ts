import { type Clock, pause } from "../clock.ts";
import { AttemptAbortedError } from "../errors.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import type { AttemptFailure, Work, WorkSource } from "./work.ts";

export interface WorkerOptions {
  readonly clock: Clock;
  readonly sources: readonly WorkSource[];
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly nextToken: () => string;
  /** A place has become free. */
  readonly onRoom: () => void;
  /** Work whose owner was lost can be taken over again. */
  readonly onTakeOver: () => void;
  readonly onFailure: (failure: AttemptFailure) => void;
  /** The store failed while we wrote or renewed. */
  readonly onError: (error: unknown) => void;
}

/** When outcomes can't be written as fast as handlers end, claims wait. */
const MOST_UNSETTLED = 1000;
/** How long recovered work waits for the rest to end, and how long nothing else starts beside it. */
const ISOLATION_MS = 5000;

/**
 * Runs what it claims, as much at a time as it has places for.
 *
 * Work whose last owner was lost may be what killed it. It runs one at a time, and alone: first what runs already may end,
 * then nothing new starts for as long as poison usually takes. Both are bounded, so that a slow neighbour or a slow piece of
 * innocent work holds up nobody for long.
 */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #leases: LeaseKeeper;
  readonly #running = new Set<Work>();
  /** What has run, and whose outcome is on its way to the database. */
  readonly #settling = new Set<Work>();
  /** Those who wait for something to end. */
  #waiting: (() => void)[] = [];
  #reserved = 0;
  #isolated: Work | undefined;
  #quiet = false;
  #stopping = false;
  #firstSource = 0;
  /** Of everything that is born claimed: a row is born once, so it never has this token a second time. */
  readonly #birthToken: string;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#birthToken = options.nextToken();
    this.#leases = new LeaseKeeper(options.clock, options.leaseMs, options.onError);
  }

  /** How much more may start now. */
  get room(): number {
    if (this.#stopping || this.#quiet) return 0;
    const { concurrency } = this.#options;
    if (this.#settling.size > concurrency + MOST_UNSETTLED) return 0;
    return Math.max(concurrency - this.#running.size - this.#reserved, 0);
  }

  /** What is ours: claimed, running, or not settled yet. */
  get held(): number {
    return this.#running.size + this.#settling.size + this.#reserved;
  }

  /** Whether work whose owner was lost could be taken over now. */
  get takesOver(): boolean {
    return this.#isolated === undefined;
  }

  /** Claims as much as there is room for, and starts it. Gives how much it asked for and how much it got. */
  async fill(): Promise<{ asked: number; claimed: number }> {
    const asked = this.room;
    let claimed = 0;
    this.#reserved += asked;
    try {
      const { sources } = this.#options;
      for (let index = 0; index < sources.length && claimed < asked; index++) {
        const source = sources[(this.#firstSource + index) % sources.length] as WorkSource;
        claimed += await this.#claim(source, asked - claimed);
      }
      this.#firstSource = (this.#firstSource + 1) % sources.length;
    } finally {
      this.#reserved -= asked - claimed;
      this.#tellWaiting();
    }
    return { asked, claimed };
  }

  /** Takes a place for work that is about to be written as already claimed. */
  reserve(): Place | null {
    if (this.room === 0) return null;
    this.#reserved++;
    const { leaseMs, clock } = this.#options;
    const requestedAt = clock.monotonic();
    return {
      lock: this.#birthToken,
      leaseMs,
      start: (work, source) => {
        this.#leases.hold(work, source, requestedAt);
        this.#start(work);
      },
      cancel: () => {
        this.#reserved--;
        this.#ended();
      },
    };
  }

  /** Starts nothing more, waits for what runs, and after the deadline gives the rest back, uncounted. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopping = true;
    this.#ended();
    await this.#waitUntil(() => this.held === 0, deadlineMs);
    const reason = new AttemptAbortedError(
      "attempt.shutdown",
      "The process is shutting down: another one will run this.",
    );
    await Promise.all(
      Array.from(this.#running, async (work) => {
        work.abandon(reason);
        await work.release().catch(this.#options.onError);
        this.#leases.drop(work);
      }),
    );
  }

  async #claim(source: WorkSource, limit: number): Promise<number> {
    const { clock, leaseMs, nextToken, onError } = this.#options;
    const requestedAt = clock.monotonic();
    const claimed = await source.claim({ limit, takeOver: this.takesOver, lock: nextToken(), leaseMs });
    if (this.#stopping) {
      await Promise.all(claimed.map((work) => work.release().catch(onError)));
      this.#reserved -= claimed.length;
      return claimed.length;
    }
    for (const work of claimed) {
      this.#leases.hold(work, source, requestedAt);
      if (work.recovered) void this.#startAlone(work);
      else this.#start(work);
    }
    return claimed.length;
  }

  /** Turns a reserved place into a running one. */
  #start(work: Work): void {
    this.#reserved--;
    this.#running.add(work);
    void this.#run(work);
  }

  async #startAlone(work: Work): Promise<void> {
    this.#isolated = work;
    this.#quiet = true;
    await this.#waitUntil(() => this.held === 1 || this.#stopping, ISOLATION_MS);
    this.#start(work);
    await this.#waitUntil(() => !this.#running.has(work), ISOLATION_MS);
    this.#quiet = false;
    this.#ended();
    await this.#waitUntil(() => !this.#running.has(work));
    this.#isolated = undefined;
    this.#options.onTakeOver();
  }

  async #run(work: Work): Promise<void> {
    try {
      if (this.#stopping) await work.release();
      else if (this.#leases.isHeld(work)) await this.#execute(work);
    } catch (error) {
      this.#options.onError(error);
    } finally {
      this.#running.delete(work);
      this.#settling.delete(work);
      this.#leases.drop(work);
      this.#ended();
    }
  }

  async #execute(work: Work): Promise<void> {
    const failure = await work.execute(() => {
      this.#running.delete(work);
      this.#settling.add(work);
      this.#ended();
    });
    if (failure !== null) this.#options.onFailure(failure);
  }

  #ended(): void {
    this.#tellWaiting();
    this.#options.onRoom();
  }

  #tellWaiting(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async #waitUntil(condition: () => boolean, milliseconds?: number): Promise<void> {
    const timeout = new AbortController();
    let late = false;
    if (milliseconds !== undefined) {
      void pause(this.#options.clock, milliseconds, timeout.signal).then(() => {
        late = true;
        this.#ended();
      });
    }
    while (!condition() && !late) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    timeout.abort();
  }
}

/** A place in a worker, for work that is written as already claimed. */
export interface Place {
  readonly lock: string;
  readonly leaseMs: number;
  start(work: Work, source: WorkSource): void;
  cancel(): void;
}
