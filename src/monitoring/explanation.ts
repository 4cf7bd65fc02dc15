import type { ErrorDescription } from "../values/index.ts";

/** A step of an instance: `type` is the method of `step` that the code called. */
export interface ExplainedStep {
  readonly type: string;
  readonly name: string;
  /** It is the nth call with this type and name. */
  readonly count: number;
}

/** Why an instance or a hook waits. `reason` is stable, for programs. */
export type WaitingReason =
  /** It has ended. `failed` is a hook that failed for good. */
  | {
      readonly reason: "finished";
      readonly status: "complete" | "errored" | "terminated" | "completed" | "failed";
      readonly at: Date | null;
      readonly error?: ErrorDescription;
    }
  /** It is paused, or will be when its running steps have ended. `by` is null if its pauser gave no name. */
  | { readonly reason: "paused"; readonly pausing: boolean; readonly by: string | null }
  /** Its code doesn't match its history. */
  | { readonly reason: "diverged"; readonly error: ErrorDescription }
  /** A stored value can't be read: a key of the codec is missing, or a newer version wrote it. */
  | { readonly reason: "unreadable"; readonly code: string; readonly message: string }
  | { readonly reason: "sleeping"; readonly step: ExplainedStep; readonly until: Date }
  /** `unreceived` counts the events of other types that it was sent and hasn't received. */
  | {
      readonly reason: "waitingForEvent";
      readonly step: ExplainedStep;
      readonly type: string;
      readonly since: Date;
      readonly until: Date | null;
      readonly unreceived: number;
    }
  | {
      readonly reason: "waitingForToken";
      readonly step: ExplainedStep;
      readonly since: Date;
      readonly until: Date | null;
    }
  | {
      readonly reason: "waitingForChild";
      readonly workflowName: string;
      readonly id: string;
      readonly since: Date;
      readonly until: Date | null;
    }
  /** The last attempt failed. A hook has no step. `of` is null where this process doesn't know the number of attempts. */
  | {
      readonly reason: "retrying";
      readonly step: ExplainedStep | null;
      /** The next attempt, counted from 1. */
      readonly attempt: number;
      readonly of: number | null;
      readonly due: Date;
      readonly error: ErrorDescription;
    }
  /** It is due later, and no step says why: a hook with a delay, or work that was given back for a moment. */
  | { readonly reason: "scheduled"; readonly until: Date }
  /** Others with the same key come first. `ahead` and `held` are counted up to 1000. */
  | {
      readonly reason: "inLine";
      readonly key: string;
      /** Null if this process doesn't know the workflow's limit. */
      readonly limit: number | null;
      readonly ahead: number;
      readonly held: number;
    }
  /** Its line has used up its rate. */
  | {
      readonly reason: "rateLimited";
      readonly key: string;
      readonly limit: number | null;
      readonly ahead: number;
      readonly until: Date;
    }
  /** A worker holds it. */
  | {
      readonly reason: "running";
      readonly worker: string;
      /** Null if the worker isn't listed: see `workers()`. */
      readonly host: string | null;
      readonly alive: boolean | null;
      readonly leaseUntil: Date;
      /** The step that is known to run, and since when. Null for most: only steps whose beginning is stored are known. */
      readonly step: (ExplainedStep & { readonly since: Date }) | null;
    }
  /** Workers are alive, but none of them runs this name. */
  | { readonly reason: "noWorker"; readonly name: string; readonly workers: number }
  /** No worker is alive: no process runs a dispatcher. */
  | { readonly reason: "noDispatcher" }
  /** A worker will claim it as soon as it has a free slot. `lostBy` is the worker whose lease ran out. */
  | { readonly reason: "due"; readonly since: Date; readonly lostBy: string | null };

/** The answer of `explain`. */
export interface Explanation {
  /** For people. It may change. It has no values of users, and no messages of errors. */
  readonly sentence: string;
  readonly reason: WaitingReason;
  /** The other steps that the instance waits for at the same time, the one that is due first at the beginning; at most 20. */
  readonly others: readonly WaitingReason[];
  /** How far the clock of this process is ahead of the database's, if they differ by more than a second. */
  readonly clockAheadMs?: number;
}
