import type { InstanceName, InstanceRun } from "../store/instances/instance-records.ts";

/** An item on which the action failed. */
export interface JobError {
  readonly workflowName: string;
  readonly instanceId: string;
  readonly code: string;
  readonly message: string;
}

/** How far a job is. It is stored as JSON with each batch. */
export interface JobProgress {
  readonly matching: number;
  readonly bounded: boolean;
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
  readonly errors: readonly JobError[];
  /** The place up to which it has looked; null at the beginning. */
  readonly cursor: string | null;
  /** The place of the last instance that takes part: later ones were created after the job. Null for hooks. */
  readonly last: string | null;
  /**
   * The instances that its owner acts on at present. If the owner is lost, the next one finds the same, and their receipts tell
   * which of them are done.
   */
  readonly batch: readonly BatchItem[];
}

export type BatchItem = Pick<InstanceName, "name" | "id"> & InstanceRun;

/** How the action on one item ended. */
export type ItemOutcome = { readonly kind: "done" | "skipped" } | { readonly kind: "failed"; readonly error: JobError };

const MOST_ERRORS = 10;

/** Counts what was done to items of the batch, which are then no longer part of it. */
export function count(progress: JobProgress, outcomes: readonly ItemOutcome[]): JobProgress {
  const of = (kind: ItemOutcome["kind"]) => outcomes.filter((outcome) => outcome.kind === kind).length;
  const errors = outcomes.flatMap((outcome) => (outcome.kind === "failed" ? [outcome.error] : []));
  return {
    ...progress,
    done: progress.done + of("done"),
    skipped: progress.skipped + of("skipped"),
    failed: progress.failed + of("failed"),
    errors: [...progress.errors, ...errors].slice(0, MOST_ERRORS),
    batch: progress.batch.slice(outcomes.length),
  };
}
