import { describe, expect, test } from "vitest";
import { simulateSubjects } from "../../simulation/subjects/simulate-subjects.ts";
import { type Mutation, rewriting } from "./rewriting.ts";

const SEEDS = 200;
/** A mutation must be noticed within so many worlds. */
const MUTATION_SEEDS = 60;

const CHANGE = /^update perdure_subject set\s+status = case \?12/;

/** Each protection of subjects, switched off. */
const MUTATIONS: Mutation[] = [
  rewriting("a change is written at any revision", [[CHANGE, "revision = ?4", "?4 is not null"]]),
  rewriting("a change that is sent again isn't recognised, and is written again", [
    [CHANGE, "revision = ?4", "revision - 1 <= ?4"],
  ]),
  rewriting("a claim takes a subject that an owner has", [
    [
      /^select subject_key, available_at from perdure_subject\s+where profile = \? and dispatcher_id = \? and available_at/,
      "available_at <= ?",
      "available_at <= ? + 5000",
    ],
  ]),
  rewriting("a claim moves no revision", [
    [/^update perdure_subject set\s+status = 'leased'/, "revision = revision + 1", "revision = revision"],
  ]),
  rewriting("a sync touches what is leased or running", [
    [/^update perdure_subject set\s+group_key/, "lease_owner is null", "true"],
  ]),
  rewriting("a sync begins a subject anew whose owner was lost", [
    [/^update perdure_subject set\s+group_key/, "lease_owner is null", "(lease_owner is null or available_at <= ?8)"],
  ]),
  rewriting("a sync takes cursors back", [
    [/^update perdure_subject set\s+group_key/, "?5 is null or ?9", "?5 is null"],
  ]),
];

describe("a simulated world of subjects", () => {
  test(`keeps every promise with ${SEEDS} seeds`, { timeout: 300_000 }, async () => {
    let [changes, refusals, takeovers, resets] = [0, 0, 0, 0];
    for (let seed = 1; seed <= SEEDS; seed++) {
      const result = await simulateSubjects(seed);
      expect(result.violation, `seed ${seed}\n${result.trace.slice(-60).join("\n")}`).toBeNull();
      changes += result.changes;
      refusals += result.refusals;
      takeovers += result.takeovers;
      resets += result.resets;
    }
    // What these worlds are there for does happen in them.
    expect(changes).toBeGreaterThan(SEEDS * 5);
    expect(refusals).toBeGreaterThan(SEEDS / 4);
    expect(takeovers).toBeGreaterThan(SEEDS / 4);
    expect(resets).toBeGreaterThan(SEEDS / 4);
  });

  test("is the same each time, byte for byte", async () => {
    for (const seed of [3, 17]) {
      const [first, second] = [await simulateSubjects(seed), await simulateSubjects(seed)];
      expect(second).toEqual(first);
      expect(first.trace.length).toBeGreaterThan(50);
    }
  });

  test.each(MUTATIONS)("notices when $name", async ({ options }) => {
    for (let seed = 1; seed <= MUTATION_SEEDS; seed++) {
      if ((await simulateSubjects(seed, options)).violation !== null) return;
    }
    expect.fail(`${MUTATION_SEEDS} worlds, and no invariant noticed.`);
  });
});
