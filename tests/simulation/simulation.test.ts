import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { simulate } from "../../simulation/simulate.ts";

/** `npm run simulate -- --seeds 10000` goes further. */
const SEEDS = 200;
const PER_TEST = 50;

describe("a simulated world", () => {
  for (let first = 1; first <= SEEDS; first += PER_TEST) {
    test(`keeps every promise with the seeds ${first} to ${first + PER_TEST - 1}`, async () => {
      for (let seed = first; seed < first + PER_TEST; seed++) {
        const { violation, trace } = await simulate(seed);
        expect(violation, `seed ${seed}\n${trace.slice(-60).join("\n")}`).toBeNull();
      }
    });
  }

  test("is the same each time, byte for byte", async () => {
    for (const seed of [3, 17, 42, 99]) {
      const first = await simulate(seed);
      const second = await simulate(seed);
      expect(second.trace.join("\n")).toBe(first.trace.join("\n"));
      expect(second.statistics).toEqual(first.statistics);
      expect(first.trace.length).toBeGreaterThan(100);
    }
  });

  test("is the same in another process, when its seed is replayed", async () => {
    const replay = () => promisify(execFile)(process.execPath, ["simulation/main.ts", "--seed", "42"]);
    const [first, second] = await Promise.all([replay(), replay()]);
    expect(second.stdout).toBe(first.stdout);
    expect(first.stdout).toContain((await simulate(42)).trace.join("\n"));
  });

  test("is another one with another seed", async () => {
    const [first, second] = [await simulate(1), await simulate(2)];
    expect(second.trace.slice(1)).not.toEqual(first.trace.slice(1));
  });
});
