import { GATHERING_PROGRAM_NAMES } from "./names.ts";
import { type SimulationResult, simulate } from "./simulate.ts";
import type { SimulationOptions } from "./simulation-options.ts";

/** A world of workflows that wait for the ends of others, and of those that they wait for. */
export function simulateGathering(seed: number, options: SimulationOptions = {}): Promise<SimulationResult> {
  const profile = { subject: "workflows", programs: [...GATHERING_PROGRAM_NAMES, "child"] } as const;
  return simulate(seed, { ...options, profile: { ...profile, ...options.profile } });
}
