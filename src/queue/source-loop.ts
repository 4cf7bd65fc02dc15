import type { Clock } from "../clock.ts";
import type { Randomness } from "../randomness.ts";
import type { LoopRounds } from "../store/queue/rounds.ts";
import type { WorkerInsert } from "../store/workers/worker-records.ts";
import { Chore } from "./chore.ts";
import type { Heartbeat } from "./heartbeat.ts";
import { Hesitation } from "./hesitation.ts";
import type { ProcessorSource } from "./processor.ts";
import { Backoff, FIRST_BACKOFF_MS, WakeTimer } from "./wake-timer.ts";
import type { Worker } from "./worker.ts";

interface SourceLoopOptions {
  readonly source: ProcessorSource;
  readonly worker: Worker;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** How often to look for work of other processes if they can't announce it. */
  readonly pollIntervalMs: number;
  /** Of the worker in the source's database; null if it has none there. */
  readonly heartbeat: Heartbeat | null;
  /** A claim of this loop got something. */
  readonly onServed: () => void;
  readonly onError: (error: unknown) => void;
}

/** How often to look in any case if they can. */
const SAFETY_POLL_MS = 30_000;
/**
 * After a notice of another process, the loop looks once more: notices that follow each other too fast are delayed, and the
 * process may end before it sends the last one.
 */
const LOOK_AGAIN_MS = 100;
const PURGE_INTERVAL_MS = 3_600_000;
const PURGE_RETRY_MS = 60_000;

/**
 * Decides when to claim from one source. It sleeps until the earliest time at which something is due, or until a notice says
 * that there is work; an idle loop asks the database nothing but a slow safety poll.
 *
 *     sleeping --(due, notice, wake)--> claiming --(got less than asked: ask for the next wake)--> sleeping
 *                                         |  ^
 *                          (got all it asked for: more may be due)
 *                                         v  |
 *                                  waiting for room
 *
 * Each source has its own loop, and its chores run beside its claims: a database, a table or a chore that fails or doesn't
 * answer delays nothing else. The loops of one kind of work share slots.
 */
export class SourceLoop {
  readonly source: ProcessorSource;
  readonly #options: SourceLoopOptions;
  readonly #clock: Clock;
  readonly #worker: Worker;
  readonly #backoff: Backoff;
  readonly #hesitation: Hesitation;
  readonly #timer: WakeTimer;
  readonly #tending: Chore;
  readonly #purging: Chore;
  #loop: Promise<void> | undefined;
  #started = false;
  #stopping = false;
  /** When to claim next, by the monotonic clock. */
  #claimAt = 0;
  /**
   * When an answer that was given while the worker held work says to claim: perhaps one of the worker's own leases ends then.
   */
  #doubtfulAt: number | null = null;
  /** When to ask for the next wake, by the monotonic clock. */
  #askAt = 0;
  #lookAgainAt = 0;
  /** Until when due work is left to another process that is just claiming it. */
  #backoffUntil = 0;
  #backlog = false;
  /** Whether a notice has arrived since the last claim began. */
  #noticed = false;
  readonly #onRoom = () => this.nudge();

  constructor(options: SourceLoopOptions) {
    const { clock, randomness, onError } = options;
    this.source = options.source;
    this.#options = options;
    this.#clock = clock;
    this.#worker = options.worker;
    this.#backoff = new Backoff(randomness);
    this.#hesitation = new Hesitation(clock);
    this.#timer = new WakeTimer(clock);
    const pauses = new Backoff(randomness);
    this.#tending = new Chore({
      clock,
      body: async () => {
        const remaining = (await this.source.tend?.()) ?? null;
        pauses.reset();
        // Due, but another process is just doing it.
        return remaining === null || remaining > 0 ? remaining : FIRST_BACKOFF_MS;
      },
      onFailure: (error) => {
        onError(error);
        return pauses.next();
      },
    });
    this.#purging = new Chore({
      clock,
      body: () => this.#purge(),
      onFailure: (error) => {
        onError(error);
        return PURGE_RETRY_MS;
      },
    });
  }

  /** Whether a notice has arrived that the loop hasn't acted on. */
  get noticed(): boolean {
    return this.#noticed;
  }

  /** Whether the last claim got as many rows as it asked for: then older work comes first. */
  get backlog(): boolean {
    return this.#backlog;
  }

  start(): void {
    this.#started = true;
    this.wake();
    this.#purging.within(60_000 * this.#options.randomness.fraction());
    if (this.source.tendsOnly !== true) this.#loop = this.#run(this.source.store.rounds.start());
  }

  /** Looks for work now. */
  wake(): void {
    this.#claimAt = this.#clock.monotonic();
    this.#askAt = this.#claimAt;
    this.#noticed = true;
    this.#tend();
    this.nudge();
  }

  /** Work is due after this time. `remote`: another process sent the notice. */
  notice(delayMs: number, remote = false): void {
    if (remote) this.#lookAgainAt = this.#clock.monotonic() + LOOK_AGAIN_MS;
    this.#claimAt = Math.min(this.#claimAt, this.#clock.monotonic() + delayMs);
    this.#noticed = true;
    if (delayMs === 0) this.#tend();
    this.nudge();
  }

  async survey(): Promise<void> {
    if (await this.source.survey?.()) this.wake();
  }

  /** The worker may have room. */
  nudge(): void {
    this.#timer.nudge();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.nudge();
    await Promise.all([this.#loop, this.#tending.stop(), this.#purging.stop()]);
    // Other processes weren't told, because this one was about to claim it.
    if (!this.#noticed || this.source.tendsOnly === true) return;
    for (const namespace of this.source.namespaces) this.source.store.work.announce(namespace);
  }

  /** Runs due work once. Rejects if its database can't be used. */
  async drainOnce(): Promise<"something" | "nothing" | "no room"> {
    this.#noticed = false;
    await this.source.tend?.();
    const claims = this.source.tendsOnly !== true;
    const { asked, claimed } = claims ? await this.#fill() : { asked: 0, claimed: 0 };
    if (claimed > 0 || this.#noticed) return "something"; // a notice arrived meanwhile
    if (asked > 0 || !claims) return "nothing";
    this.#worker.awaitRoom(this.source, this.#onRoom);
    return "no room";
  }

  /** Sleeps until that monotonic time, or until a nudge. */
  sleep(until: number): Promise<void> {
    return this.#timer.sleep(until);
  }

  /** A drain tends by itself. */
  #tend(): void {
    if (this.#started && this.source.tend !== undefined) this.#tending.within(0);
  }

  async #run(rounds: LoopRounds): Promise<void> {
    while (!this.#stopping) {
      try {
        await this.#turn();
        rounds.completed(this.#askAt);
      } catch (error) {
        this.#fail(error);
      }
      if (!this.#stopping) await this.sleep(this.#nextTime());
    }
    rounds.stop();
  }

  async #turn(): Promise<void> {
    const now = this.#clock.monotonic();
    const claims = this.#backlog || now >= this.#claimAt;
    // The work that was held has probably ended since: then asking costs one statement, and claiming nothing would cost two.
    if (claims && !this.#backlog && this.#claimAt === this.#doubtfulAt) return this.#askForNextWake();
    if (claims && this.#worker.wantedFrom(this.source) > 0) return this.#claim();
    if (now >= this.#askAt) await this.#askForNextWake();
  }

  async #claim(): Promise<void> {
    this.#claimAt = Number.POSITIVE_INFINITY; // notices that arrive meanwhile set it again
    this.#backoffUntil = 0;
    this.#noticed = false;
    const startedAt = this.#clock.monotonic();
    const { asked, claimed } = await this.#fill();
    this.#backlog = claimed === asked;
    if (this.#backlog) return;
    await this.#askForNextWake();
    // Due before the claim, but nothing was claimed: another process is just taking it, unless a notice arrived meanwhile.
    const contended = claimed === 0 && !this.#noticed && this.#claimAt <= startedAt;
    if (!contended) return this.#backoff.reset();
    this.#backoffUntil = this.#clock.monotonic() + this.#backoff.next();
    this.#claimAt = this.#backoffUntil;
  }

  async #fill(): Promise<{ asked: number; claimed: number }> {
    const startedAt = this.#clock.monotonic();
    const filled = await this.#worker.fill(this.source, { takesOver: this.#hesitation.over });
    if (filled.asked > 0) {
      this.#hesitation.answered();
      const meter = this.source.store.meter.claims[this.source.kind];
      meter.claimed += filled.claimed;
      meter.duration.add((this.#clock.monotonic() - startedAt) / 1000);
    }
    if (filled.claimed > 0) this.#options.onServed();
    return filled;
  }

  async #askForNextWake(): Promise<void> {
    const { pollIntervalMs, randomness } = this.#options;
    const holdsWork = this.#worker.held > 0;
    if (this.#claimAt === this.#doubtfulAt) this.#claimAt = Number.POSITIVE_INFINITY; // the answer says when
    const askedAt = this.#clock.monotonic();
    const takeOver = this.#worker.takesOver && this.#hesitation.over;
    const ask = (worker?: WorkerInsert) => this.source.nextWake({ takeOver, worker });
    const { heartbeat } = this.#options;
    const remaining = await (heartbeat !== null && this.source.carriesBeats ? heartbeat.carriedBy(ask) : ask());
    this.#claimAt = Math.min(this.#claimAt, this.#hesitation.endsAt);
    if (remaining !== null) {
      const dueAt = Math.max(askedAt + remaining, this.#backoffUntil);
      this.#claimAt = Math.min(this.#claimAt, dueAt);
      this.#doubtfulAt = holdsWork && remaining > 0 ? dueAt : null;
    }
    const interval = this.source.store.work.connected ? Math.max(SAFETY_POLL_MS, pollIntervalMs) : pollIntervalMs;
    this.#askAt = askedAt + interval * (1 + randomness.fraction() / 5);
    if (this.#lookAgainAt > askedAt) this.#askAt = Math.min(this.#askAt, this.#lookAgainAt);
  }

  /** The database may be unreachable: reports the error, and tries again later. */
  #fail(error: unknown): void {
    this.#options.onError(error);
    this.#hesitation.begin();
    this.#backlog = false;
    this.#claimAt = this.#clock.monotonic() + this.#backoff.next();
    this.#askAt = this.#claimAt;
  }

  /**
   * Without room, also when the claim of another loop frees the slots that it has reserved. The end of work nudges all loops.
   */
  #nextTime(): number {
    if (this.#worker.wantedFrom(this.source) > 0) return this.#backlog ? 0 : Math.min(this.#claimAt, this.#askAt);
    this.#worker.awaitRoom(this.source, this.#onRoom);
    return this.#askAt;
  }

  /** Deletes in small pieces; the rest follows another time if the loop stops. */
  async #purge(): Promise<number> {
    while (!this.#stopping && (await this.source.purge())) {
      await new Promise<void>((resolve) => this.#clock.defer(resolve));
    }
    if (!this.#stopping) await this.survey();
    return PURGE_INTERVAL_MS;
  }
}
