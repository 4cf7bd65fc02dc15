import { createDurableHooksProcessor, type DurableHooksProcessor } from "../fragment/create-processor.ts";
import type { AnyFragment } from "../fragment/fragment.ts";
import { DispatchLoop } from "../queue/dispatch-loop.ts";
import { type Drainable, drainTogether } from "../queue/drain-together.ts";
import { loggedError } from "../values/index.ts";

const CONCURRENCY = 100;
const LEASE_MS = 30_000;
const POLL_INTERVAL_MS = 2000;

/**
 * Runs due work for applications without a long-lived process: a caller outside sends a tick now and then. Any number of ticks
 * may run at once, here and in other processes: claims keep them apart.
 */
export class Ticker {
  readonly #processor: DurableHooksProcessor | null;
  readonly #fragment: AnyFragment;
  readonly #subjects: Drainable | null;
  readonly #deadlineMs: number;
  #ticks = 0;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(fragment: AnyFragment, subjects: Drainable | null, deadlineMs: number) {
    this.#fragment = fragment;
    this.#subjects = subjects;
    this.#deadlineMs = deadlineMs;
    this.#processor = createDurableHooksProcessor(fragment);
  }

  /** Resolves when nothing is due, or after the deadline, with the time at which work is due next. */
  async tick(): Promise<Date | null> {
    if (this.#processor === null && this.#subjects === null) return null;
    await this.#run();
    const wakes = await Promise.all([this.#processor?.nextWake({ takeOver: true }), this.#subjects?.nextWake()]);
    const known = wakes.filter((wake) => wake !== null && wake !== undefined);
    const { clock } = this.#fragment.parts.store;
    return known.length === 0 ? null : new Date(clock.now() + Math.max(Math.min(...known), 0));
  }

  /** Callers that arrive during a tick share the next one: the running tick may have looked before their work was stored. */
  #run(): Promise<void> {
    if (this.#running === undefined) {
      this.#running = this.#drain().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    const before = this.#running;
    this.#next ??= before
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.#run();
      });
    return this.#next;
  }

  #drain(): Promise<void> {
    const drainWorker = (deadlineMs: number) => this.#drainWorker(deadlineMs);
    if (this.#subjects === null) return drainWorker(this.#deadlineMs);
    return drainTogether(this.#fragment.parts.store.clock, this.#deadlineMs, drainWorker, this.#subjects);
  }

  async #drainWorker(deadlineMs: number): Promise<void> {
    if (this.#processor === null) return;
    const { logger, stackTraces, createId } = this.#fragment.parts.store;
    const name = `tick~${createId()}~${++this.#ticks}`;
    const loop = new DispatchLoop({
      processor: this.#processor,
      owner: { name, isGone: () => false },
      concurrency: CONCURRENCY,
      leaseMs: LEASE_MS,
      pollIntervalMs: POLL_INTERVAL_MS,
      logger,
      onError: (error, { attempt }) => {
        const what =
          attempt === null ? "The database could not be used." : `An attempt at the ${attempt.description} failed.`;
        logger.warn(what, { error: loggedError(error, stackTraces) });
      },
    });
    await loop.drain(deadlineMs);
  }
}
