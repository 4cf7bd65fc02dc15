import type { InstanceName, InstanceRun } from "./instance-identity.ts";

/** `rollback` isn't a step: it is the rollback of the whole run. */
export type StepType = "do" | "sleep" | "waitForEvent" | "create" | "result" | "token" | "rollback";

/**
 * - `started`: an attempt is about to begin; written only where it must be known that it began.
 * - `completed`: the step's result, or a sleep that is over.
 * - `failed`: an attempt's error; `dueAt` is the time of the next attempt, null if there is none.
 * - `waiting`: a wait and its deadline.
 * - `received`: the event that a wait got.
 * - `timedOut`: a wait that got none.
 * - `abandoned`: a wait that the code gave up; its value is the reason.
 * - `progress`: what an attempt told while it ran. Its value is dropped, mostly, some time after the step has ended; the entry stays, because
 *   its position must not be written again.
 * - `undoable`: the first attempt is about to begin of a step that has a rollback.
 * - `rollingBack`: the run is rolled back from now on; its value is what the workflow threw, null if it is to be terminated.
 * - `unawaited`: the function ended without waiting for this step; written with the end of the run. Its result is lost.
 * - `rollbackStarted`, `rolledBack`, `rollbackFailed`: as `started`, `completed` and `failed`, of the step's rollback.
 */
export type EntryKind =
  | "started"
  | "completed"
  | "failed"
  | "waiting"
  | "received"
  | "timedOut"
  | "abandoned"
  | "progress"
  | "undoable"
  | "unawaited"
  | "rollingBack"
  | "rollbackStarted"
  | "rolledBack"
  | "rollbackFailed";

/** An entry before it is written. */
export interface NewEntry {
  readonly kind: EntryKind;
  readonly type: StepType;
  readonly name: string;
  /** It is the nth call with this type and name. */
  readonly count: number;
  /** Of the attempt, counted from 1; 0 where there are none. */
  readonly attempt: number;
  /** An encoded result or error; of a wait the type of the event, as JSON. */
  readonly value: string | null;
  readonly dueAt: number | null;
  /** The sequence of the event that was received. */
  readonly event: number | null;
  /** The path of the step that it was called inside; null for most. */
  readonly parent: string | null;
  /** In a step's first entry: its index in the start order, if it didn't begin after all steps that have entries. */
  readonly began?: number | null;
}

export interface JournalEntry extends NewEntry {
  readonly began: number | null;
  /** Counted from 1 in each run. The position is the version: two owners can't both write it. */
  readonly position: number;
  /** The database's time of the commit. */
  readonly at: number;
}

/** The progress of one step, from a position on. */
export interface ProgressRange extends InstanceRun {
  readonly type: StepType;
  readonly name: string;
  readonly count: number;
  readonly parent: string | null;
  readonly from: number;
}

/** The entries and events of the present run that the next run begins with. */
export interface KeptEntries {
  /** The run that they are of: if it isn't the present one any more, nothing is restarted. */
  readonly run: number;
  /** In their order. */
  readonly positions: readonly number[];
  /** For each of them the place of its step in start order, if it is the first entry of a step that says so; else null. */
  readonly places: readonly (number | null)[];
  /** `received`: the events that these entries received. `all`: those that none of them received, too, for waits to come. */
  readonly events: "received" | "all";
}

export interface HistoryFilter {
  readonly ref: string;
  readonly instance: InstanceName;
  /** Null is all runs. */
  readonly run: number | null;
  /** Only entries after (or, newest first, before) this one. */
  readonly after: { readonly run: number; readonly position: number } | null;
  readonly order: "oldest" | "newest";
  readonly limit: number;
  /** Of values and payloads, as they are stored and as they are sent. The first entry is given whatever its size. */
  readonly maxBytes: number;
  /** Whether progress that was dropped is wanted, too. Default: false. */
  readonly dropped?: boolean;
}

/** Some entries of a journal. */
export interface JournalPage {
  readonly entries: HistoryEntry[];
  /** Whether entries within the limit were left out because of their size. */
  readonly full: boolean;
}

export interface HistoryEntry extends JournalEntry {
  readonly run: number;
  /** Of the event that was received. */
  readonly eventId: string | null;
  readonly eventType: string | null;
  readonly eventPayload: string | null;
}
