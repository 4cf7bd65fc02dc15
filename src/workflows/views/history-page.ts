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
  /** The `cursor` of the previous page. */
  readonly cursor?: string;
  /** Earlier runs after this one: the `runsCursor` of the previous page. Default: from the first. */
  readonly runsAfter?: number;
}

/** One entry of the journal. */
export interface HistoryItem {
  readonly run: number;
  readonly position: number;
  readonly at: Date;
  readonly kind: EntryKind;
  readonly type: StepType;
  readonly name: string;
  readonly count: number;
  /** The step that contains it. */
  readonly inside?: string;
  /** For a step with attempts. */
  readonly attempt?: number;
  /** The type of the event that a step waits for, or waited for until its timeout. */
  readonly awaits?: string;
  /** The result of a step; `"[REDACTED]"` if it is sensitive. */
  readonly output?: unknown;
  readonly error?: ErrorDescription;
  /** The progress that a step emitted. */
  readonly progress?: unknown;
  /** The deadline of a wait, or the time of the next attempt. */
  readonly dueAt?: Date;
  readonly event?: { readonly type: string; readonly payload: unknown };
  /** In place of the output, error, progress or event, if the codec can't read it. */
  readonly unreadable?: Unreadable;
}

/** A run that was restarted. */
export interface EarlierRun {
  readonly run: number;
  /** The version of the workflow that ran it; absent without. */
  readonly version?: number;
  /** The status before the restart. */
  readonly status: InstanceStatus;
  readonly output?: unknown;
  readonly error?: ErrorDescription;
  readonly rollback?: RollbackOutcome;
  /** In place of its output, error and rollback, if the codec can't read them. */
  readonly unreadable?: Unreadable;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

export interface HistoryPage {
  /** The present run. */
  readonly run: number;
  /** The version of the workflow that runs it; absent without. */
  readonly version?: number;
  /** Oldest first, at most 100; fewer if their outputs are large. */
  readonly earlierRuns: readonly EarlierRun[];
  /** For `runsAfter`: the last of these runs if there are more earlier runs, else null. */
  readonly runsCursor: number | null;
  readonly entries: readonly HistoryItem[];
  /** For the next page; null on the last. */
  readonly cursor: string | null;
}
