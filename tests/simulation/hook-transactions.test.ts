import { describe, expect, test } from "vitest";
import type { HookBehaviour } from "../../simulation/books/trigger-record.ts";
import type { Fault } from "../../simulation/machines/faults.ts";
import type { SimulatedProcess } from "../../simulation/machines/simulated-process.ts";
import type { Profile } from "../../simulation/profile.ts";
import { type SimulationResult, simulate } from "../../simulation/simulate.ts";

const SEED = 11;
const profile: Partial<Profile> = {
  subject: "hooks",
  faultRate: 0,
  processes: 2,
  leaseMs: 6000,
  concurrency: 2,
  connected: true,
  sameMachine: false,
  keepMs: false,
  ticking: false,
};
const PLANS: readonly (readonly HookBehaviour[])[] = [
  ["transact"],
  ["roll-back", "transact"],
  ["transact-unawaited"],
  ["transact-and-throw"],
];
const FAULTS: readonly Fault[] = ["crash-before", "crash-middle", "crash-after", "lost", "broken", "stall"];

/** Each plan as a hook. */
async function trigger(process: SimulatedProcess): Promise<void> {
  for (const [index, plan] of PLANS.entries()) {
    const id = `hook-${index}`;
    const record = process.ask({ ownId: id, plan });
    await process.application.hooks.work.trigger({ n: record.n, plan }, { id });
    record.answer = "acknowledged";
  }
}

function play(faultAt?: { readonly call: number; readonly fault: Fault }): Promise<SimulationResult> {
  return simulate(SEED, { profile, scenario: trigger, ...(faultAt && { faultAt }) });
}

describe("a simulated hook that is completed in a transaction", () => {
  test("has its effect once", async () => {
    const { violation, statistics } = await play();
    expect(violation).toBeNull();
    expect(statistics).toMatchObject({ triggers: PLANS.length, transactions: PLANS.length, deadLetters: 0 });
  });

  test.each(FAULTS)("has its effect once with %s at each call of the database", async (fault) => {
    const { calls } = (await play()).statistics;
    expect(calls).toBeGreaterThan(10);
    for (let call = 1; call <= calls; call++) {
      const { violation, trace, statistics } = await play({ call, fault });
      const where = `${fault} at call ${call}\n${trace.slice(-60).join("\n")}`;
      expect(violation, where).toBeNull();
      expect(statistics.deadLetters, where).toBe(0);
      expect(statistics.transactions, where).toBeGreaterThanOrEqual(statistics.triggers - 1); // the client may end in a call
    }
  });
});
