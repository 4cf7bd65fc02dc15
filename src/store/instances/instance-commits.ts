import type { HookInsert } from "../hooks/hook-records.ts";
import type { StoredEvent } from "./event-records.ts";
import type { InstanceLease, InstanceRun, NamedRun } from "./instance-identity.ts";
import type { JournalEntry, NewEntry } from "./journal-records.ts";

/** A run that is to be loaded, after what was loaded of it before. */
export interface LoadRequest extends NamedRun {
  readonly after?: { readonly position: number; readonly sequence: number };
}

/** The journal and the events of a run, in one snapshot. */
export interface InstanceHistory extends InstanceRun {
  readonly wakes: number;
  /** In the order of their positions. Without dropped progress; progress has no value here. */
  readonly entries: readonly JournalEntry[];
  /** Events of this run, in the order of their sequences. */
  readonly events: readonly StoredEvent[];
  /** Whether this is a page after which more may follow; absent where it is everything. */
  readonly more?: true;
}

/**
 * The state that a commit gives to an instance.
 *
 * - `running`: it stays with its owner; its row isn't even written.
 * - `parked`: without an owner, due at `dueAt`. If `wakes` has changed it is due now: the owner hasn't seen the latest event.
 *   While it is paused, it isn't due at all.
 * - `rollingBack`: it has failed and is rolled back; it stays with its owner.
 * - `completed`, `errored`, `terminated`: finished; `rollback` is what became of the rollback, as JSON, null if there was none.
 * - `released`: given back as if it had not been claimed, due at once or at `dueAt`.
 *
 * With an `error`, a parked or released instance says why it waits.
 */
export type InstanceOutcome =
  | { readonly kind: "running" }
  | { readonly kind: "parked"; readonly dueAt: number; readonly wakes: number; readonly error?: string }
  | { readonly kind: "completed"; readonly output: string }
  | { readonly kind: "errored"; readonly error: string; readonly rollback?: string | null }
  | { readonly kind: "terminated"; readonly rollback: string | null }
  | { readonly kind: "rollingBack"; readonly error: string }
  | { readonly kind: "released"; readonly dueAt?: number; readonly error?: string };

/** One atomic write of an owner. */
export interface InstanceCommit extends InstanceLease, NamedRun {
  /** Of the first entry; the others follow it. */
  readonly position: number;
  /** Whether the instance holds a slot, which the commit may free for another instance. Default: it doesn't. */
  readonly limited?: boolean;
  readonly entries: readonly NewEntry[];
  readonly outcome: InstanceOutcome;
  /** Whether it was sent before, and the database may have taken it. */
  readonly again?: boolean;
  /** Triggered with the outcome, if that finishes the run: it is written exactly when the outcome is. */
  readonly hook?: HookInsert;
}

/** `superseded`: the instance isn't ours any more, or the position was taken, and nothing was written. */
export type InstanceCommitResult =
  | { readonly result: "superseded" }
  | {
      readonly result: "written";
      readonly at: number;
      readonly wakes: number;
      readonly paused: boolean;
      /** The refs of the instances that waited for this end, and are due now; absent for most. */
      readonly woken?: readonly string[];
    };
