import type { Clock } from "../../clock.ts";

/** The turns of many executions, taken together: one visit of the event loop serves all of them. */
export class TurnQueue {
  readonly #clock: Clock;
  #turns: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls back after everything that is under way; what a turn asks for comes with the next visit. */
  add(turn: () => void): void {
    if (this.#turns.push(turn) === 1) this.#clock.defer(() => this.#takeAll());
  }

  #takeAll(): void {
    const turns = this.#turns;
    this.#turns = [];
    for (const turn of turns) turn();
  }
}
