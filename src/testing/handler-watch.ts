import process from "node:process";
import { setTimeout } from "node:timers";
import { PerdureError } from "../errors.ts";
import { settle } from "./controlled-clock.ts";

/** Taken at once: test runners replace the timers by fake ones. */
const realTimeout = setTimeout;

type Handler = (...parameters: never[]) => unknown;

/** How long code may take to do something that isn't seen from here, such as to compute a hash in another thread. */
const PATIENCE_MS = 50;
/** How long `advance` waits for code that has timers, files or connections open and does nothing else. */
const LONGEST_WAIT_MS = 2000;
/** After so long without anything to wait for, `runUntilIdle` says what it waits for, and throws. */
const STUCK_MS = 3000;
/** The same while timers, files or connections are open: they may still bring something. */
const LONG_STUCK_MS = 60_000;

/** Other work that runs in a process. */
export interface OtherWork {
  /** How many wait for time to pass, or for something to arrive, and do nothing else. */
  readonly waiting: number;
  /** Names those that do something. */
  readonly busy: readonly string[];
}

interface HandlerWatchOptions {
  /** Calls a handler. */
  readonly enter: (handler: () => unknown) => unknown;
  /** Counts the answers that its process got from the database. */
  readonly replies: () => number;
  readonly others: () => OtherWork;
  /** Whether its process is dead, and with it what still seems to run. */
  readonly isDead: () => boolean;
}

/** Knows which handlers run, and tells those that wait for time to pass from those that are busy. */
export class HandlerWatch {
  readonly #options: HandlerWatchOptions;
  readonly #real = new RealActivity();
  readonly #running = new Map<symbol, string>();
  /** Units of work that are open: until they end, nothing else reaches the database. */
  #open = 0;
  #startsAndEnds = 0;
  /** The handlers that ran when all were found to be waiting; they aren't awaited again until one starts or ends. */
  #stalled: string | null = null;

  constructor(options: HandlerWatchOptions) {
    this.#options = options;
  }

  /** `label` names the handler to a test that waits for it. */
  watch<Watched extends Handler>(handler: Watched, label: string): Watched {
    const watched = (...parameters: never[]) =>
      this.#track(label, async () => this.#options.enter(() => handler(...parameters)));
    return watched as unknown as Watched;
  }

  /** Watches the body of a unit of work, whichever code has begun it. */
  watchUnitOfWork<Body extends Handler>(body: Body): Body {
    const watched = async (...parameters: never[]) => {
      this.#open++;
      try {
        return await this.#track("a unit of work", async () => body(...parameters));
      } finally {
        this.#open--;
      }
    };
    return watched as unknown as Body;
  }

  /**
   * Resolves when `work` is over and nothing runs any more, or as soon as all that is left is known to wait for time to pass.
   * With `untilStalled` also when the rest shows no activity: then it waits for time too, or for the test. Without it, such
   * handlers are awaited, and after a while the call rejects with their names. An open unit of work makes it reject in any
   * case, because nothing else can use the database while it is open.
   */
  async untilWaiting(work: Promise<void>, { untilStalled }: { untilStalled: boolean }): Promise<void> {
    const progress = { over: false };
    const finished = work.finally(() => {
      progress.over = true;
    });
    finished.catch(() => {}); // reported below
    let quietMs = 0;
    for (;;) {
      const before = this.#activity;
      await settle();
      if (this.#options.isDead()) break;
      if (before !== this.#activity) {
        quietMs = 0;
        continue;
      }
      const { waiting, busy } = this.#options.others();
      const running = [...this.#running.values(), ...busy];
      if (running.length === 0 && (progress.over || waiting > 0)) break;
      const state = `${this.#startsAndEnds} ${running.join()}`;
      const mayStall = untilStalled && this.#open === 0;
      if (mayStall && running.length > 0 && this.#stalled === state && !this.#real.active) break;
      if (quietMs >= PATIENCE_MS && running.length > 0) {
        const stalled = !this.#real.active || quietMs >= LONGEST_WAIT_MS;
        if (stalled) this.#stalled = state;
        if (stalled && mayStall) break;
        if (!mayStall) this.#refuseStuck(quietMs, running);
      }
      await Promise.race([pause(PATIENCE_MS), progress.over ? pause(PATIENCE_MS) : finished.catch(() => {})]);
      quietMs += PATIENCE_MS;
    }
    if (progress.over) await finished;
  }

  async #track<Result>(label: string, body: () => Promise<Result>): Promise<Result> {
    const call = Symbol(label);
    this.#startsAndEnds++;
    this.#running.set(call, label);
    try {
      return await body();
    } finally {
      this.#running.delete(call);
      this.#startsAndEnds++;
    }
  }

  get #activity(): number {
    return this.#startsAndEnds + this.#options.replies();
  }

  #refuseStuck(quietMs: number, running: readonly string[]): void {
    if (quietMs < (this.#real.active ? LONG_STUCK_MS : STUCK_MS)) return;
    const waits = `waits for ${running.join(", ")}, which has done nothing for ${quietMs / 1000} s.`;
    const message =
      this.#open > 0
        ? `The test ${waits} A unit of work holds the database, so nothing else can run: let it end first.`
        : `runUntilIdle() ${waits} If it waits for the application's time, such as a timeout, use advance(); if it waits for the test, ` +
          "let it continue first.";
    throw new PerdureError("testing.stuck", message);
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => realTimeout(resolve, milliseconds));
}

/** The resources of a process that could still call back: timers, files, connections. */
type ActiveResources = ReadonlyMap<string, number>;

/** These are always there, or are ours. */
const IGNORED: readonly string[] = ["Immediate", "TTYWrap", "PipeWrap", "SignalWrap", "FSEventWrap"];

/**
 * Tells whether real input or output may be under way: whether more timers, files or connections are open than when this was
 * made. Code that waits while none is open waits for the test, or for the test's own time.
 */
class RealActivity {
  readonly #before = activeResources();

  get active(): boolean {
    for (const [kind, count] of activeResources()) if (count > (this.#before.get(kind) ?? 0)) return true;
    return false;
  }
}

function activeResources(): ActiveResources {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo?.() ?? []) {
    if (!IGNORED.includes(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}
