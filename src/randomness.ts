/** The source of randomness: the system's in production, seeded in simulations. */
export interface Randomness {
  /** At least 0 and less than 1. */
  fraction(): number;
  bytes(length: number): Uint8Array;
}

export const systemRandomness: Randomness = {
  fraction: () => Math.random(),
  bytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
};
