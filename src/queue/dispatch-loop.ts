import type { Clock, Timer } from "../clock.ts";
import type { Logger } from "../logger.ts";
import type { Randomness } from "../randomness.ts";
import type { ClaimedWork, Reservation, WorkKind, WorkNotice, WorkTaker } from "../store/work-board.ts";
import { describeError } from "../values/index.ts";
import { createTokens, type Owner, ownerOfToken } from "./owner.ts";
import type { Processor } from "./processor.ts";
import type { AttemptFailure } from "./work.ts";
import { Worker } from "./worker.ts";

export interface DispatchOptions {
  readonly processor: Processor;
  readonly owner: Owner;
  readonly concurrency: number;
  readonly leaseMs: number;
  /** How often to look where other processes' work isn't announced to us. */
  readonly pollIntervalMs: number;
  readonly logger: Logger;
  readonly onError: (error: unknown, context: DispatchErrorContext) => unknown;
}

/** What an error belongs to: an attempt of the user's code, or none of it, when the database could not be used. */
export interface DispatchErrorContext {
  readonly attempt: AttemptFailure | null;
}

/** How often to look all the same where it is. */
const SAFETY_POLL_MS = 30_000;
const FIRST_BACKOFF_MS = 50;
const LONGEST_BACKOFF_MS = 5000;
const PURGE_INTERVAL_MS = 3_600_000;
const PURGE_RETRY_MS = 60_000;

/**
 * Decides when to claim. It sleeps until the earliest time at which something is due, or until somebody says that there is
 * work; an idle loop asks the database nothing but a slow safety poll.
 *
 *     sleeping --(due, notice, wake)--> claiming --(got less than asked: ask for the next wake)--> sleeping
 *                                         |  ^
 *                          (got all it asked for: more may be due)
 *                                         v  |
 *                                  waiting for room
 */
export class DispatchLoop implements WorkTaker {
  readonly #options: DispatchOptions;
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  readonly #worker: Worker;
  #loop: Promise<void> | undefined;
  /** Whether it takes work: it was started, or drains. */
  #taking = false;
  #stopping = false;
  /** When to claim next, by the monotonic clock. */
  #claimAt = 0;
  /** When to ask for the next wake, by the monotonic clock. */
  #askAt = 0;
  /** When to see to what takes no place, by the monotonic clock. */
  #tendAt = 0;
  #purgeAt = 0;
  #purging: Promise<void> | undefined;
  /** Whether the last claim got all that it asked for. */
  #backlog = false;
  /** Whether somebody has said, since the last claim began, that there is work. */
  #noticed = false;
  #backoffMs = 0;
  #signal: (() => void) | undefined;
  #signalled = false;

  constructor(options: DispatchOptions) {
    this.#options = options;
    this.#clock = options.processor.clock;
    this.#randomness = options.processor.randomness;
    this.#worker = new Worker({
      clock: this.#clock,
      sources: options.processor.sources,
      concurrency: options.concurrency,
      leaseMs: options.leaseMs,
      nextToken: createTokens(options.owner),
      onRoom: () => this.#nudge(),
      onTakeOver: () => this.wake(),
      onFailure: (failure) => this.#reportFailure(failure),
      onError: (error) => this.#reportError(error),
    });
  }

  start(): void {
    if (this.#loop !== undefined || this.#stopping) return;
    this.#purgeAt = this.#clock.monotonic() + this.#jitter(60_000);
    this.wake();
    this.#taking = true;
    this.#loop = this.#run();
  }

  /** Look now. */
  wake(): void {
    this.#claimAt = this.#clock.monotonic();
    this.#askAt = this.#claimAt;
    this.#tendAt = this.#claimAt;
    this.#noticed = true;
    this.#nudge();
  }

  async stop(deadlineMs: number): Promise<void> {
    this.#stopping = true;
    this.#nudge();
    await this.#worker.stop(deadlineMs);
    await this.#loop;
    await this.#purging;
  }

  /** Runs what is due until nothing is, or until the deadline; then gives back what is still running. */
  async drain(deadlineMs: number): Promise<void> {
    const endAt = this.#clock.monotonic() + deadlineMs;
    // What runs may wait for what it makes due. What other processes make due is theirs.
    const leave = this.#options.processor.join(this, { listens: false });
    this.#taking = true;
    try {
      while (this.#clock.monotonic() < endAt) {
        // Asked before: what ends while we look may make something due that we don't see.
        const idle = this.#worker.held === 0 && this.#worker.takesOver;
        this.#noticed = false;
        await this.#options.processor.tend();
        const { claimed } = await this.#worker.fill();
        if (claimed > 0 || this.#noticed) continue;
        if (idle && this.#worker.held === 0) break; // a place may have been reserved meanwhile
        await this.#sleep(endAt);
      }
    } finally {
      this.#taking = false;
      leave();
      await this.#worker.stop(Math.max(endAt - this.#clock.monotonic(), 0));
    }
  }

  notice({ namespace, delayMs, remote = false }: WorkNotice): boolean {
    if (this.#stopping || !this.#taking) return false;
    if (remote && this.#loop === undefined) return false;
    if (namespace !== null && !this.#options.processor.namespaces.includes(namespace)) return false;
    if (remote) this.#options.processor.heard(namespace);
    this.#claimAt = Math.min(this.#claimAt, this.#clock.monotonic() + delayMs);
    if (delayMs === 0) this.#tendAt = this.#clock.monotonic();
    this.#noticed = true;
    this.#nudge();
    const stays = this.#loop !== undefined || delayMs === 0; // a drain is gone when later work is due
    return this.#worker.room > 0 && !this.#backlog && stays;
  }

  reserve<Kind extends WorkKind>(kind: Kind, namespace: string, name: string): Reservation<Kind> | null {
    if (!this.#taking || this.#backlog) return null; // older work comes first
    const source = this.#options.processor.sourceOf(kind, namespace, name);
    if (source === null) return null;
    const place = this.#worker.reserve();
    if (place === null) return null;
    const { lock, leaseMs, requestedAt, cancel } = place;
    return {
      lock,
      leaseMs,
      cancel,
      start: (claimed: ClaimedWork[Kind]) => place.start(source.toWork(claimed, requestedAt), source),
    };
  }

  async #run(): Promise<void> {
    const leave = this.#options.processor.join(this, { listens: true });
    try {
      await this.#attempt(() => this.#expireLeasesOfTheDead());
      await this.#attempt(() => this.#survey());
      while (!this.#stopping) {
        await this.#attempt(() => this.#turn());
        if (!this.#stopping) await this.#sleep(this.#nextTime());
      }
    } finally {
      leave();
    }
  }

  async #turn(): Promise<void> {
    const now = this.#clock.monotonic();
    if (now >= this.#purgeAt) this.#startPurge();
    if (now >= this.#tendAt) await this.#tend();
    if (this.#worker.wanted > 0 && (this.#backlog || now >= this.#claimAt)) await this.#claim();
    else if (now >= this.#askAt) await this.#askForNextWake();
  }

  async #claim(): Promise<void> {
    this.#claimAt = Number.POSITIVE_INFINITY; // notices that come in meanwhile set it anew
    this.#noticed = false;
    const startedAt = this.#clock.monotonic();
    const { asked, claimed } = await this.#worker.fill();
    this.#backlog = claimed === asked;
    if (this.#backlog) return;
    await this.#askForNextWake();
    // Due before we looked, yet nothing to be had: somebody else is just taking it, unless it came in meanwhile.
    const contended = claimed === 0 && !this.#noticed && this.#claimAt <= startedAt;
    if (!contended) this.#backoffMs = 0;
    else this.#claimAt = this.#clock.monotonic() + this.#nextBackoff();
  }

  async #askForNextWake(): Promise<void> {
    const { processor, pollIntervalMs } = this.#options;
    const askedAt = this.#clock.monotonic();
    const remaining = await processor.nextWake({ takeOver: this.#worker.takesOver });
    if (remaining !== null) this.#claimAt = Math.min(this.#claimAt, askedAt + remaining);
    const interval = processor.connected ? Math.max(SAFETY_POLL_MS, pollIntervalMs) : pollIntervalMs;
    this.#askAt = askedAt + interval + this.#jitter(interval / 5);
  }

  /** Nobody waits for a place here: however much runs, what is due happens. */
  async #tend(): Promise<void> {
    this.#tendAt = Number.POSITIVE_INFINITY; // notices that come in meanwhile set it anew
    const remaining = await this.#options.processor.tend();
    if (remaining === null) return;
    const delay = remaining > 0 ? remaining : FIRST_BACKOFF_MS; // due, yet not to be had: somebody else is just doing it
    this.#tendAt = Math.min(this.#tendAt, this.#clock.monotonic() + delay);
  }

  /** There may be much to delete. That is done in small pieces beside everything else, and goes on another time if we stop. */
  #startPurge(): void {
    this.#purgeAt = this.#clock.monotonic() + PURGE_INTERVAL_MS;
    this.#purging ??= this.#purge()
      .catch((error: unknown) => {
        this.#reportError(error);
        this.#purgeAt = this.#clock.monotonic() + PURGE_RETRY_MS;
      })
      .finally(() => {
        this.#purging = undefined;
      });
  }

  async #purge(): Promise<void> {
    for (const source of this.#options.processor.sources) {
      while (!this.#stopping && (await source.purge())) {
        await new Promise<void>((resolve) => this.#clock.defer(resolve));
      }
    }
    if (!this.#stopping) await this.#survey();
  }

  async #survey(): Promise<void> {
    for (const source of this.#options.processor.sources) await source.survey?.();
  }

  async #expireLeasesOfTheDead(): Promise<void> {
    const { processor, owner, logger } = this.#options;
    for (const source of processor.sources) {
      const freed = await source.expireLeases((token) => owner.isGone(ownerOfToken(token)));
      if (freed > 0) logger.info("Took back work from a process of this machine that has ended.", { count: freed });
    }
  }

  /** The database may be away: whatever fails is reported, and tried again later. */
  async #attempt(body: () => Promise<void>): Promise<void> {
    try {
      await body();
    } catch (error) {
      this.#reportError(error);
      this.#backlog = false;
      this.#claimAt = this.#clock.monotonic() + this.#nextBackoff();
      this.#askAt = this.#claimAt;
      this.#tendAt = this.#claimAt;
    }
  }

  #nextTime(): number {
    const claims = this.#worker.wanted > 0;
    if (claims && this.#backlog) return 0;
    return Math.min(claims ? this.#claimAt : Number.POSITIVE_INFINITY, this.#askAt, this.#tendAt, this.#purgeAt);
  }

  /** Until that monotonic time, or until something happens. What happens together is answered together. */
  async #sleep(until: number): Promise<void> {
    if (this.#signalled || until <= this.#clock.monotonic()) {
      this.#signalled = false;
      await new Promise<void>((resolve) => this.#clock.defer(resolve));
      return;
    }
    let timer: Timer | undefined;
    await new Promise<void>((resolve) => {
      this.#signal = () => this.#clock.defer(resolve);
      if (until !== Number.POSITIVE_INFINITY) timer = this.#clock.setTimer(resolve, until - this.#clock.monotonic());
    });
    timer?.cancel();
    this.#signal = undefined;
    this.#signalled = false;
  }

  #nudge(): void {
    this.#signalled = true;
    this.#signal?.();
    this.#signal = undefined;
  }

  #nextBackoff(): number {
    this.#backoffMs = Math.min(Math.max(this.#backoffMs * 2, FIRST_BACKOFF_MS), LONGEST_BACKOFF_MS);
    return this.#backoffMs / 2 + this.#jitter(this.#backoffMs / 2);
  }

  #jitter(milliseconds: number): number {
    return milliseconds * this.#randomness.fraction();
  }

  #reportFailure(attempt: AttemptFailure): void {
    this.#report(attempt.error, { attempt });
  }

  #reportError(error: unknown): void {
    this.#report(error, { attempt: null });
  }

  #report(error: unknown, context: DispatchErrorContext): void {
    const fail = (failure: unknown) =>
      this.#options.logger.error("onError threw.", { error: describeError(failure).message });
    try {
      Promise.resolve(this.#options.onError(error, context)).catch(fail);
    } catch (failure) {
      fail(failure);
    }
  }
}
