import { describe, expect, test } from "vitest";
import type { Fault } from "../../simulation/machines/faults.ts";
import type { Profile } from "../../simulation/profile.ts";
import { simulate } from "../../simulation/simulate.ts";

/** A small world in which nothing else goes wrong, but for what its people do. */
const profile: Partial<Profile> = { faultRate: 0, actions: 12, processes: 2, leaseMs: 6000, longestPauseMs: 1000 };
const WORLDS = [
  [5, "hooks"],
  [8, "workflows"],
] as const;
const MOST_CALLS = 60;
const FAULTS: readonly Fault[] = ["crash-before", "crash-middle", "crash-after", "lost", "stall"];

describe("a simulated world", () => {
  test.each(FAULTS)("keeps every promise with %s at each of its calls of the database", async (fault) => {
    for (const [seed, subject] of WORLDS) {
      let calls = 1;
      for (let call = 1; call <= calls; call++) {
        const { violation, trace, statistics } = await simulate(seed, {
          profile: { ...profile, subject },
          faultAt: { call, fault },
        });
        expect(violation, `seed ${seed}, ${fault} at call ${call}\n${trace.slice(-60).join("\n")}`).toBeNull();
        calls = Math.min(statistics.calls, MOST_CALLS);
      }
      expect(calls).toBeGreaterThan(30);
    }
  });
});
