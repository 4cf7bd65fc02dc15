import { describe, expect, test } from "vitest";
import type { WrapSources } from "../../simulation/databases/databases-process.ts";
import { simulateDatabases } from "../../simulation/databases/simulate-databases.ts";
import type { ProcessorSource } from "../../src/queue/processor.ts";

const SEEDS = 60;

/** A claim asks all databases first, and waits for their answers. */
function askingAll(sources: readonly ProcessorSource[]): ProcessorSource[] {
  return sources.map(
    (source) =>
      new Proxy(source, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name);
          if (typeof value !== "function") return value;
          if (name !== "claim") return value.bind(target);
          return async (...given: unknown[]) => {
            for (const other of sources) await other.nextWake({ takeOver: true });
            return value.apply(target, given);
          };
        },
      }),
  );
}

/** The second database is forgotten. */
function onlyFirst(sources: readonly ProcessorSource[]): ProcessorSource[] {
  return sources.slice(0, 1);
}

const MUTATIONS: readonly { readonly name: string; readonly wrapSources: WrapSources }[] = [
  { name: "a claim waits for the other database", wrapSources: askingAll },
  { name: "a processor leaves out one of its databases", wrapSources: onlyFirst },
];

describe("a simulated world of processes with two databases", () => {
  test(`keeps every promise with ${SEEDS} seeds`, { timeout: 300_000 }, async () => {
    let [runs, drained] = [0, 0];
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { violation, trace, runsBeside, drains } = await simulateDatabases(seed);
      expect(violation, `seed ${seed}\n${trace.slice(-60).join("\n")}`).toBeNull();
      runs += runsBeside;
      drained += drains;
    }
    // What these worlds are there for does happen in them.
    expect(runs).toBeGreaterThan(SEEDS);
    expect(drained).toBeGreaterThan(SEEDS);
  });

  test.each(MUTATIONS)("notices when $name", async ({ wrapSources }) => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      if ((await simulateDatabases(seed, wrapSources)).violation !== null) return;
    }
    expect.fail(`${SEEDS} worlds, and none of them noticed.`);
  });
});
