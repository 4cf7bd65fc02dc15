import { toNumber, toNumberOrNull } from "../rows.ts";
import { PRIORITY_STEP_MS } from "./rank.ts";
import { WorkClass } from "./work-class.ts";

/** How much work of one kind isn't finished. Each number is exact up to the limit of the count. */
export interface QueueBacklog {
  /** A worker could claim it now. */
  readonly due: number;
  /** It is due later: a delay, a sleep, a retry, a wait with a deadline. */
  readonly waiting: number;
  /** A worker holds it. */
  readonly running: number;
  /** It stands in line for a slot or a start. */
  readonly inLine: number;
  /** How long the first due row of any lane has been due; null if none is. */
  readonly oldestDueMs: number | null;
}

export interface Backlog {
  readonly hooks: QueueBacklog;
  readonly instances: QueueBacklog;
  /** Hooks that failed for good. */
  readonly deadLetters: number;
}

export interface CountLimits {
  /** Entries of an index, for each lane. */
  readonly lane: number;
  /** Rows. */
  readonly deadLetters: number;
}

export interface BacklogStatements {
  /** Counts the unfinished work of a namespace, each number up to its limit. */
  read(namespace: string, limits: CountLimits): Promise<Backlog>;
}

/** The lanes that hooks can be in. */
export const HOOK_LANES: readonly WorkClass[] = [
  WorkClass.continuing,
  WorkClass.fresh,
  WorkClass.leased,
  WorkClass.lineContinuing,
  WorkClass.lineFresh,
];
export const INSTANCE_LANES: readonly WorkClass[] = Object.values(WorkClass);

/** From one row for each lane: its class, how many are due by now and later, and the `available_at` of the first. */
export function toQueueBacklog(rows: readonly Record<string, unknown>[], now: number): QueueBacklog {
  const counts = { due: 0, waiting: 0, running: 0, inLine: 0 };
  let oldest: number | null = null;
  for (const row of rows) {
    const workClass = toNumber(row.class) as WorkClass;
    const inLine = workClass === WorkClass.lineContinuing || workClass === WorkClass.lineFresh;
    counts[inLine ? "inLine" : "due"] += toNumber(row.due);
    counts[workClass === WorkClass.leased ? "running" : "waiting"] += toNumber(row.later);
    const first = toNumberOrNull(row.first);
    if (inLine || first === null || first > now) continue;
    oldest = Math.max(oldest ?? 0, now - timeOf(first));
  }
  return { ...counts, oldestDueMs: oldest };
}

/** The time of a rank is earlier by whole steps of priority. */
function timeOf(availableAt: number): number {
  const rest = availableAt % PRIORITY_STEP_MS;
  return rest < 0 ? rest + PRIORITY_STEP_MS : rest;
}
