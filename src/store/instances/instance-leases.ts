import type { HookInsert } from "../hooks/hook-records.ts";
import type { InstanceLease, InstanceName, NamedRun } from "./instance-identity.ts";

export interface ClaimedInstance extends InstanceName, InstanceLease {
  /** Of the workflow; 0 without. */
  readonly version: number;
  readonly params: string;
  readonly createdAt: number;
  /** How many owners in a row were lost without having added to the journal, this takeover included. */
  readonly recoveries: number;
  /** Counts events and resumes, so that an owner notices those that came while it wasn't looking. */
  readonly wakes: number;
  /** Whether it is to be paused: its last owner was lost before it had come to rest. */
  readonly paused: boolean;
  /** The schedule that it was created by, as JSON. */
  readonly schedule: string | null;
  /** The trace context of the code that created it, see `Telemetry`. */
  readonly trace: string | null;
  /** The key of the slot that it holds while it runs; null for most. */
  readonly slotKey: string | null;
  /** How long a run may take, and when this one must have ended; null for most. */
  readonly timeout: number | null;
  readonly deadline: number | null;
  /** The status after its rollback; null for most, which aren't rolled back. */
  readonly rollingBack: RollbackReason | null;
  /** Whether this run can have a journal or events: it was claimed before, or something was sent to it. */
  readonly begun: boolean;
  /** When this run was claimed first. */
  readonly startedAt: number;
  readonly dueAt: number;
  /** The database's time of this claim. */
  readonly claimedAt: number;
}

/** Why a run is rolled back, and its status afterwards: it has failed or timed out, or a caller has terminated it. */
export type RollbackReason = "errored" | "terminated";

/** When a run must have ended. */
export interface Deadline extends NamedRun {
  readonly at: number;
  readonly timeoutMs: number;
  /** From the database's time on; zero or less if it is over. */
  readonly remainingMs: number;
}

/** A run that hasn't ended in time. */
export interface TimedOutRun extends NamedRun {
  /** As it is stored. */
  readonly error: string;
  /** Triggered if the run ends at once. */
  readonly hook?: HookInsert;
}

/** A lease that is still ours, and what its owner should know. */
export interface RenewedInstance extends InstanceLease {
  readonly wakes: number;
  readonly paused: boolean;
  /** The database's time of the renewal. */
  readonly at: number;
}

/** How a parked instance is claimed again. `slots`: the key and the limit of the slot that it needs. */
export interface Reacquisition {
  readonly lock: string;
  readonly leaseMs: number;
  readonly slots?: { readonly key: string; readonly limit: number } | null;
}
