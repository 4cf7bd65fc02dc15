import type { Clock } from "../clock.ts";
import { AttemptAbortedError, isUnanswered } from "../errors.ts";
import type { WorkKind } from "../store/queue/work-board.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import { type GiveBack, LostClaims } from "./lost-claims.ts";
import { type ClaimSlots, StateChanges } from "./slots.ts";
import type { AttemptFailure, Work, WorkSource } from "./work.ts";
import { type Capacity, capacityFor, type RecoveredWork, WorkerPool } from "./worker-pool.ts";

export interface WorkerOptions {
  readonly clock: Clock;
  readonly concurrency: Capacity;
  readonly leaseMs: number;
  readonly nextToken: () => string;
  /** A slot has become free. */
  readonly onRoom: () => void;
  /** The worker can take over work of lost owners again. */
  readonly onTakeOver: () => void;
  readonly onFailure: (failure: AttemptFailure) => void;
  /** The store failed during a write or a renewal. */
  readonly onError: (error: unknown) => void;
}

/** Unwritten outcomes, beyond one per slot, from which on claims wait. */
const MOST_UNSETTLED = 1000;
/** For how long recovered work waits for other work to end, and for how long no other work starts beside it. */
const ISOLATION_MS = 5000;
/** For how long claimed work may wait for a slot before it is released. */
const LONGEST_WAIT_MS = 1000;

/**
 * Claims work and runs it in its slots, of which hooks and workflows each have their own. It claims as much as its free slots
 * can start at once. Only while handlers are much faster than the database answers does it claim ahead: as much as they will
 * have started by the time of the next answer.
 *
 * Work whose owner was lost may be the cause of that loss. Most of it is innocent, so work that was lost once is recovered
 * together: the worker lets running work end, starts all recovered work, and for some seconds starts nothing else. Work that
 * was lost twice, or has one attempt left, runs alone. All these waits are bounded, so slow work delays other work only
 * briefly. Work that survives its isolation runs beside other work again, because an instance may wait for another one that was
 * lost with it.
 */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #leases: LeaseKeeper;
  readonly #lostClaims: LostClaims;
  readonly #pools: Readonly<Record<WorkKind, WorkerPool>>;
  /** Handlers that have ended, and whose outcomes aren't written yet. */
  readonly #settling = new Set<Work>();
  readonly #changes: StateChanges;
  /** Claimed from lost owners, and not started yet. */
  #recovered: RecoveredWork[] = [];
  #recovering = false;
  #quiet = false;
  #stopping = false;
  /** Claims that aren't answered yet. */
  #claims = 0;
  #endings = 0;
  /** The token of every row that is born claimed: a row is inserted once, so it has this token at most once. */
  readonly #birthToken: string;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#birthToken = options.nextToken();
    this.#leases = new LeaseKeeper(options.clock, options.leaseMs, options.onError);
    this.#lostClaims = new LostClaims(options.clock, options.leaseMs);
    this.#pools = { hook: this.#createPool("hook"), instance: this.#createPool("instance") };
    this.#changes = new StateChanges(options.clock);
  }

  /** How many slots are free for the work of a source. */
  roomFor({ kind }: WorkSource): number {
    return this.#heldBack ? 0 : this.#pools[kind].room;
  }

  /** How many rows of a source to claim now. Rows of a source that needs room are never claimed ahead. */
  wantedFrom({ kind, needsRoom = false }: WorkSource): number {
    if (this.#heldBack) return 0;
    const { wanted, room } = this.#pools[kind];
    return needsRoom ? Math.min(wanted, room) : wanted;
  }

  get #running(): readonly Work[] {
    return Object.values(this.#pools).flatMap(({ running }) => [...running]);
  }

  #createPool(kind: WorkKind): WorkerPool {
    const { clock, concurrency } = this.#options;
    const pool: WorkerPool = new WorkerPool(clock, capacityFor(concurrency, kind), () => this.#startAhead(pool));
    return pool;
  }

  get #heldBack(): boolean {
    const { hook, instance } = this.#pools;
    const unsettled = this.#settling.size - hook.concurrency - instance.concurrency;
    return this.#stopping || this.#quiet || unsettled > MOST_UNSETTLED;
  }

  /** How much work is claimed, reserved, running or not settled yet. */
  get held(): number {
    return this.#pools.hook.held + this.#pools.instance.held + this.#settling.size;
  }

  /** Whether the worker holds no work that could make other work due when it ends. */
  get idle(): boolean {
    const { hook, instance } = this.#pools;
    return this.held === hook.slots.reservedByClaims + instance.slots.reservedByClaims && this.takesOver;
  }

  /** How many times work has ended or was released. */
  get endings(): number {
    return this.#endings;
  }

  /** Whether the worker could take over work of lost owners now. */
  get takesOver(): boolean {
    return !this.#recovering;
  }

  /** For a lane that finds no room: calls back when a claim of another lane frees slots that it had reserved. */
  awaitRoom({ kind }: WorkSource, onRoom: () => void): void {
    this.#pools[kind].slots.awaitRoom(onRoom);
  }

  /**
   * Claims as much as it wants, and starts it. Returns how many rows it asked for, and how many it got. Unless it `takesOver`,
   * it leaves the work of lost owners.
   */
  async fill(source: WorkSource, { takesOver = true } = {}): Promise<{ asked: number; claimed: number }> {
    const asked = this.wantedFrom(source);
    if (asked === 0) return { asked, claimed: 0 };
    const pool = this.#pools[source.kind];
    const terms = { mayTakeOver: takesOver && this.takesOver, lends: source.needsRoom !== true };
    const slots = pool.slots.reserveForClaim(Math.min(pool.room, asked), terms);
    this.#claims++;
    try {
      return { asked, claimed: await this.#claim(source, pool, asked, slots) };
    } finally {
      this.#claims--;
      slots.end();
      this.#changes.announce();
      if (this.#recovered.length > 0 && !this.#recovering) void this.#recoverAll();
    }
  }

  /**
   * Reserves a slot for a row that is about to be born claimed. Null without room. A claim under way lends its slots: if it
   * gets more rows than it has slots left, they start as soon as work ends, or are released.
   */
  reserve(source: WorkSource): ReservedSlot | null {
    if (this.#heldBack) return null;
    const pool = this.#pools[source.kind];
    if (pool.room > 0) pool.slots.reserved++;
    else if (!pool.slots.borrow()) return null;
    const { leaseMs, clock } = this.#options;
    const requestedAt = clock.monotonic();
    return {
      lock: this.#birthToken,
      leaseMs,
      requestedAt,
      start: (work) => {
        this.#leases.hold(work, source, requestedAt);
        this.#start(work, pool);
      },
      cancel: (giveBack) => {
        if (giveBack !== undefined) this.#lostClaims.add(giveBack);
        pool.slots.reserved--;
        this.#endings++;
        this.#ended();
      },
    };
  }

  /**
   * Shuts down: starts nothing more, waits for running work, and after the deadline releases the rest, uncounted. Instances are
   * told at once, so that they give up their leases between two steps.
   */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopping = true;
    for (const work of this.#running) work.wrapUp?.();
    const givenBack = Promise.all(Object.values(this.#pools).map((pool) => this.#giveBackAhead(pool)));
    await this.#changes.waitUntil(() => this.held === 0, deadlineMs);
    await givenBack;
    const reason = new AttemptAbortedError(
      "attempt.shutdown",
      "The process is shutting down: another process will run this.",
    );
    await Promise.all(
      Array.from(this.#running, async (work) => {
        work.abandon(reason);
        work.giveUp?.();
        await work.release().catch(this.#options.onError);
        this.#leases.drop(work);
      }),
    );
    for (const work of this.#settling) work.giveUp?.();
    await this.#lostClaims.stop();
    // Outcomes, claims and triggers that the database hasn't answered yet.
    await this.#changes.waitUntil(() => this.held === 0 && this.#claims === 0);
  }

  /** Rows with a slot start at once, the rest as slots become free. */
  async #claim(source: WorkSource, pool: WorkerPool, limit: number, slots: ClaimSlots): Promise<number> {
    const { clock, leaseMs, nextToken, onError } = this.#options;
    const requestedAt = clock.monotonic();
    const { count, takeOver } = slots;
    const lock = nextToken();
    const request = { limit, takeOver, mostLost: count, slots: count, lock, leaseMs };
    const claimed = await source.claim(request).catch((error: unknown) => {
      if (isUnanswered(error)) this.#lostClaims.addClaim(source, lock);
      throw error;
    });
    pool.pace.noteClaim(clock.monotonic() - requestedAt);
    // Work whose lease may have run out doesn't start. It is released before the next claim, or this worker might take it over
    // itself.
    if (this.#stopping || clock.monotonic() - requestedAt >= leaseMs) {
      await Promise.all(claimed.map((work) => work.release().catch(onError)));
      return claimed.length;
    }
    // Recovered work can't wait ahead, so it comes first.
    for (const work of [...claimed.filter((one) => one.recovered), ...claimed.filter((one) => !one.recovered)]) {
      this.#leases.hold(work, source, requestedAt);
      const hasSlot = slots.take();
      if (work.recovered) {
        if (!hasSlot) pool.slots.reserved++;
        this.#recovered.push({ work, pool });
      } else if (hasSlot) this.#start(work, pool);
      else pool.ahead.push(work);
    }
    this.#startAhead(pool); // other work may have ended since the claim was sent
    if (pool.ahead.length > 0) this.#watchAhead(pool);
    return claimed.length;
  }

  /** If handlers have become slow, releases the rows that wait: another worker may have free slots. */
  #watchAhead(pool: WorkerPool): void {
    const { clock, onError } = this.#options;
    const [oldest] = pool.ahead;
    clock.setTimer(() => {
      if (oldest === undefined || pool.ahead[0] !== oldest) return;
      pool.pace.reset();
      void this.#giveBackAhead(pool).catch(onError);
    }, LONGEST_WAIT_MS);
  }

  async #giveBackAhead(pool: WorkerPool): Promise<void> {
    const released = pool.ahead.splice(0);
    await Promise.all(released.map((work) => work.release().catch(this.#options.onError)));
    for (const work of released) this.#leases.drop(work);
    this.#endings += released.length;
    this.#ended();
  }

  /** Uses a reserved slot to run work. */
  #start(work: Work, pool: WorkerPool): void {
    pool.slots.reserved--;
    pool.running.add(work);
    void this.#run(work, pool);
  }

  /** Starts in the next turn of the event loop, so that many fast handlers in a row don't block other work. */
  #startAheadSoon(pool: WorkerPool): void {
    if (pool.startsAhead) return;
    pool.startsAhead = true;
    this.#options.clock.defer(() => {
      pool.startsAhead = false;
      this.#startAhead(pool);
    });
  }

  #startAhead(pool: WorkerPool): void {
    while (pool.ahead.length > 0 && pool.hasFreeSlot && !this.#stopping) {
      pool.slots.reserved++;
      this.#start(pool.ahead.shift() as Work, pool);
    }
  }

  /** Hooks and instances may be taken over at the same time: those that come later are recovered later. */
  async #recoverAll(): Promise<void> {
    this.#recovering = true;
    while (this.#recovered.length > 0) await this.#recover(this.#recovered.splice(0));
    this.#recovering = false;
    this.#options.onTakeOver();
  }

  /** Runs work that was lost once together, then the rest one by one. */
  async #recover(recovered: readonly RecoveredWork[]): Promise<void> {
    this.#quiet = true;
    const isAlone = ({ work: { solitudeMs = null } }: RecoveredWork) => solitudeMs !== null;
    const together = recovered.filter((one) => !isAlone(one));
    const alone = () => this.held === recovered.length + this.#recovered.length;
    await this.#changes.waitUntil(() => alone() || this.#stopping, ISOLATION_MS);
    for (const { work, pool } of together) {
      // Their claim may have freed its slots meanwhile.
      await this.#changes.waitUntil(() => pool.running.size < pool.concurrency || this.#stopping, ISOLATION_MS);
      this.#start(work, pool);
    }
    await this.#changes.waitUntil(() => !together.some(({ work, pool }) => pool.running.has(work)), ISOLATION_MS);
    for (const one of recovered.filter(isAlone)) await this.#runAlone(one);
    this.#quiet = false;
    this.#ended();
  }

  /** Fresh work may start beside it earlier than other work that was lost twice. */
  async #runAlone({ work, pool }: RecoveredWork): Promise<void> {
    this.#quiet = true;
    this.#start(work, pool);
    await this.#changes.waitUntil(() => !pool.running.has(work), ISOLATION_MS);
    this.#quiet = false;
    this.#ended();
    await this.#changes.waitUntil(() => !pool.running.has(work), (work.solitudeMs ?? ISOLATION_MS) - ISOLATION_MS);
  }

  async #run(work: Work, pool: WorkerPool): Promise<void> {
    const { clock, onFailure, onError } = this.#options;
    const isHeld = () => this.#leases.isHeld(work);
    try {
      // A lease that ran out before the handler started isn't an attempt: the row is released as if it had not been claimed.
      if (this.#stopping || !isHeld()) return await work.release();
      const startedAt = clock.monotonic();
      const end = () => {
        pool.pace.noteRun(clock.monotonic() - startedAt);
        pool.running.delete(work);
        this.#settling.add(work);
        this.#ended();
      };
      const failure = await work.execute(end, isHeld, onFailure, pool.concurrency);
      if (failure !== null) onFailure(failure);
    } catch (error) {
      onError(error);
      if (work.giveBack !== undefined) this.#lostClaims.add(() => (work.giveBack as GiveBack)());
    } finally {
      pool.running.delete(work);
      this.#settling.delete(work);
      this.#leases.drop(work);
      this.#endings++;
      this.#ended();
    }
  }

  #ended(): void {
    const { hook, instance } = this.#pools;
    if (hook.ahead.length > 0) this.#startAheadSoon(hook);
    if (instance.ahead.length > 0) this.#startAheadSoon(instance);
    this.#changes.announce();
    this.#options.onRoom();
  }
}

/** A slot in a worker, for a row that is born claimed. */
export interface ReservedSlot {
  readonly lock: string;
  readonly leaseMs: number;
  /** The monotonic time of the reservation; the row is written later. */
  readonly requestedAt: number;
  start(work: Work): void;
  /** With `giveBack`, it isn't known whether the row was written. */
  cancel(giveBack?: GiveBack): void;
}
