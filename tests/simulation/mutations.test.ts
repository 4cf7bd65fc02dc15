import { describe, expect, it } from "vitest";
import { simulate } from "../../simulation/simulate.ts";
import type { Violation } from "../../simulation/world.ts";
import { MUTATIONS } from "./mutations.ts";

/** As many as are simulated without a mutation. */
const SEEDS = 200;

describe("a simulation without one protection", () => {
  it.each(MUTATIONS)("fails when $name", { timeout: 180_000 }, async ({ options }) => {
    let violation: Violation | null = null;
    for (let seed = 1; seed <= SEEDS && violation === null; seed++) {
      ({ violation } = await simulate(seed, options));
    }
    expect(violation).not.toBeNull();
  });
});
