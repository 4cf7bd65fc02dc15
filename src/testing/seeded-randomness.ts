import type { Randomness } from "../randomness.ts";

/** Randomness that is the same for the same seed (mulberry32): good enough for tests, and for nothing else. */
export function seededRandomness(seed: number): Randomness {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return {
    fraction: () => next() / 2 ** 32,
    bytes: (length) => Uint8Array.from({ length }, () => next() & 255),
  };
}
