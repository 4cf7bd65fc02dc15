import type { Clock, Timer } from "../../src/clock.ts";
import type { Lane, World } from "../world.ts";

/**
 * The clock of one process: the world's time, wrong by some amount. Timers and turns of the event loop are events of its lane.
 */
export class SimulatedClock implements Clock {
  readonly controlled = true;
  /** By how much the process is mistaken about the time of day. */
  skew = 0;
  readonly #world: World;
  readonly #lane: Lane;
  #bornAt: number;

  constructor(world: World, lane: Lane) {
    this.#world = world;
    this.#lane = lane;
    this.#bornAt = world.now;
  }

  now(): number {
    return this.#world.now + this.skew;
  }

  monotonic(): number {
    return this.#world.now - this.#bornAt;
  }

  /** Breaks its promise: some time has not passed. */
  lose(milliseconds: number): void {
    this.#bornAt += milliseconds;
  }

  setTimer(callback: () => void, milliseconds: number): Timer {
    return this.#world.schedule(this.#lane, milliseconds, callback);
  }

  defer(callback: () => void): void {
    this.#world.schedule(this.#lane, 0, callback);
  }
}

/**
 * The clock of the database. It is a server with one call at a time, so its answers don't wait for turns of any process' event
 * loop.
 */
export class DatabaseClock extends SimulatedClock {
  override defer(callback: () => void): void {
    callback();
  }
}
