import type { Clock } from "../clock.ts";
import { AttemptAbortedError, isUnanswered } from "../errors.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import { type GiveBack, LostClaims } from "./lost-claims.ts";
import { Pace } from "./pace.ts";
import { type ClaimSlots, Slots, StateChanges } from "./slots.ts";
import type { AttemptFailure, Work, WorkSource } from "./work.ts";

export interface WorkerOptions {
  readonly clock: Clock;
  readonly concurrency: number;
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
/** The most rows that are claimed ahead. */
const MOST_AHEAD = 1000;
/** For how long claimed work may wait for a slot before it is released. */
const LONGEST_WAIT_MS = 1000;

/**
 * Claims work and runs it in its slots. It claims as much as its free slots can start at once. Only while handlers are much faster
 * than the database answers does it claim ahead: as much as they will have started by the time of the next answer.
 *
 * Work whose owner was lost may be the cause of that loss. Most of it is innocent, so work that was lost once is recovered together:
 * the worker lets running work end, starts all recovered work, and for some seconds starts nothing else. Work that was lost twice, or
 * has one attempt left, runs alone. All these waits are bounded, so slow work delays other work only briefly. Work that survives its
 * isolation runs beside other work again, because an instance may wait for another one that was lost with it.
 */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #leases: LeaseKeeper;
  readonly #lostClaims: LostClaims;
  readonly #pace = new Pace();
  readonly #running = new Set<Work>();
  /** Claimed ahead, and about to begin. */
  readonly #ahead: Work[] = [];
  /** Handlers that have ended, and whose outcomes aren't written yet. */
  readonly #settling = new Set<Work>();
  readonly #slots: Slots;
  readonly #changes: StateChanges;
  #startsAhead = false;
  /** Claimed from lost owners, and not started yet. */
  #recovered: Work[] = [];
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
    this.#slots = new Slots(options.clock);
    this.#changes = new StateChanges(options.clock);
  }

  /** How many slots are free. */
  get room(): number {
    if (this.#heldBack) return 0;
    return Math.max(this.#options.concurrency - this.#running.size - this.#slots.reserved - this.#ahead.length, 0);
  }

  /** How many rows to claim now: one per free slot; while handlers are fast, as many as are missing ahead, if that is worth a claim. */
  get wanted(): number {
    const { perSlot } = this.#pace;
    if (perSlot === 1 || this.#heldBack) return this.#ahead.length > 0 ? 0 : this.room;
    const { concurrency } = this.#options;
    const most = Math.min(concurrency * perSlot, Math.max(concurrency, MOST_AHEAD));
    const missing = most - this.#running.size - this.#slots.reserved - this.#ahead.length;
    return missing >= most / 2 ? missing : 0;
  }

  /** The same for one source. Rows of a source that needs room are never claimed ahead. */
  wantedFrom({ needsRoom = false }: WorkSource): number {
    return needsRoom ? Math.min(this.wanted, this.room) : this.wanted;
  }

  get #heldBack(): boolean {
    return this.#stopping || this.#quiet || this.#settling.size > this.#options.concurrency + MOST_UNSETTLED;
  }

  /** How much work is claimed, reserved, running or not settled yet. */
  get held(): number {
    return this.#running.size + this.#ahead.length + this.#settling.size + this.#slots.reserved;
  }

  /** Whether the worker holds no work that could make other work due when it ends. */
  get idle(): boolean {
    return this.held === this.#slots.reservedByClaims && this.takesOver;
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
  awaitRoom(onRoom: () => void): void {
    this.#slots.awaitRoom(onRoom);
  }

  /** Claims as much as it wants, and starts it. Returns how many rows it asked for, and how many it got. */
  async fill(source: WorkSource): Promise<{ asked: number; claimed: number }> {
    const asked = this.wantedFrom(source);
    if (asked === 0) return { asked, claimed: 0 };
    const slots = this.#slots.reserveForClaim(Math.min(this.room, asked), this.takesOver);
    this.#claims++;
    try {
      return { asked, claimed: await this.#claim(source, asked, slots) };
    } finally {
      this.#claims--;
      slots.end();
      this.#changes.announce();
      if (this.#recovered.length > 0) void this.#recover(this.#recovered.splice(0));
    }
  }

  /** Reserves a slot for a row that is about to be born claimed. Null without room. */
  reserve(): ReservedSlot | null {
    if (this.room === 0) return null;
    this.#slots.reserved++;
    const { leaseMs, clock } = this.#options;
    const requestedAt = clock.monotonic();
    return {
      lock: this.#birthToken,
      leaseMs,
      requestedAt,
      start: (work, source) => {
        this.#leases.hold(work, source, requestedAt);
        this.#start(work);
      },
      cancel: (giveBack) => {
        if (giveBack !== undefined) this.#lostClaims.add(giveBack);
        this.#slots.reserved--;
        this.#endings++;
        this.#ended();
      },
    };
  }

  /**
   * Shuts down: starts nothing more, waits for running work, and after the deadline releases the rest, uncounted. Instances are told
   * at once, so that they give up their leases between two steps.
   */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopping = true;
    for (const work of this.#running) work.wrapUp?.();
    const givenBack = this.#giveBackAhead();
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
  async #claim(source: WorkSource, limit: number, slots: ClaimSlots): Promise<number> {
    const { clock, leaseMs, nextToken, onError } = this.#options;
    const requestedAt = clock.monotonic();
    const { count, takeOver } = slots;
    const lock = nextToken();
    const request = { limit, takeOver, mostLost: count, slots: count, lock, leaseMs };
    const claimed = await source.claim(request).catch((error: unknown) => {
      if (isUnanswered(error)) this.#lostClaims.addClaim(source, lock);
      throw error;
    });
    this.#pace.noteClaim(clock.monotonic() - requestedAt);
    // Work whose lease may have run out doesn't start. It is released before the next claim, or this worker might take it over itself.
    if (this.#stopping || clock.monotonic() - requestedAt >= leaseMs) {
      await Promise.all(claimed.map((work) => work.release().catch(onError)));
      return claimed.length;
    }
    for (const work of claimed) {
      this.#leases.hold(work, source, requestedAt);
      const hasSlot = slots.take();
      if (work.recovered) {
        if (!hasSlot) this.#slots.reserved++;
        this.#recovered.push(work);
      } else if (hasSlot) this.#start(work);
      else this.#ahead.push(work);
    }
    this.#startAhead(); // other work may have ended since the claim was sent
    if (this.#ahead.length > 0) this.#watchAhead();
    return claimed.length;
  }

  /** If handlers have become slow, releases the rows that wait: another worker may have free slots. */
  #watchAhead(): void {
    const { clock, onError } = this.#options;
    const [oldest] = this.#ahead;
    clock.setTimer(() => {
      if (oldest === undefined || this.#ahead[0] !== oldest) return;
      this.#pace.reset();
      void this.#giveBackAhead().catch(onError);
    }, LONGEST_WAIT_MS);
  }

  async #giveBackAhead(): Promise<void> {
    const released = this.#ahead.splice(0);
    await Promise.all(released.map((work) => work.release().catch(this.#options.onError)));
    for (const work of released) this.#leases.drop(work);
    this.#endings += released.length;
    this.#ended();
  }

  /** Uses a reserved slot to run work. */
  #start(work: Work): void {
    this.#slots.reserved--;
    this.#running.add(work);
    void this.#run(work);
  }

  /** Starts in the next turn of the event loop, so that many fast handlers in a row don't block other work. */
  #startAheadSoon(): void {
    if (this.#startsAhead) return;
    this.#startsAhead = true;
    this.#options.clock.defer(() => {
      this.#startsAhead = false;
      this.#startAhead();
    });
  }

  #startAhead(): void {
    while (
      this.#ahead.length > 0 &&
      this.#running.size + this.#slots.reserved < this.#options.concurrency &&
      !this.#stopping
    ) {
      this.#slots.reserved++;
      this.#start(this.#ahead.shift() as Work);
    }
  }

  /** Runs work that was lost once together, then the rest one by one. */
  async #recover(recovered: readonly Work[]): Promise<void> {
    this.#recovering = true;
    this.#quiet = true;
    const isAlone = ({ solitudeMs = null }: Work) => solitudeMs !== null;
    const together = recovered.filter((work) => !isAlone(work));
    await this.#changes.waitUntil(() => this.held === recovered.length || this.#stopping, ISOLATION_MS);
    for (const work of together) {
      // Their claim may have freed its slots meanwhile.
      await this.#changes.waitUntil(
        () => this.#running.size < this.#options.concurrency || this.#stopping,
        ISOLATION_MS,
      );
      this.#start(work);
    }
    await this.#changes.waitUntil(() => !together.some((work) => this.#running.has(work)), ISOLATION_MS);
    for (const work of recovered.filter(isAlone)) await this.#runAlone(work);
    this.#quiet = false;
    this.#ended();
    this.#recovering = false;
    this.#options.onTakeOver();
  }

  /** Fresh work may start beside it earlier than other work that was lost twice. */
  async #runAlone(work: Work): Promise<void> {
    this.#quiet = true;
    this.#start(work);
    await this.#changes.waitUntil(() => !this.#running.has(work), ISOLATION_MS);
    this.#quiet = false;
    this.#ended();
    await this.#changes.waitUntil(() => !this.#running.has(work), (work.solitudeMs ?? ISOLATION_MS) - ISOLATION_MS);
  }

  async #run(work: Work): Promise<void> {
    try {
      // A lease that ran out before the handler started isn't an attempt: the row is released as if it had not been claimed.
      if (this.#stopping || !this.#leases.isHeld(work)) await work.release();
      else await this.#execute(work);
    } catch (error) {
      this.#options.onError(error);
      if (work.giveBack !== undefined) this.#lostClaims.add(() => (work.giveBack as GiveBack)());
    } finally {
      this.#running.delete(work);
      this.#settling.delete(work);
      this.#leases.drop(work);
      this.#endings++;
      this.#ended();
    }
  }

  async #execute(work: Work): Promise<void> {
    const { clock, onFailure } = this.#options;
    const startedAt = clock.monotonic();
    const end = () => {
      this.#pace.noteRun(clock.monotonic() - startedAt);
      this.#running.delete(work);
      this.#settling.add(work);
      if (this.#ahead.length > 0) this.#startAheadSoon();
      this.#ended();
    };
    const failure = await work.execute(end, () => this.#leases.isHeld(work), onFailure);
    if (failure !== null) onFailure(failure);
  }

  #ended(): void {
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
  start(work: Work, source: WorkSource): void;
  /** With `giveBack`, it isn't known whether the row was written. */
  cancel(giveBack?: GiveBack): void;
}
