import { describe, expect, test } from "vitest";
import { simulateGathering } from "../../simulation/simulate-gathering.ts";
import { type Mutation, overriding, rewriting } from "./rewriting.ts";

/** `npm run simulate -- --seeds 10000` goes further. */
const SEEDS = 60;
const PER_TEST = 20;

const MUTATIONS: readonly Mutation[] = [
  {
    name: "a wait is taken for stored that isn't",
    options: {
      wrapInstances: (statements) =>
        overriding(statements, { awaitEnds: async (requests) => requests.map(() => ({ result: "waiting" })) }),
    },
  },
  rewriting("only those that have an owner are told of an end", [
    [/^select wakes \+ 1 as sequence, class, paused, namespace/, "outcome is null", "outcome is null and class = 2"],
  ]),
  rewriting("an end that was told is told again", [
    [/^update perdure_instance set waiters = \?/, "= ?", "= coalesce(?, waiters)"],
  ]),
];

describe("a world of workflows that wait for each other's ends", () => {
  for (let first = 1; first <= SEEDS; first += PER_TEST) {
    test(`keeps every promise with the seeds ${first} to ${first + PER_TEST - 1}`, async () => {
      for (let seed = first; seed < first + PER_TEST; seed++) {
        const { violation, trace } = await simulateGathering(seed);
        expect(violation, `seed ${seed}\n${trace.slice(-60).join("\n")}`).toBeNull();
      }
    });
  }

  test.each(MUTATIONS)("shows when $name", async ({ options }) => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { violation } = await simulateGathering(seed, options);
      if (violation !== null) return;
    }
    expect.fail(`None of ${SEEDS} worlds has noticed.`);
  });
});
