import type { EntryKind, InstanceStatus, StepType } from "../../store/instances/instance-records.ts";
import type { ErrorDescription, Unreadable } from "../../values/index.ts";

import type { RollbackOutcome } from "../rollback/rollback-outcome.ts";

export interface HistoryOptions {
  /** Only this run. Default: all of them. */
  readonly run?: number;
  /** Default: `oldest` first. */
  readonly order?: "oldest" | "newest";
  /** From 1 to 1000. Default: 100. */
  readonly limit?: number;
  /** Where the page before ended. */
  readonly cursor?: string;
  /** Earlier runs after this one: the `runsCursor` of a page whose earlier runs weren't all. Default: from the first. */
  readonly runsAfter?: number;
}

/** What happened at one step. */
export interface HistoryItem {
  readonly run: number;
  readonly position: number;
  readonly at: Date;
  readonly kind: EntryKind;
  readonly type: StepType;
  readonly name: string;
  readonly count: number;
  /** The step that it was called inside of. */
  readonly inside?: string;
  /** Of a step with attempts. */
  readonly attempt?: number;
  /** The type of the event that a step waits for, or waited for in vain. */
  readonly awaits?: string;
  /** What a step gave; `"[REDACTED]"` where its output is sensitive. */
  readonly output?: unknown;
  readonly error?: ErrorDescription;
  /** What a step emitted. */
  readonly progress?: unknown;
  /** The deadline of a wait, or the time of the next attempt. */
  readonly dueAt?: Date;
  readonly event?: { readonly type: string; readonly payload: unknown };
  /** Instead of what was given, thrown, emitted, awaited or received, where the codec can't read them. */
  readonly unreadable?: Unreadable;
}

/** A run that was restarted. */
export interface EarlierRun {
  readonly run: number;
  /** As it was when it was restarted. */
  readonly status: InstanceStatus;
  readonly output?: unknown;
  readonly error?: ErrorDescription;
  readonly rollback?: RollbackOutcome;
  /** Instead of its output, its error and its rollback, where the codec can't read them. */
  readonly unreadable?: Unreadable;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

export interface HistoryPage {
  /** The run that it is in. */
  readonly run: number;
  /** Oldest first: at most 100 of them, and fewer where their outputs are large. */
  readonly earlierRuns: readonly EarlierRun[];
  /** Where there are more earlier runs, the last of these, for `runsAfter`; else null. */
  readonly runsCursor: number | null;
  readonly entries: readonly HistoryItem[];
  /** For the next page; null on the last. */
  readonly cursor: string | null;
}
