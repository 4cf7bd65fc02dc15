import { type Clock, pause } from "../clock.ts";
import { AttemptAbortedError, isUnanswered } from "../errors.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import { type GiveBack, LostClaims } from "./lost-claims.ts";
import { Pace } from "./pace.ts";
import type { AttemptFailure, Work, WorkSource } from "./work.ts";

export interface WorkerOptions {
  readonly clock: Clock;
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

/** For how long a claim that isn't answered keeps places from others. */
const LONGEST_RESERVATION_MS = 250;
/** No more than this is claimed ahead. */
const MOST_AHEAD = 1000;
/** For how long claimed work may wait for a place, before it is given back. */
const LONGEST_WAIT_MS = 1000;

/**
 * Runs what it claims, as much at a time as it has places for. It claims what its places can take at once; only while handlers
 * are much faster than the database answers does it claim ahead, what they will have begun by the time of the next answer.
 *
 * Work whose last owner was lost may be what killed it. Most of it is innocent, so what was lost once is recovered together: first
 * what runs already may end, then nothing new starts beside it for as long as poison usually takes. What is lost a second time, or
 * has one attempt left, runs alone. All of it is bounded, so that a slow neighbour or a slow piece of innocent work holds up
 * nobody for long, and what has survived runs beside others again; an instance may even wait for another one that was lost with it.
 */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #leases: LeaseKeeper;
  readonly #lostClaims: LostClaims;
  readonly #pace = new Pace();
  readonly #running = new Set<Work>();
  /** Claimed ahead, and about to begin. */
  readonly #ahead: Work[] = [];
  /** What has run, and whose outcome is on its way to the database. */
  readonly #settling = new Set<Work>();
  /** Those who wait for something to end. */
  #waiting: (() => void)[] = [];
  #startsAhead = false;
  #reserved = 0;
  /** Claimed from lost owners, and not started yet. */
  #recovered: Work[] = [];
  #recovering = false;
  #quiet = false;
  #stopping = false;
  /** Claims that aren't answered yet, and the places that they have reserved. */
  #claims = 0;
  #reservedByClaims = 0;
  /** Whether one of those may take over work whose owner was lost. */
  #takesOver = false;
  /** Those who wanted to claim while others had reserved all places. */
  #awaiting: (() => void)[] = [];
  #endings = 0;
  /** Of everything that is born claimed: a row is born once, so it never has this token a second time. */
  readonly #birthToken: string;

  constructor(options: WorkerOptions) {
    this.#options = options;
    this.#birthToken = options.nextToken();
    this.#leases = new LeaseKeeper(options.clock, options.leaseMs, options.onError);
    this.#lostClaims = new LostClaims(options.clock, options.leaseMs);
  }

  /** How much more may start now. */
  get room(): number {
    if (this.#heldBack) return 0;
    return Math.max(this.#options.concurrency - this.#running.size - this.#reserved - this.#ahead.length, 0);
  }

  /** How much to claim now: what there is room for; while handlers are fast, what is missing ahead, if that is worth a claim. */
  get wanted(): number {
    const { perPlace } = this.#pace;
    if (perPlace === 1 || this.#heldBack) return this.#ahead.length > 0 ? 0 : this.room;
    const { concurrency } = this.#options;
    const most = Math.min(concurrency * perPlace, Math.max(concurrency, MOST_AHEAD));
    const missing = most - this.#running.size - this.#reserved - this.#ahead.length;
    return missing >= most / 2 ? missing : 0;
  }

  /** The same from a source. What is never claimed ahead needs room. */
  wantedFrom({ needsRoom = false }: WorkSource): number {
    return needsRoom ? Math.min(this.wanted, this.room) : this.wanted;
  }

  get #heldBack(): boolean {
    return this.#stopping || this.#quiet || this.#settling.size > this.#options.concurrency + MOST_UNSETTLED;
  }

  /** What is ours: claimed, running, or not settled yet. */
  get held(): number {
    return this.#running.size + this.#ahead.length + this.#settling.size + this.#reserved;
  }

  /** Whether there is nothing that could make something due when it ends. */
  get idle(): boolean {
    return this.held === this.#reservedByClaims && this.takesOver;
  }

  /** How often work has ended, or was given back. */
  get endings(): number {
    return this.#endings;
  }

  /** Whether work whose owner was lost could be taken over now. */
  get takesOver(): boolean {
    return !this.#recovering;
  }

  /** For who wants to claim and finds no room: calls back when a claim of another source leaves some of its places. */
  awaitRoom(onRoom: () => void): void {
    this.#awaiting.push(onRoom);
  }

  /** Claims as much as there is room for, and starts it. Gives how much it asked for and how much it got. */
  async fill(source: WorkSource): Promise<{ asked: number; claimed: number }> {
    const asked = this.wantedFrom(source);
    if (asked === 0) return { asked, claimed: 0 };
    const reservation = this.#reserve(Math.min(this.room, asked));
    this.#claims++;
    try {
      return { asked, claimed: await this.#claim(source, asked, reservation) };
    } finally {
      this.#claims--;
      reservation.end();
      this.#tellWaiting();
      if (this.#recovered.length > 0) void this.#recover(this.#recovered.splice(0));
    }
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
      requestedAt,
      start: (work, source) => {
        this.#leases.hold(work, source, requestedAt);
        this.#start(work);
      },
      cancel: (giveBack) => {
        if (giveBack !== undefined) this.#lostClaims.add(giveBack);
        this.#reserved--;
        this.#endings++;
        this.#ended();
      },
    };
  }

  /** Starts nothing more, waits for what runs, and after the deadline gives the rest back, uncounted. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopping = true;
    for (const work of this.#running) work.wrapUp?.();
    const givenBack = this.#giveBackAhead();
    await this.#waitUntil(() => this.held === 0, deadlineMs);
    await givenBack;
    const reason = new AttemptAbortedError(
      "attempt.shutdown",
      "The process is shutting down: another one will run this.",
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
    // Outcomes, claims and triggers that are on their way to the database.
    await this.#waitUntil(() => this.held === 0 && this.#claims === 0);
  }

  /** Takes places for a claim. One that isn't answered soon leaves them to others: what it gets then waits for room. */
  #reserve(places: number): Reservation {
    const takeOver = this.takesOver && !this.#takesOver && places > 0; // it needs a place of its own
    let left = places;
    const end = () => {
      timer.cancel();
      this.#reserved -= left;
      this.#reservedByClaims -= left;
      left = 0;
      if (takeOver) this.#takesOver = false;
      for (const onRoom of this.#awaiting.splice(0)) onRoom();
    };
    const timer = this.#options.clock.setTimer(end, LONGEST_RESERVATION_MS);
    this.#reserved += places;
    this.#reservedByClaims += places;
    if (takeOver) this.#takesOver = true;
    const take = () => {
      if (left === 0) return false;
      left--;
      this.#reservedByClaims--;
      return true;
    };
    return { places, takeOver, take, end };
  }

  /** Those that have a place begin at once, the rest as soon as they can. */
  async #claim(source: WorkSource, limit: number, reservation: Reservation): Promise<number> {
    const { clock, leaseMs, nextToken, onError } = this.#options;
    const requestedAt = clock.monotonic();
    const { places, takeOver } = reservation;
    const lock = nextToken();
    const request = { limit, takeOver, mostLost: places, places, lock, leaseMs };
    const claimed = await source.claim(request).catch((error: unknown) => {
      if (isUnanswered(error)) this.#lostClaims.addClaim(source, lock);
      throw error;
    });
    this.#pace.noteClaim(clock.monotonic() - requestedAt);
    // A lease that can have run out starts nothing. It is given back before we claim again, or we might take it over ourselves.
    if (this.#stopping || clock.monotonic() - requestedAt >= leaseMs) {
      await Promise.all(claimed.map((work) => work.release().catch(onError)));
      return claimed.length;
    }
    for (const work of claimed) {
      this.#leases.hold(work, source, requestedAt);
      const placed = reservation.take();
      if (work.recovered) {
        if (!placed) this.#reserved++;
        this.#recovered.push(work);
      } else if (placed) this.#start(work);
      else this.#ahead.push(work);
    }
    this.#startAhead(); // what ran when we asked may have ended meanwhile
    if (this.#ahead.length > 0) this.#watchAhead();
    return claimed.length;
  }

  /** Handlers have become slow: somebody else may have places. */
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

  /** Turns a reserved place into a running one. */
  #start(work: Work): void {
    this.#reserved--;
    this.#running.add(work);
    void this.#run(work);
  }

  /** In the next turn of the event loop: many fast handlers in a row must not keep everything else waiting. */
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
      this.#running.size + this.#reserved < this.#options.concurrency &&
      !this.#stopping
    ) {
      this.#reserved++;
      this.#start(this.#ahead.shift() as Work);
    }
  }

  /** First what was lost once, all of it together; then the rest, one by one. */
  async #recover(recovered: readonly Work[]): Promise<void> {
    this.#recovering = true;
    this.#quiet = true;
    const isAlone = ({ solitudeMs = null }: Work) => solitudeMs !== null;
    const together = recovered.filter((work) => !isAlone(work));
    await this.#waitUntil(() => this.held === recovered.length || this.#stopping, ISOLATION_MS);
    for (const work of together) {
      // Their claim may have left its places to others.
      await this.#waitUntil(() => this.#running.size < this.#options.concurrency || this.#stopping, ISOLATION_MS);
      this.#start(work);
    }
    await this.#waitUntil(() => !together.some((work) => this.#running.has(work)), ISOLATION_MS);
    for (const work of recovered.filter(isAlone)) await this.#runAlone(work);
    this.#quiet = false;
    this.#ended();
    this.#recovering = false;
    this.#options.onTakeOver();
  }

  /** Others may start beside it sooner than what is as suspect as it is. */
  async #runAlone(work: Work): Promise<void> {
    this.#quiet = true;
    this.#start(work);
    await this.#waitUntil(() => !this.#running.has(work), ISOLATION_MS);
    this.#quiet = false;
    this.#ended();
    await this.#waitUntil(() => !this.#running.has(work), (work.solitudeMs ?? ISOLATION_MS) - ISOLATION_MS);
  }

  async #run(work: Work): Promise<void> {
    try {
      // A lease that ran out before anything began isn't an attempt: if the row is still ours, it is as good as never claimed.
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
    this.#tellWaiting();
    this.#options.onRoom();
  }

  #tellWaiting(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async #waitUntil(condition: () => boolean, milliseconds?: number): Promise<void> {
    const timeout = new AbortController();
    let late = milliseconds === 0;
    if (milliseconds !== undefined && !late) {
      void pause(this.#options.clock, milliseconds, timeout.signal).then(() => {
        late = true;
        this.#ended();
      });
    }
    while (!condition() && !late) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    timeout.abort();
  }
}

/** Places in a worker, for what a claim gets. */
interface Reservation {
  readonly places: number;
  /** Whether one may be for work whose owner was lost. */
  readonly takeOver: boolean;
  /** Takes one of them, if they weren't given to others meanwhile. */
  take(): boolean;
  /** The rest is free. */
  end(): void;
}

/** A place in a worker, for work that is written as already claimed. */
export interface Place {
  readonly lock: string;
  readonly leaseMs: number;
  /** By the monotonic clock: the work is written later. */
  readonly requestedAt: number;
  start(work: Work, source: WorkSource): void;
  /** With `giveBack`, it isn't known whether the row was written. */
  cancel(giveBack?: GiveBack): void;
}
