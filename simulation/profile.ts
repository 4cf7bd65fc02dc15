import type { ProgramName } from "./names.ts";
import type { SeededRandomness } from "./random.ts";

/** What kind of world a seed makes. */
export interface Profile {
  /** What there is in it. */
  readonly subject: "hooks" | "workflows" | "both";
  readonly processes: number;
  readonly concurrency: number;
  readonly leaseMs: number;
  /** Whether processes are notified of each other's work. */
  readonly connected: boolean;
  /** Whether a process knows which other processes have ended. */
  readonly sameMachine: boolean;
  /** How often a call of the database goes wrong. */
  readonly faultRate: number;
  /** How many actions and faults happen. */
  readonly actions: number;
  readonly longestPauseMs: number;
  readonly keys: number;
  /** The share of triggers that have a key. */
  readonly keyShare: number;
  /** How long completed hooks are kept. */
  readonly keepMs: number | false;
  /** Whether workflows have schedules. */
  readonly scheduled: boolean;
  /** The only workflows that are created; null is all of them. */
  readonly programs: readonly ProgramName[] | null;
  /** Whether runs trigger hooks at their end. */
  readonly told: boolean;
  /** How long some finished instances are kept; null means for ever. */
  readonly retentionMs: number | null;
  /** Whether, until the faults stop, no process stays to work: there are only drains, most of them short. */
  readonly ticking: boolean;
  /** Whether, until the faults stop, some processes have newer code, which writes values that the others can't read. */
  readonly mixed: boolean;
  /** Whether several processes write the same ids at the same time, in opposite orders. */
  readonly opposed: boolean;
  /** Whether handlers complete their hooks in transactions. */
  readonly transacting: boolean;
}

/** One world in so many has no workers that stay. */
const TICKING_SHARE = 6;

/** The last digit of the seeds whose worlds have processes with newer code. */
const MIXED_SEEDS = 7;
/** The same for those in which processes write the same ids. */
const OPPOSED_SEEDS = 6;
/** The same for those in which handlers complete their hooks in transactions. */
const TRANSACTING_SEEDS = [1, 8, 9];

export function drawProfile(seed: number, random: SeededRandomness): Profile {
  return {
    subject: random.pick(["hooks", "workflows", "workflows", "both"]),
    processes: random.integer(2, 4),
    concurrency: random.integer(1, 5),
    leaseMs: random.pick([6000, 10_000, 30_000]),
    connected: random.chance(0.7),
    sameMachine: random.chance(0.5),
    faultRate: random.pick([0, 0.05, 0.15, 0.3]),
    actions: random.integer(20, 60),
    longestPauseMs: random.pick([50, 1000, 5000]),
    keys: random.integer(1, 3),
    keyShare: random.pick([0.2, 0.5, 0.9]),
    keepMs: random.pick([false, false, 20_000]),
    scheduled: random.chance(0.3),
    programs: null,
    told: random.chance(0.4),
    retentionMs: random.pick([null, null, 0, 15_000]),
    ticking: seed % TICKING_SHARE === 0,
    mixed: seed % 10 === MIXED_SEEDS,
    opposed: seed % 10 === OPPOSED_SEEDS,
    transacting: TRANSACTING_SEEDS.includes(seed % 10),
  };
}
