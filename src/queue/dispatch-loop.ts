import { callSafely } from "../call-safely.ts";
import { type Clock, pause } from "../clock.ts";
import type { Logger } from "../logger.ts";
import type { ClaimedWork, Reservation, WorkKind, WorkNotice } from "../store/queue/work-board.ts";
import type { Store } from "../store/store.ts";
import { loggedError } from "../values/index.ts";
import { Chore } from "./chore.ts";
import { describeWorker } from "./describe-worker.ts";
import { Heartbeat } from "./heartbeat.ts";
import { createTokens, type Owner, ownerOfToken } from "./owner.ts";
import type { Processor, ProcessorTaker } from "./processor.ts";
import { SourceLoop } from "./source-loop.ts";
import type { AttemptFailure } from "./work.ts";
import { Worker } from "./worker.ts";
import type { Capacity } from "./worker-pool.ts";

export interface DispatchOptions {
  readonly processor: Processor;
  readonly owner: Owner;
  readonly concurrency: Capacity;
  readonly leaseMs: number;
  /** How often to look for work of other processes if they can't announce it. */
  readonly pollIntervalMs: number;
  readonly logger: Logger;
  readonly onError: (error: unknown, context: DispatchErrorContext) => unknown;
}

/** The attempt that an error belongs to; null if the database could not be used. */
export interface DispatchErrorContext {
  readonly attempt: AttemptFailure | null;
}

/** After a failed start-up query, how long to wait before it is sent again. */
const BEGIN_RETRY_MS = 60_000;

/**
 * Runs due work in the worker's slots. Each source has a loop that decides when to claim (`SourceLoop`), so that sources and
 * chores that fail or hang delay only themselves.
 */
export class DispatchLoop implements ProcessorTaker {
  readonly #options: DispatchOptions;
  readonly #clock: Clock;
  readonly #worker: Worker;
  readonly #loops: readonly SourceLoop[];
  /** One for each database. */
  readonly #heartbeats: ReadonlyMap<Store, Heartbeat>;
  /** Start-up queries, one set per source. */
  readonly #beginnings: Chore[] = [];
  #leave: (() => void) | undefined;
  /** Whether it accepts work: it was started, or drains. */
  #taking = false;
  #stopping = false;
  /** The loop that is nudged first; the loops take turns. */
  #first = 0;

  constructor(options: DispatchOptions) {
    const { processor, pollIntervalMs } = options;
    const { clock, randomness } = processor;
    this.#options = options;
    this.#clock = clock;
    const onError = (error: unknown) => this.#reportError(error);
    const worker = new Worker({
      clock,
      concurrency: options.concurrency,
      leaseMs: options.leaseMs,
      nextToken: createTokens(options.owner),
      onRoom: () => this.#nudge(),
      onTakeOver: () => this.wake(),
      onFailure: (failure) => this.#reportFailure(failure),
      onError,
    });
    this.#worker = worker;
    this.#heartbeats = this.#createHeartbeats(onError);
    this.#loops = processor.sources.map((source, index) => {
      const heartbeat = this.#heartbeats.get(source.store) ?? null;
      const onServed = () => {
        this.#first = index + 1;
      };
      return new SourceLoop({ source, worker, clock, randomness, pollIntervalMs, heartbeat, onServed, onError });
    });
  }

  start(): void {
    if (this.#leave !== undefined || this.#stopping) return;
    this.#taking = true;
    this.#leave = this.#options.processor.join(this, { listens: true });
    for (const loop of this.#loops) {
      this.#begin(() => this.#expireLeasesOfTheDead(loop));
      this.#begin(() => loop.survey());
      loop.start();
    }
    for (const heartbeat of this.#heartbeats.values()) heartbeat.start();
  }

  /** Looks for work now. */
  wake(): void {
    for (const loop of this.#loops) loop.wake();
  }

  async stop(deadlineMs: number): Promise<void> {
    this.#stopping = true;
    const loops = this.#loops.map((loop) => loop.stop());
    const beginnings = this.#beginnings.map((beginning) => beginning.stop());
    const heartbeats = [...this.#heartbeats.values()];
    await this.#worker.stop(deadlineMs);
    await Promise.all([...loops, ...beginnings, ...heartbeats.map((heartbeat) => heartbeat.stop())]);
    await Promise.all(heartbeats.map((heartbeat) => heartbeat.remove()));
    this.#leave?.();
  }

  /**
   * Runs due work until there is none, or until the deadline; then releases the running work. A source that fails is skipped,
   * and the others are drained; rejects only if every database has a failed source.
   */
  async drain(deadlineMs: number): Promise<void> {
    const endAt = this.#clock.monotonic() + deadlineMs;
    // Running work may wait for work that it makes due. Work that other processes make due is left to them.
    const leave = this.#options.processor.join(this, { listens: false });
    this.#taking = true;
    let failures: ReadonlyMap<SourceLoop, unknown>;
    try {
      failures = await this.#drainLoops(endAt);
    } finally {
      this.#taking = false;
      leave();
      await this.#worker.stop(Math.max(endAt - this.#clock.monotonic(), 0));
    }
    this.#answer(failures);
  }

  notice({ namespace, delayMs, remote = false }: WorkNotice, store: Store): boolean {
    if (this.#stopping || !this.#taking) return false;
    if (remote && this.#leave === undefined) return false;
    const loops = this.#loops.filter(
      ({ source }) => source.store === store && (namespace === null || source.namespaces.includes(namespace)),
    );
    if (loops.length === 0) return false;
    if (remote) this.#options.processor.heard(namespace, store);
    for (const loop of loops) loop.notice(delayMs, remote);
    const stays = this.#leave !== undefined || delayMs === 0; // a drain has ended before later work is due
    const free = loops.every(({ source, backlog }) => this.#worker.roomFor(source) > 0 && !backlog);
    return free && stays;
  }

  reserve<Kind extends WorkKind>(kind: Kind, namespace: string, name: string, store: Store): Reservation<Kind> | null {
    if (!this.#taking) return null;
    const source = this.#options.processor.sourceOf(kind, namespace, name, store);
    if (source === null || this.#loops.some((loop) => loop.source === source && loop.backlog)) return null; // older work comes first
    const place = this.#worker.reserve(source);
    if (place === null) return null;
    const { lock, leaseMs, requestedAt, cancel } = place;
    return {
      lock,
      leaseMs,
      cancel,
      start: (claimed: ClaimedWork[Kind]) => place.start(source.toWork(claimed, requestedAt)),
    };
  }

  /** Resolves when all loops are at rest, or at the given time. Returns the errors of loops that failed. */
  async #drainLoops(endAt: number): Promise<ReadonlyMap<SourceLoop, unknown>> {
    const failures = new Map<SourceLoop, unknown>();
    /** The worker's count of endings at which a loop found nothing. */
    const rested = new Map<SourceLoop, number>();
    const over = new AbortController();
    const atRest = () =>
      this.#worker.idle &&
      this.#loops.every((loop) => failures.has(loop) || (!loop.noticed && rested.get(loop) === this.#worker.endings));
    const drainLoop = async (loop: SourceLoop) => {
      while (!over.signal.aborted && this.#clock.monotonic() < endAt) {
        // Read before the query: work that ends meanwhile may make other work due that the query doesn't see.
        const { idle, endings } = this.#worker;
        rested.delete(loop);
        const found = await loop.drainOnce();
        if (found === "something") continue;
        if (idle && found === "nothing") rested.set(loop, endings);
        if (atRest()) return over.abort();
        await loop.sleep(endAt);
      }
    };
    const loops = this.#loops.map(async (loop) => {
      await drainLoop(loop).catch((error: unknown) => failures.set(loop, error));
      if (atRest()) over.abort();
      this.#nudge();
    });
    over.signal.addEventListener("abort", () => this.#nudge());
    await Promise.race([
      Promise.all(loops),
      pause(this.#clock, Math.max(endAt - this.#clock.monotonic(), 0), over.signal),
    ]);
    if (over.signal.aborted) await Promise.all(loops);
    return failures;
  }

  #answer(failures: ReadonlyMap<SourceLoop, unknown>): void {
    const databases = new Set(this.#loops.map(({ source }) => source.store));
    const failed = new Set(Array.from(failures.keys(), ({ source }) => source.store));
    const [first, ...others] = failures.values();
    const fails = failures.size > 0 && failed.size === databases.size;
    for (const error of fails ? others : failures.values()) this.#reportError(error);
    if (fails) throw first;
  }

  #createHeartbeats(onError: (error: unknown) => void): ReadonlyMap<Store, Heartbeat> {
    const { processor, owner, concurrency } = this.#options;
    const { host } = owner;
    if (host === undefined) return new Map();
    const heartbeats = processor.stores.map((store) => {
      const sources = processor.sources.filter((source) => source.store === store);
      const worker = describeWorker({ ...owner, host }, concurrency, sources);
      const heartbeat = new Heartbeat({ clock: this.#clock, workers: store.workers.statements, worker, onError });
      return [store, heartbeat] as const;
    });
    return new Map(heartbeats);
  }

  #begin(body: () => Promise<void>): void {
    const beginning = new Chore({
      clock: this.#clock,
      body: async () => {
        await body();
        return null;
      },
      onFailure: (error) => {
        this.#reportError(error);
        return BEGIN_RETRY_MS;
      },
    });
    this.#beginnings.push(beginning);
    beginning.within(0);
  }

  async #expireLeasesOfTheDead(loop: SourceLoop): Promise<void> {
    const { owner, logger } = this.#options;
    const freed = await loop.source.expireLeases((token) => owner.isGone(ownerOfToken(token)));
    if (freed === 0) return;
    logger.info("Freed the leases of a process of this machine that has ended.", { count: freed });
    loop.wake();
  }

  /** The loop that got something last comes last, so that none takes all slots forever. */
  #nudge(): void {
    for (let index = 0; index < this.#loops.length; index++) {
      this.#loops[(this.#first + index) % this.#loops.length]?.nudge();
    }
  }

  #reportFailure(attempt: AttemptFailure): void {
    this.#report(attempt.error, { attempt });
  }

  #reportError(error: unknown): void {
    this.#report(error, { attempt: null });
  }

  #report(error: unknown, context: DispatchErrorContext): void {
    const { onError, logger } = this.#options;
    callSafely(
      () => onError(error, context),
      (failure) => logger.error("onError threw.", { error: loggedError(failure, this.#options.processor.stackTraces) }),
    );
  }
}
