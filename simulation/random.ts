import type { Randomness } from "../src/randomness.ts";

/** All randomness of a simulated world: the same seed gives the same numbers on every machine. */
export class SeededRandomness implements Randomness {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
    for (let round = 0; round < 4; round++) this.fraction(); // neighbouring seeds begin alike
  }

  /** mulberry32 */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.integer(0, 255));
  }

  /** Both ends included. */
  integer(least: number, most: number): number {
    return least + Math.floor(this.fraction() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.integer(0, items.length - 1)] as Item;
  }

  /** One of the names, each as often as its weight says. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const entries = Object.entries<number>(weights) as [Name, number][];
    let rest = this.fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      rest -= weight;
      if (rest < 0) return name;
    }
    return (entries.at(-1) as [Name, number])[0];
  }

  /** Chooses some of these more often and some never, so that each world has a character of its own. */
  emphasize<Name extends string>(weights: Readonly<Record<Name, number>>): Record<Name, number> {
    const changed = Object.entries<number>(weights).map(([name, weight]) => [name, weight * this.pick([0, 1, 1, 5])]);
    const someLeft = changed.some(([, weight]) => Number(weight) > 0);
    return someLeft ? Object.fromEntries(changed) : { ...weights };
  }

  /** Another source, which depends on this one only by the time at which it was made. */
  fork(): SeededRandomness {
    return new SeededRandomness(this.integer(0, 2 ** 32 - 1));
  }
}
