import { SeededRandomness } from "../simulation/random.ts";
import { COMMIT, COMMIT_STEPS } from "../tests/support/cut-texts.ts";
import { type ChaosEngine, LEASE_MS, type Point, type PointAction } from "./settings.ts";

/** What goes wrong, by the names in the final summary. */
export type FaultPlan =
  | { readonly name: "killed" | "asked to stop" | "stopped past its lease" | "clock shifted" }
  | { readonly name: "killed at a point" | "stopped at a point"; readonly point: Point }
  | { readonly name: "database restarted"; readonly mode: "fast" | "immediate" }
  | { readonly name: "connections cut" | "connections silent" | "answers delayed" | "connections narrow" }
  /**
   * The connection is cut when a client sends this: before the server receives it, or before the client receives the answer.
   */
  | { readonly name: "cut at a statement"; readonly text: string; readonly lost: "request" | "answer" }
  /** From then on it is silent, and neither end notices: a transaction stays open on the server. */
  | { readonly name: "silent at a statement"; readonly text: string }
  | { readonly name: "table locked"; readonly table: "hook" | "instance" | "journal" | "line" | "subject" }
  /** The role of the processes may not write to this table for a while. */
  | { readonly name: "privilege missing"; readonly table: "journal" };

export interface Fault {
  /** Since the beginning. */
  readonly atMs: number;
  readonly plan: FaultPlan;
  /** From 0 to 1: which process it hits. */
  readonly victim: number;
  readonly forMs: number;
  readonly shiftMs: number;
}

const LONGEST_MEAN_PAUSE_MS = 500;
const HOUR_MS = 3_600_000;

const KILLED_AT: readonly Point[] = [
  "after-claim",
  "mid-handler",
  "after-handler",
  "after-settle",
  "mid-step",
  "before-steps-commit",
  "after-steps-commit",
  "after-trigger",
];
const PROCESSES: readonly FaultPlan[] = [
  { name: "killed" },
  { name: "killed" },
  ...atPoints("killed at a point", [...KILLED_AT, "after-commit"]),
  { name: "stopped past its lease" },
  ...atPoints("stopped at a point", ["after-claim", "after-handler", "before-steps-commit"]),
  { name: "asked to stop" },
];
const NETWORK_AND_SERVER: readonly FaultPlan[] = [
  { name: "clock shifted" },
  { name: "database restarted", mode: "fast" },
  { name: "database restarted", mode: "immediate" },
  { name: "connections cut" },
  { name: "connections silent" },
  { name: "answers delayed" },
  { name: "connections narrow" },
  ...atStatements("request", [COMMIT, ...COMMIT_STEPS, "commit_running"]),
  ...atStatements("answer", [
    COMMIT,
    COMMIT,
    COMMIT,
    "claim_hooks",
    "insert_new_hooks",
    "delete_completed_hooks",
    ...COMMIT_STEPS,
    "commit_running",
    "commit_any",
    "insert_new_instances",
    "send_events",
  ]),
  ...silentAt([
    COMMIT,
    ".admit(",
    "claim_hooks",
    "claim_instances",
    "claim_subjects",
    "insert_new_hooks",
    "insert_new_instances",
    "delete_completed_hooks",
    ...COMMIT_STEPS,
    "commit_running",
    "send_events",
    "change_subjects",
  ]),
  { name: "table locked", table: "hook" },
  { name: "table locked", table: "instance" },
  { name: "table locked", table: "line" },
  { name: "table locked", table: "subject" },
  { name: "privilege missing", table: "journal" },
];

/** All faults of a run, by the seed alone. Each kind comes up once before any comes up again. */
export function scheduleFaults(seed: number, engine: ChaosEngine, lengthMs: number): Fault[] {
  const random = new SeededRandomness(seed);
  const kinds = engine === "postgres" ? [...PROCESSES, ...NETWORK_AND_SERVER] : PROCESSES;
  // A short run leaves less time between them, so that each has its turn.
  const pauseMs = Math.min(LONGEST_MEAN_PAUSE_MS, (lengthMs * 0.85) / kinds.length);
  const faults: Fault[] = [];
  let bag: FaultPlan[] = [];
  for (let atMs = 0; ; ) {
    atMs += random.integer(0.4 * pauseMs, 1.6 * pauseMs);
    if (atMs > lengthMs) return faults;
    if (bag.length === 0) bag = [...kinds];
    const [plan] = bag.splice(random.integer(0, bag.length - 1), 1) as [FaultPlan];
    const forMs = Math.round(durationOf(plan) * (0.7 + 0.6 * random.fraction()));
    const shiftMs = random.integer(-12, 12) * HOUR_MS;
    faults.push({ atMs, plan, victim: random.fraction(), forMs, shiftMs });
  }
}

/** About how long it lasts. */
function durationOf({ name }: FaultPlan): number {
  switch (name) {
    case "stopped past its lease":
    case "stopped at a point":
      return LEASE_MS * 2;
    case "database restarted":
      return 500;
    case "connections silent":
    case "connections narrow":
      return 2000;
    case "answers delayed":
      return 700;
    case "table locked":
      return 1000;
    case "privilege missing":
      return LEASE_MS * 2;
    default:
      return 0;
  }
}

/** The words of a text at which a connection is cut. */
export function describeCut(text: string): string {
  return text.replaceAll(/\W+/g, " ").trim();
}

export function actionOf(name: "killed at a point" | "stopped at a point"): PointAction {
  return name === "killed at a point" ? "kill" : "stop";
}

function atPoints(name: "killed at a point" | "stopped at a point", points: readonly Point[]): FaultPlan[] {
  return points.map((point) => ({ name, point }));
}

function silentAt(texts: readonly string[]): FaultPlan[] {
  return texts.map((text) => ({ name: "silent at a statement", text }));
}

function atStatements(lost: "request" | "answer", texts: readonly string[]): FaultPlan[] {
  return texts.map((text) => ({ name: "cut at a statement", text, lost }));
}
