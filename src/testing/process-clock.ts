import type { Clock, Timer } from "../clock.ts";

/** The shared time, as one process sees it: its timers die with it. */
export class ProcessClock implements Clock {
  readonly controlled = true;
  readonly #shared: Clock;
  readonly #timers = new Set<Timer>();
  #dead = false;

  constructor(shared: Clock) {
    this.#shared = shared;
  }

  now(): number {
    return this.#shared.now();
  }

  monotonic(): number {
    return this.#shared.monotonic();
  }

  setTimer(callback: () => void, milliseconds: number): Timer {
    if (this.#dead) return { cancel: () => {} };
    const timer = this.#shared.setTimer(() => {
      this.#timers.delete(timer);
      callback();
    }, milliseconds);
    this.#timers.add(timer);
    return {
      cancel: () => {
        this.#timers.delete(timer);
        timer.cancel();
      },
    };
  }

  defer(callback: () => void): void {
    this.#shared.defer(() => {
      if (!this.#dead) callback();
    });
  }

  kill(): void {
    this.#dead = true;
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }
}
