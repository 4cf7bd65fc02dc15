import type { LineKind } from "../lines/line-records.ts";
import type { WorkClass } from "../queue/work-class.ts";
import type { InstanceName, InstanceRun } from "./instance-identity.ts";
import type { InstanceTraits } from "./instance-inserts.ts";
import type { KeptEntries } from "./journal-records.ts";

export const UNFINISHED_STATUSES = [
  "queued",
  "running",
  "waiting",
  "diverged",
  "waitingForPause",
  "paused",
  "rollingBack",
] as const;
export const FINISHED_STATUSES = ["complete", "errored", "terminated"] as const;
export const INSTANCE_STATUSES = [...UNFINISHED_STATUSES, ...FINISHED_STATUSES] as const;

export type InstanceStatus = (typeof INSTANCE_STATUSES)[number];

/** An instance as its users see it. */
export interface InstanceRecord extends InstanceName, InstanceRun {
  /** Of the workflow; 0 without. */
  readonly version: number;
  readonly status: InstanceStatus;
  readonly params: string;
  readonly output: string | null;
  readonly error: string | null;
  /** How its rollback ended, as JSON: an `outcome`, and an `error` if it failed. */
  readonly rollback: string | null;
  /** As a JSON object. */
  readonly labels: string | null;
  readonly priority: number;
  /** The schedule that it was created by, as JSON. */
  readonly schedule: string | null;
  /** The trace context of the code that created it, see `Telemetry`. */
  readonly trace: string | null;
  /** The step that created it, see `InstanceInsert`. */
  readonly parent: string | null;
  /** See `InstanceTraits`. */
  readonly slotKey: string | null;
  readonly rateKey: string | null;
  readonly createdAt: number;
  /** When this run was begun. */
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /**
   * When it is due, or the time in its rank if it is new and has a priority or a limit; the end of its lease while it is
   * running; null when it is paused or finished.
   */
  readonly availableAt: number | null;
}

/** `changed` is false where the instance's state didn't allow it; the instance is null where there is none. */
export interface InstanceChange {
  readonly changed: boolean;
  /** After the change; as it was, where it was deleted. */
  readonly instance: InstanceRecord | null;
  /** Whether its receipt was there: it was done before. */
  readonly repeated?: true;
  /** The refs of the instances that waited for its end, and are due now; absent for most. */
  readonly woken?: readonly string[];
}

/** How many instances of a workflow are in a status. */
export interface InstanceCount {
  readonly name: string;
  readonly status: InstanceStatus;
  readonly count: number;
}

/** The instances of one workflow, or of all. */
export interface InstanceScope {
  readonly namespace: string;
  readonly name: string | null;
}

export interface InstanceFilter extends InstanceScope {
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
  /** Only instances whose ref comes before (or, newest first, after) this one, and itself. Default: up to the end. */
  readonly until?: string | null;
  readonly order: "oldest" | "newest";
  readonly limit: number;
}

/** What a search compares in each instance that the filter leaves. Null is anything. */
export interface InstanceCriteria {
  readonly idPrefix: string | null;
  /** 0 is the workflow without a version. */
  readonly version: number | null;
  /** How the text of its parent begins, see `InstanceInsert`. */
  readonly parentPrefix: string | null;
  /** The name of a step that has one of the last `MOST_ENTRIES_SEARCHED` entries of its present run. */
  readonly step: string | null;
}

/** `limit` is how many instances are compared, in the order of refs. */
export interface InstanceSearch extends InstanceFilter, InstanceCriteria {
  /** Compares only these, given by their refs; null is all. */
  readonly among: readonly string[] | null;
  /** Whether to return the errors of those that match. */
  readonly errors: boolean;
}

/** An instance that was compared. */
export interface SearchedInstance extends InstanceName, InstanceRun {
  readonly matches: boolean;
  readonly error: string | null;
}

export const MOST_ENTRIES_SEARCHED = 1000;

/** How far an instance has come. */
export interface InstancePosition {
  readonly run: number;
  readonly status: InstanceStatus;
  /** Of the last entry of this run; 0 if there is none. */
  readonly position: number;
}

/** Where an instance stands in the queue, for the question why it waits. */
export interface InstanceSituation {
  /** The database's time. */
  readonly now: number;
  readonly class: WorkClass;
  /** The token of its owner, or of the owner that lost it last. */
  readonly lock: string | null;
  /** Who paused it last; null if that is unknown, or if it never was. */
  readonly pausedBy: string | null;
  /** Null if it doesn't stand in line. */
  readonly line: LinePlace | null;
}

/** The place of an instance in its line. */
export interface LinePlace {
  readonly kind: LineKind;
  readonly key: string;
  /** How many come before it; counted up to `MOST_AHEAD`. */
  readonly ahead: number;
  /** How many hold a slot of the key; counted up to the same number. */
  readonly held: number;
  /** When a worker looks at the line next; null if a slot must be freed first. */
  readonly lookAt: number | null;
}

export const MOST_AHEAD = 1000;

/** Some of the runs of an instance. */
export interface RunRange {
  /** Those after this one. */
  readonly after: number;
  readonly limit: number;
}

/** How a run ended that was restarted. */
export interface PastRun {
  readonly run: number;
  /** Of the workflow; 0 without. */
  readonly version: number;
  /** As it was when it was restarted. */
  readonly status: InstanceStatus;
  readonly output: string | null;
  readonly error: string | null;
  readonly rollback: string | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
}

/** The conditions of a restart, and the values that it brings. */
export interface RestartRequest {
  /** Only if it is in one of these; null is any. */
  readonly statuses: readonly InstanceStatus[] | null;
  /** Null keeps those that it has. */
  readonly params: string | null;
  /** Given where the next run is to begin with something of the present one. */
  readonly kept?: KeptEntries;
  /** The limit keys for its new params; without them it keeps those that it has. */
  readonly keys?: Pick<InstanceTraits, "slotKey" | "rateKey"> | null;
  /** The version of the next run; without, it keeps the one that it has. */
  readonly version?: number | null;
}
