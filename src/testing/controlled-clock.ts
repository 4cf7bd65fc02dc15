import { setImmediate } from "node:timers";
import type { Clock, Timer } from "../clock.ts";

/** Taken at once: test runners replace the timers by fake ones that fire only when they are told to. */
const nextTurn = setImmediate;

interface WaitingTimer {
  readonly at: number;
  readonly callback: () => void;
}

/**
 * Time that stands still until a test moves it, in the databases too. Deferred callbacks are real macrotasks: they stand for
 * the event loop, not for time.
 */
export class ControlledClock implements Clock {
  readonly controlled = true;
  #now: number;
  #monotonic = 0;
  readonly #timers = new Set<WaitingTimer>();
  readonly #settle: () => Promise<void>;

  /** `settleAll` waits for what a timer has set off. */
  constructor(start: number = Date.UTC(2031, 4, 6, 12), settleAll: () => Promise<void> = settle) {
    this.#now = start;
    this.#settle = settleAll;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  /** Timers fire at whole milliseconds, as real ones do: the time of day must stay a whole number. */
  setTimer(callback: () => void, milliseconds: number): Timer {
    const timer = { at: this.#monotonic + Math.ceil(Math.max(milliseconds, 0)), callback };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  defer(callback: () => void): void {
    nextTurn(callback);
  }

  /** How many timers wait. */
  get timers(): number {
    return this.#timers.size;
  }

  /** Milliseconds until the next timer, or null if none waits. */
  get nextTimer(): number | null {
    const next = this.#earliest();
    return next === undefined ? null : next.at - this.#monotonic;
  }

  /** Moves on, and fires what comes due on the way, each at its own time. */
  advance(milliseconds: number): void {
    const end = this.#monotonic + milliseconds;
    while (this.#fireNext(end));
    this.#moveTo(end);
  }

  /** The same, and after each timer lets what it set off come to rest, as far as it needs no other process. */
  async advanceAndSettle(milliseconds: number): Promise<void> {
    const end = this.#monotonic + milliseconds;
    await this.#settle();
    while (this.#fireNext(end)) await this.#settle();
    this.#moveTo(end);
    await this.#settle();
  }

  /** Sets the time of day, as an administrator or a time server would. No timer fires. */
  set(now: number): void {
    this.#now = now;
  }

  #fireNext(end: number): boolean {
    const next = this.#earliest();
    if (next === undefined || next.at > end) return false;
    this.#timers.delete(next);
    this.#moveTo(Math.max(next.at, this.#monotonic));
    next.callback();
    return true;
  }

  /** Of two at the same time the one that was set first. */
  #earliest(): WaitingTimer | undefined {
    let earliest: WaitingTimer | undefined;
    for (const timer of this.#timers) if (earliest === undefined || timer.at < earliest.at) earliest = timer;
    return earliest;
  }

  #moveTo(monotonic: number): void {
    this.#now += monotonic - this.#monotonic;
    this.#monotonic = monotonic;
  }
}

const TURNS = 5;

/** Lets promises and deferred callbacks run until nothing in this process is left to do. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await new Promise<void>((resolve) => nextTurn(resolve));
}
