import { type Clock, pause } from "../clock.ts";
import { Backoff, WakeTimer } from "../queue/wake-timer.ts";
import type { WorkNotice, WorkTaker } from "../store/queue/work-board.ts";
import type { Store } from "../store/store.ts";
import { loggedError } from "../values/index.ts";
import { topicOf } from "./subject-ledger.ts";
import { type PoolOptions, SubjectPool } from "./subject-pool.ts";

interface LoopOptions extends Omit<PoolOptions, "onRoom"> {
  /** Called once before the first claim; tried again while the database is unreachable. */
  readonly prepare: () => Promise<void>;
}

/** How often to look in any case, if other processes can announce their work and if they can't. */
const SAFETY_POLL_MS = 30_000;
const POLL_MS = 2000;

/**
 * Handles the subjects of one dispatcher for as long as the application runs. It sleeps until the earliest is due, or until a
 * notice arrives; it asks for that one time only, for any number of resting subjects.
 */
export class SubjectLoop implements WorkTaker {
  readonly #options: LoopOptions;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #pool: SubjectPool;
  readonly #timer: WakeTimer;
  readonly #backoff: Backoff;
  readonly #topic: string;
  #loop: Promise<void> | undefined;
  #prepared = false;
  #stopping = false;
  /** When to claim and when to ask for the next wake, by the monotonic clock. */
  #claimAt = 0;
  #askAt = 0;
  /** Whether a notice has arrived since the last claim began. */
  #noticed = false;

  constructor(options: LoopOptions) {
    this.#options = options;
    this.#store = options.store;
    this.#clock = options.store.clock;
    this.#timer = new WakeTimer(options.store.clock);
    this.#backoff = new Backoff(options.store.randomness);
    this.#topic = topicOf(options.ledger.scope);
    this.#pool = new SubjectPool({ ...options, onRoom: () => this.#timer.nudge() });
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Looks now. */
  wake(): void {
    this.#claimAt = this.#clock.monotonic();
    this.#noticed = true;
    this.#timer.nudge();
  }

  /** Milliseconds until a subject is due; null if none waits. */
  nextWake(): Promise<number | null> {
    return this.#options.ledger.nextWake();
  }

  /**
   * For short-lived processes: handles due subjects until there are none, or until the deadline. Returns how many. With
   * `listens`, subjects that become due meanwhile are claimed at once.
   */
  async drain(deadlineMs: number, listens: () => boolean): Promise<number> {
    await this.#prepare();
    return drainSubjects({ ...this.#options, listens }, deadlineMs);
  }

  /** Shuts down: claims no more, waits for running handlers, and after the deadline releases the rest. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopping = true;
    this.#timer.nudge();
    await this.#pool.stop(deadlineMs);
    await this.#loop;
  }

  notice({ namespace, delayMs }: WorkNotice): boolean {
    if (this.#stopping || (namespace !== null && namespace !== this.#topic)) return false;
    this.#claimAt = Math.min(this.#claimAt, this.#clock.monotonic() + delayMs);
    this.#noticed = true;
    this.#timer.nudge();
    return this.#pool.room > 0;
  }

  /** Subjects aren't born claimed. */
  reserve(): null {
    return null;
  }

  async #run(): Promise<void> {
    const leave = this.#store.work.join(this, { listens: true });
    try {
      while (!this.#stopping) {
        await this.#attempt();
        if (!this.#stopping)
          await this.#timer.sleep(Math.min(this.#pool.room > 0 ? this.#claimAt : this.#askAt, this.#askAt));
      }
    } finally {
      leave();
    }
  }

  /** The database may be unreachable: logs the error, and tries again later. */
  async #attempt(): Promise<void> {
    try {
      await this.#prepare();
      await this.#turn();
    } catch (error) {
      if (this.#stopping) return;
      const { logger, stackTraces } = this.#store;
      logger.error("Subjects could not be claimed; trying again.", { error: loggedError(error, stackTraces) });
      this.#claimAt = this.#clock.monotonic() + this.#backoff.next();
      this.#askAt = this.#claimAt;
    }
  }

  async #prepare(): Promise<void> {
    if (!this.#prepared) await this.#options.prepare();
    this.#prepared = true;
  }

  async #turn(): Promise<void> {
    const now = this.#clock.monotonic();
    if (this.#pool.room === 0 || now < this.#claimAt) {
      if (now >= this.#askAt) await this.#askForNextWake();
      return;
    }
    this.#claimAt = Number.POSITIVE_INFINITY; // notices that arrive meanwhile set it again
    this.#noticed = false;
    const { asked, claimed } = await this.#pool.fill(null);
    if (claimed === asked) {
      this.#claimAt = now; // more may be due
      return;
    }
    await this.#askForNextWake();
    // Due before the claim, but nothing was claimed: another process is just taking it, unless a notice arrived meanwhile.
    if (claimed > 0 || this.#noticed || this.#claimAt > now) this.#backoff.reset();
    else this.#claimAt = this.#clock.monotonic() + this.#backoff.next();
  }

  async #askForNextWake(): Promise<void> {
    const askedAt = this.#clock.monotonic();
    const remaining = await this.#options.ledger.nextWake();
    if (remaining !== null) this.#claimAt = Math.min(this.#claimAt, askedAt + remaining);
    const interval = this.#store.work.connected ? SAFETY_POLL_MS : POLL_MS;
    this.#askAt = askedAt + interval * (1 + this.#store.randomness.fraction() / 5);
  }
}

interface DrainOptions extends Omit<PoolOptions, "onRoom"> {
  /** Whether to claim what becomes due meanwhile as soon as it does. */
  readonly listens: () => boolean;
}

/**
 * Handles due subjects of one dispatcher until there are none or until the deadline; then releases the running ones. Returns
 * how many it claimed.
 */
async function drainSubjects(options: DrainOptions, deadlineMs: number): Promise<number> {
  const { ledger, listens, store } = options;
  const { clock } = store;
  const endAt = clock.monotonic() + deadlineMs;
  const topic = topicOf(ledger.scope);
  let wake = new AbortController();
  const pool = new SubjectPool({ ...options, onRoom: () => wake.abort() });
  const taker: WorkTaker = {
    notice: ({ namespace, delayMs, remote = false }) => {
      const concerned = namespace === null || namespace === topic;
      if (remote || !concerned || delayMs > 0 || !listens()) return false;
      wake.abort();
      return pool.room > 0;
    },
    reserve: () => null,
  };
  const leave = store.work.join(taker, { listens: false });
  let total = 0;
  try {
    while (clock.monotonic() < endAt) {
      wake = new AbortController();
      const idle = pool.running === 0; // read before the claim: a handler that ends meanwhile may make subjects due that the claim doesn't see
      const { claimed } = await pool.fill(null);
      total += claimed;
      if (claimed > 0) continue;
      if (idle && !wake.signal.aborted) break;
      await pause(clock, endAt - clock.monotonic(), wake.signal);
    }
  } finally {
    leave();
    await pool.stop(Math.max(endAt - clock.monotonic(), 0));
  }
  return total;
}
