import { describe, expect, test } from "vitest";
import { simulate } from "../../simulation/simulate.ts";
import type { Violation } from "../../simulation/world.ts";
import { MUTATIONS } from "./mutations.ts";

/** As many as are simulated without a mutation. */
const SEEDS = 200;

describe("a simulation without one protection", () => {
  test.each(MUTATIONS)("fails when $name", async ({ options, seed: first = 1 }) => {
    let violation: Violation | null = null;
    for (let count = 0; count < SEEDS && violation === null; count++) {
      ({ violation } = await simulate(((first - 1 + count) % SEEDS) + 1, options));
    }
    expect(violation).not.toBeNull();
  });
});
