import type { Params } from "../../../simulation/checks/instance-records.ts";
import type { SimulatedProcess } from "../../../simulation/machines/simulated-process.ts";
import type { ProgramName } from "../../../simulation/names.ts";
import type { Profile } from "../../../simulation/profile.ts";
import { type SimulationResult, simulate } from "../../../simulation/simulate.ts";
import type { Moment } from "../../../simulation/simulation-options.ts";
import { createInstance, sendEvent } from "../../../simulation/workloads/instance-calls.ts";
import { decodeValue } from "../../../src/values/index.ts";

const SEED = 7;
const profile: Partial<Profile> = {
  subject: "workflows",
  faultRate: 0,
  processes: 2,
  leaseMs: 6000,
  concurrency: 3,
  connected: true,
  sameMachine: false,
  scheduled: false,
  told: false,
  retentionMs: null,
};
const params: Omit<Params, "n"> = { plans: [["succeed"], ["throw", "succeed"]], short: 1500, long: 20_000 };
export const SAMPLE = { id: "sample" };

interface Play {
  readonly program: ProgramName;
  /** Called for each commit of a workflow, counted from 1: as it arrives, when it is done, and when it was answered. */
  readonly atCommit?: (
    commit: number,
    moment: Moment,
    stage: { readonly client: SimulatedProcess; readonly owner: SimulatedProcess },
  ) => Promise<void> | void;
}

/** One instance of a program, with two events, in two processes. */
export async function play({ program, atCommit }: Play): Promise<SimulationResult & { commits: number }> {
  let commits = 0;
  /** While one is on its way, others may arrive. */
  const numbers = new Map<string, number>();
  let client: SimulatedProcess | undefined;
  const result = await simulate(SEED, {
    profile,
    scenario: async (process) => {
      client = process;
      await createInstance(process, program, params, SAMPLE);
      for (const type of ["approved", "changed"]) await sendEvent(process, { name: program, ...SAMPLE }, { type });
    },
    interpose: async (call, moment, owner) => {
      if (!call.startsWith("commit") || client === undefined) return;
      if (moment === "arrived") numbers.set(call, ++commits);
      await atCommit?.(numbers.get(call) ?? 0, moment, { client, owner });
    },
  });
  return { ...result, commits };
}

/** Steps that the code no longer waits for when a race is over: whether they end before their workflow does is chance. */
const LOSERS: readonly string[] = ["do:tortoise", "do:two"];

/** How the instance ended, in words. Sleeps and steps that lost a race may be over or not. */
export function outcomeOf({ instances }: SimulationResult): string {
  const sample = instances.find(({ id }) => id === SAMPLE.id);
  const [output] = sample?.outputs ?? [];
  if (sample === undefined || output === undefined) return sample?.state ?? "missing";
  const { result, seen } = decodeValue(output) as { result: unknown; seen: string[] };
  const waitedFor = seen.filter((step) => ![...LOSERS, "sleep"].some((one) => step.startsWith(one)));
  return JSON.stringify({ result, seen: waitedFor.toSorted() });
}
