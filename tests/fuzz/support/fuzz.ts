import fc from "fast-check";
import type { Recipe } from "./hostile.ts";

const RUNS = Number(process.env.FUZZ_RUNS ?? 150);
const SEED = Number(process.env.FUZZ_SEED ?? 20_310_506);

/** Tries it with many inputs: `FUZZ_RUNS` of them (default: 150), chosen by `FUZZ_SEED`. */
export async function fuzz<Inputs extends [unknown, ...unknown[]]>(
  recipes: { [Index in keyof Inputs]: fc.Arbitrary<Recipe<Inputs[Index]>> },
  body: (...inputs: Inputs) => unknown,
): Promise<void> {
  const property = fc.asyncProperty(fc.tuple(...(recipes as fc.Arbitrary<Recipe>[])), async (chosen) => {
    await body(...(chosen.map(({ make }) => make()) as Inputs));
  });
  await fc.assert(property, { numRuns: RUNS, seed: SEED, endOnFailure: process.env.FUZZ_SHRINK === undefined });
}
