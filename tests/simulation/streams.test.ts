import { describe, expect, test } from "vitest";
import type { Fault } from "../../simulation/machines/faults.ts";
import type { Profile } from "../../simulation/profile.ts";
import { simulate } from "../../simulation/simulate.ts";
import { createInstance } from "../../simulation/workloads/instance-calls.ts";

const profile: Partial<Profile> = {
  subject: "workflows",
  faultRate: 0,
  processes: 2,
  leaseMs: 6000,
  connected: true,
  scheduled: false,
  told: false,
  retentionMs: null,
};
const params = { plans: [["succeed" as const]], short: 1500, long: 20_000 };
const FAULTS: readonly Fault[] = ["lost", "crash-after"];
/** As long as it takes when nothing goes wrong, and more. */
const WATCHED_MS = 30_000;

describe("a simulated workflow that reads the streams of its steps", () => {
  test.each(FAULTS)("is complete with %s at each of its calls of the database", async (fault) => {
    let calls = 1;
    let reads = 0;
    for (let call = 1; call <= calls; call++) {
      const { violation, trace, statistics, instances } = await simulate(7, {
        profile,
        faultAt: { call, fault },
        scenario: async (process) => {
          await createInstance(process, "streaming", params, { id: "sample" });
          await process.surroundings.world.delay(process.lane, WATCHED_MS);
        },
      });
      const where = `${fault} at call ${call}\n${trace.slice(-60).join("\n")}`;
      expect(violation, where).toBeNull();
      expect(
        instances.every(({ state }) => state === "complete"),
        where,
      ).toBe(true);
      if (trace.some((line) => /read chunk .*(failed|refused|crash-after)/.test(line))) reads++;
      calls = Math.min(statistics.calls, 70);
    }
    expect(reads).toBeGreaterThan(3); // faults while it read
  });
});
