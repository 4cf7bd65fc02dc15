import type { HookInsert } from "../hooks/hook-records.ts";

/**
 * A job is found by its row beside hooks, which has this name: a claimable row like any other. Whoever claims that runs the job
 * for a turn. No hook of a user can have this name.
 */
export const JOB = "$job";

/** The row beside hooks by which workers find a job. */
export function rowOfJob({ namespace, id }: JobReference): HookInsert {
  return {
    namespace,
    id: `${ID_PREFIX}${id}`,
    ownId: false,
    name: JOB,
    key: null,
    triggers: 1,
    triggeredAt: null,
    payload: "null",
    retries: null,
    trace: null,
    processAt: null,
    debounce: null,
    lease: null,
  };
}

const ID_PREFIX = "job~";

/** The job that a row beside hooks is for. */
export function jobOfRow({ namespace, id }: Pick<HookInsert, "namespace" | "id">): JobReference {
  return { namespace, id: id.slice(ID_PREFIX.length) };
}

/** Names one job among all that a database holds. */
export interface JobReference {
  readonly namespace: string;
  readonly id: string;
}

/** A new job. It is due at once. */
export interface JobInsert extends JobReference {
  /** Who asked for it; null if that is unknown. */
  readonly actor: string | null;
  /** What it does to which items, as JSON. It never changes. */
  readonly request: string;
  /** How far it is, as JSON. */
  readonly progress: string;
}

export interface JobRecord extends JobInsert {
  /** The token of its owner; null while it has none. */
  readonly lock: string | null;
  readonly startedAt: number;
  /** Null until all of its work has ended. */
  readonly endedAt: number | null;
  /** Whether an operator has cancelled it. Its owner ends it as soon as it has counted what it has done. */
  readonly cancelled: boolean;
}

export interface JobClaim extends JobReference {
  readonly lock: string;
  readonly leaseMs: number;
}

/**
 * What an owner writes of its job.
 *
 * - `held`: it keeps the job for another lease.
 * - `released`: it is due for any worker, at once.
 * - `ended`: nothing is left to do.
 */
export interface JobWrite extends JobReference {
  readonly lock: string;
  readonly progress: string;
  readonly outcome: { readonly kind: "held"; readonly leaseMs: number } | { readonly kind: "released" | "ended" };
}

/** `lost`: another owner has it, and nothing was written. `cancelled`: it was written, and the job must end. */
export type JobWriteResult = "written" | "cancelled" | "lost";

export type HookAction = "redrive" | "discard" | "cancel";

export interface JobPageRequest {
  readonly namespace: string;
  /** Only jobs whose id comes before this one. */
  readonly before: string | null;
  readonly limit: number;
}
