import type { HookInsert } from "./hook-records.ts";

/** Names an instance as people do. */
export interface InstanceName {
  readonly namespace: string;
  /** Of the workflow. */
  readonly name: string;
  readonly id: string;
}

/** One run of an instance. `ref` is ours: made when the instance is created, and never used again. */
export interface InstanceRun {
  readonly ref: string;
  /** Counted from 1; a restart begins the next. */
  readonly run: number;
}

/** A run and the token that fences every write of its present owner. */
export interface InstanceLease extends InstanceRun {
  readonly lock: string;
}

/** A new instance. Values are encoded already. */
export interface InstanceInsert extends InstanceName {
  readonly ref: string;
  readonly params: string;
  /** The step of another instance that creates it, as a text that no other step has; null where a caller does. */
  readonly parent: string | null;
  /** Null for most. */
  readonly traits: InstanceTraits | null;
  /** Given when the creating process starts it itself: the row is born claimed. */
  readonly lease: { readonly lock: string; readonly leaseMs: number } | null;
}

/** What only some instances have. Times are in milliseconds. */
export interface InstanceTraits {
  /** A JSON object of texts; people look for instances by them. */
  readonly labels: string | null;
  /** Higher ones start first; 0 for most. */
  readonly priority: number;
  /** How long it is kept when it is complete, or when it failed or was terminated; null is for ever. */
  readonly successRetention: number | null;
  readonly errorRetention: number | null;
  /** The schedule that it was created by, as JSON: `cron` and `scheduledTime`. */
  readonly schedule: string | null;
  /** Of those that share it, only so many run at a time. */
  readonly slotKey: string | null;
  /** Of those that share it, only so many start in some time. */
  readonly rateKey: string | null;
}

export const NO_TRAITS: InstanceTraits = {
  labels: null,
  priority: 0,
  successRetention: null,
  errorRetention: null,
  schedule: null,
  slotKey: null,
  rateKey: null,
};

/** `existing`: the workflow has an instance of this id that somebody else created, and nothing was written. */
export interface InstanceInsertResult {
  /** Created now, or before: by this very insert, whose reply was lost, or by the same step of the same parent. */
  readonly result: "created" | "existing";
  /** Of the instance that has the id now. */
  readonly ref: string;
  /** The database's time at which that was created. */
  readonly at: number;
}

/** How a parked instance is taken again. `slots`: it needs one, and there may be so many. */
export interface Reacquisition {
  readonly lock: string;
  readonly leaseMs: number;
  readonly slots?: { readonly key: string; readonly limit: number } | null;
}

export interface ClaimedInstance extends InstanceName, InstanceLease {
  readonly params: string;
  readonly createdAt: number;
  /** How many owners in a row were lost without having added to the journal, this takeover included. */
  readonly recoveries: number;
  /** Counts events and resumes, so that what happens while nobody looks isn't missed. */
  readonly wakes: number;
  /** Whether it is to be paused: its last owner was lost before it had come to rest. */
  readonly paused: boolean;
  /** The schedule that it was created by, as JSON. */
  readonly schedule: string | null;
  /** The key of the slot that it holds while it runs; null for most. */
  readonly slotKey: string | null;
  /** What it will be when its rollback is over; null for most, which aren't rolled back. */
  readonly rollingBack: RollbackReason | null;
  /** Whether this run can have a journal or events: it was claimed before, or something was sent to it. */
  readonly begun: boolean;
  readonly dueAt: number;
  /** The database's time of this claim. */
  readonly claimedAt: number;
}

/** Why a run is rolled back, which is what it will be afterwards: it has failed, or somebody wants it to end. */
export type RollbackReason = "errored" | "terminated";

/** `rollback` isn't a step: it is the rollback of the whole run. */
export type StepType = "do" | "sleep" | "waitForEvent" | "create" | "rollback";

/**
 * - `started`: an attempt is about to begin; written only where it must be known that it began.
 * - `completed`: the step's result, or a sleep that is over.
 * - `failed`: an attempt's error; `dueAt` is the time of the next attempt, null if there is none.
 * - `waiting`: a wait and its deadline.
 * - `received`: the event that a wait got.
 * - `timedOut`: a wait that got none.
 * - `progress`: what an attempt told while it ran. Its value is dropped, mostly, when the step has ended; the entry stays, because
 *   its position must not be written again.
 * - `undoable`: the first attempt is about to begin of a step that has a rollback.
 * - `rollingBack`: the run is rolled back from now on; its value is what the workflow threw, null if it is to be terminated.
 * - `rollbackStarted`, `rolledBack`, `rollbackFailed`: as `started`, `completed` and `failed`, of the step's rollback.
 */
export type EntryKind =
  | "started"
  | "completed"
  | "failed"
  | "waiting"
  | "received"
  | "timedOut"
  | "progress"
  | "undoable"
  | "rollingBack"
  | "rollbackStarted"
  | "rolledBack"
  | "rollbackFailed";

/** What happened at one step. */
export interface NewEntry {
  readonly kind: EntryKind;
  readonly type: StepType;
  readonly name: string;
  /** Of how many calls of this type and name it was. */
  readonly count: number;
  /** Of the attempt, counted from 1; 0 where there are none. */
  readonly attempt: number;
  /** An encoded result or error; of a wait the type of the event, as JSON. */
  readonly value: string | null;
  readonly dueAt: number | null;
  /** The sequence of the event that was received. */
  readonly event: number | null;
  /** The path of the step that it was called inside of; null for most. */
  readonly parent: string | null;
}

export interface JournalEntry extends NewEntry {
  /** Counted from 1 in each run. The position is the version: two owners can't both write it. */
  readonly position: number;
  /** The database's time of the commit. */
  readonly at: number;
}

export interface StoredEvent {
  readonly id: string;
  /** Rises in the order of commits within an instance. */
  readonly sequence: number;
  readonly type: string;
  readonly payload: string;
  /** The database's time at which it was stored. */
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

/** Everything that a run has been through, in one snapshot. */
export interface InstanceHistory extends InstanceRun {
  readonly wakes: number;
  /** In the order of their positions. Without dropped progress; progress has no value here. */
  readonly entries: readonly JournalEntry[];
  /** All events of this run, in the order of their sequences. */
  readonly events: readonly StoredEvent[];
}

/**
 * What becomes of an instance with a commit.
 *
 * - `running`: it stays with its owner; its row isn't even written.
 * - `parked`: nobody's, due at `dueAt`. If `wakes` has changed it is due at once: something came in that the owner hasn't seen.
 *   While it is paused, it isn't due at all.
 * - `rollingBack`: it has failed and is rolled back; it stays with its owner.
 * - `completed`, `errored`, `terminated`: finished; `rollback` is what became of the rollback, as JSON, null if there was none.
 * - `released`: given back as if it had not been claimed, due at once.
 */
export type InstanceOutcome =
  | { readonly kind: "running" }
  | { readonly kind: "parked"; readonly dueAt: number; readonly wakes: number }
  | { readonly kind: "completed"; readonly output: string }
  | { readonly kind: "errored"; readonly error: string; readonly rollback?: string | null }
  | { readonly kind: "terminated"; readonly rollback: string | null }
  | { readonly kind: "rollingBack"; readonly error: string }
  | { readonly kind: "released" };

/** The events of a run that came after this sequence. */
export interface EventsRequest extends InstanceRun {
  readonly after: number;
}

export interface LoadedEvents extends InstanceRun {
  readonly wakes: number;
  readonly events: readonly StoredEvent[];
}

/** What an owner writes at once, all or nothing. */
export interface InstanceCommit extends InstanceLease {
  /** Of the first entry; the others follow it. */
  readonly position: number;
  /** Whether the instance holds a slot, which somebody else may have when it lets go. Default: it doesn't. */
  readonly limited?: boolean;
  readonly entries: readonly NewEntry[];
  readonly outcome: InstanceOutcome;
  /** Triggered with the outcome, if that finishes the run: it is written exactly when the outcome is. */
  readonly hook?: HookInsert;
}

/** `superseded`: the instance isn't ours any more, or the position was taken, and nothing was written. */
export type InstanceCommitResult =
  | { readonly result: "superseded" }
  | { readonly result: "written"; readonly at: number; readonly wakes: number; readonly paused: boolean };

/** A lease that is still ours, and what its owner should know. */
export interface RenewedInstance extends InstanceLease {
  readonly wakes: number;
  readonly paused: boolean;
  /** The database's time of the renewal. */
  readonly at: number;
}

export interface EventInsert extends InstanceName {
  /** Of the event: one that a run already has is not stored again. */
  readonly eventId: string;
  readonly type: string;
  readonly payload: string;
  /** Not stored if so many events wait for the run to receive them. Default: no limit. */
  readonly maxPending?: number;
}

/** `known`: the run has an event of this id. `full`: too many wait already, and nothing was stored. */
export type EventInsertResult =
  | { readonly result: "sent" | "known"; readonly ref: string }
  | { readonly result: "finished" }
  | { readonly result: "full" }
  | { readonly result: "missing" };

export const UNFINISHED_STATUSES = [
  "queued",
  "running",
  "waiting",
  "waitingForPause",
  "paused",
  "rollingBack",
] as const;
export const FINISHED_STATUSES = ["complete", "errored", "terminated"] as const;
export const INSTANCE_STATUSES = [...UNFINISHED_STATUSES, ...FINISHED_STATUSES] as const;

export type InstanceStatus = (typeof INSTANCE_STATUSES)[number];

/** An instance as its users see it. */
export interface InstanceRecord extends InstanceName, InstanceRun {
  readonly status: InstanceStatus;
  readonly params: string;
  readonly output: string | null;
  readonly error: string | null;
  /** What became of its rollback, as JSON: an `outcome`, and an `error` if it failed. */
  readonly rollback: string | null;
  /** As a JSON object. */
  readonly labels: string | null;
  readonly priority: number;
  /** The schedule that it was created by, as JSON. */
  readonly schedule: string | null;
  readonly createdAt: number;
  /** When this run was begun. */
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** When it is due, or its place among what is new and has a priority or a limit; the end of its lease while it is running; null when it is paused or finished. */
  readonly availableAt: number | null;
}

/** `changed` is false where the instance's state didn't allow it; the instance is null where there is none. */
export interface InstanceChange {
  readonly changed: boolean;
  /** After the change; as it was, where it was deleted. */
  readonly instance: InstanceRecord | null;
}

/** How many instances of a workflow are in a status. */
export interface InstanceCount {
  readonly name: string;
  readonly status: InstanceStatus;
  readonly count: number;
}

/** What a restart may ask for, and bring. */
export interface RestartRequest {
  /** Only if it is in one of these; null is any. */
  readonly statuses: readonly InstanceStatus[] | null;
  /** Null keeps those that it has. */
  readonly params: string | null;
  /** Given where the next run is to begin with something of the present one. */
  readonly kept?: KeptEntries;
  /** What it shares with others by its new params; otherwise it keeps what it has. */
  readonly keys?: Pick<InstanceTraits, "slotKey" | "rateKey"> | null;
}

export interface InstanceFilter {
  readonly namespace: string;
  readonly name: string | null;
  readonly statuses: readonly InstanceStatus[];
  /** Keys and values; it has all of them. */
  readonly labels: readonly (readonly [key: string, value: string])[];
  /** Created at this time or later, in milliseconds. */
  readonly createdFrom: number | null;
  /** Created before this time. */
  readonly createdBefore: number | null;
  /** Finished at this time or later. */
  readonly finishedFrom: number | null;
  /** Finished before this time. */
  readonly finishedBefore: number | null;
  /** Only instances whose ref comes after (or, newest first, before) this one. */
  readonly after: string | null;
  readonly order: "oldest" | "newest";
  readonly limit: number;
}

export interface HistoryFilter {
  readonly ref: string;
  /** Null is all runs. */
  readonly run: number | null;
  /** Only entries after (or, newest first, before) this one. */
  readonly after: { readonly run: number; readonly position: number } | null;
  readonly order: "oldest" | "newest";
  readonly limit: number;
  /** Whether progress that was dropped is wanted, too. Default: false. */
  readonly dropped?: boolean;
}

export interface HistoryEntry extends JournalEntry {
  readonly run: number;
  /** Of the event that was received. */
  readonly eventType: string | null;
  readonly eventPayload: string | null;
}

/** How far an instance has come. */
export interface InstancePosition {
  readonly run: number;
  readonly status: InstanceStatus;
  /** Of the last entry of this run; 0 if there is none. */
  readonly position: number;
}

/** How a run ended that was restarted. */
export interface PastRun {
  readonly run: number;
  /** As it was when it was restarted. */
  readonly status: InstanceStatus;
  readonly output: string | null;
  readonly error: string | null;
  readonly rollback: string | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
}

/** What the next run is given of the present one. */
export interface KeptEntries {
  /** The run that they are of: if it isn't the present one any more, nothing is restarted. */
  readonly run: number;
  /** In their order. */
  readonly positions: readonly number[];
}
