import type { Timer } from "../src/clock.ts";
import { SeededRandomness } from "./random.ts";

/** A sequence of events of its own in a simulated world: in a process, in the network, in the workload. */
export class Lane {
  readonly name: string;
  /** None of its events happens any more. */
  closed = false;
  /** Until then it stands still; its events of that time happen then, in their order. */
  frozenUntil = 0;

  constructor(name: string) {
    this.name = name;
  }
}

export interface Violation {
  readonly invariant: string;
  readonly details: string;
}

interface ScheduledEvent {
  readonly lane: Lane;
  readonly at: number;
  readonly callback: () => void;
}

const START = Date.UTC(2031, 4, 6, 12);
const MOST_STEPS = 100_000;

/**
 * Virtual time, and the order in which things happen. One event at a time; the next one is chosen only when everything that the
 * last one started has come to rest, so a run depends on nothing but its seed. Events of one lane keep their order; between
 * lanes with events at the same time, chance chooses.
 */
export class World {
  readonly random: SeededRandomness;
  readonly trace: string[] = [];
  now: number = START;
  steps = 0;
  violation: Violation | null = null;
  #events: ScheduledEvent[] = [];

  constructor(seed: number) {
    this.random = new SeededRandomness(seed);
  }

  /** Milliseconds since the world began. */
  get age(): number {
    return this.now - START;
  }

  schedule(lane: Lane, milliseconds: number, callback: () => void): Timer {
    if (lane.closed) return { cancel: () => {} };
    const event = { lane, at: this.now + Math.ceil(Math.max(milliseconds, 0)), callback };
    this.#events.push(event);
    return {
      cancel: () => {
        const index = this.#events.indexOf(event);
        if (index >= 0) this.#events.splice(index, 1);
      },
    };
  }

  /** Never resolves if the lane is closed before. */
  delay(lane: Lane, milliseconds: number): Promise<void> {
    return new Promise((resolve) => void this.schedule(lane, milliseconds, resolve));
  }

  close(lane: Lane): void {
    lane.closed = true;
    this.#events = this.#events.filter((event) => event.lane !== lane);
  }

  note(actor: string, text: string): void {
    this.trace.push(`${(this.age / 1000).toFixed(3).padStart(9)}  ${actor.padEnd(8)} ${text}`);
  }

  violate(invariant: string, details: string): void {
    this.note("!!!", `${invariant}: ${details}`);
    this.violation ??= { invariant, details };
  }

  /** Runs events until the condition holds, something is wrong, or the time is over. Returns whether it holds. */
  async runUntil(condition: () => boolean, milliseconds: number): Promise<boolean> {
    const end = this.now + milliseconds;
    while (!condition()) {
      if (this.violation !== null || !(await this.#step(end))) return false;
    }
    return true;
  }

  async #step(end: number): Promise<boolean> {
    if (this.#events.length === 0) await settled(); // a process that was just started has planned nothing yet
    const event = this.#next();
    if (event === undefined || timeOf(event) > end) {
      this.now = end;
      return false;
    }
    if (++this.steps > MOST_STEPS) {
      this.violate("the world comes to rest", `more than ${MOST_STEPS} events; the last is of ${event.lane.name}`);
      return false;
    }
    this.#events.splice(this.#events.indexOf(event), 1);
    this.now = Math.max(this.now, timeOf(event));
    event.callback();
    await settled();
    return true;
  }

  #next(): ScheduledEvent | undefined {
    let time = Number.POSITIVE_INFINITY;
    let firsts = new Map<Lane, ScheduledEvent>();
    for (const event of this.#events) {
      const at = timeOf(event);
      if (at > time) continue;
      if (at < time) firsts = new Map();
      time = at;
      const first = firsts.get(event.lane);
      if (first === undefined || event.at < first.at) firsts.set(event.lane, event);
    }
    const candidates = [...firsts.values()];
    return candidates.length > 1 ? this.random.pick(candidates) : candidates[0];
  }
}

/** Resolves when all promises that can be settled now are. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function timeOf({ at, lane }: ScheduledEvent): number {
  return Math.max(at, lane.frozenUntil);
}
