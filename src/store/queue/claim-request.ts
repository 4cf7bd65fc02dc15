import type { WorkerInsert } from "../workers/worker-records.ts";
import type { UnclaimedQuestion } from "./unclaimed.ts";

/** The hooks or workflows of one namespace that a process has code for, by name: it claims no others. */
export interface QueueScope {
  readonly namespace: string;
  readonly names: readonly string[];
}

/** Asks for due rows of these scopes, to be claimed with this token for the length of the lease. */
export interface ClaimRequest {
  readonly scopes: readonly QueueScope[];
  readonly limit: number;
  /** Whether the claim may take over rows whose lease has expired. */
  readonly takeOver: boolean;
  /**
   * How many rows to take over at most, of those that have lost only one owner. Rows that have lost more are taken over one at
   * a time, and only if there is no other row to take over, because they may be what kills their owners. Default: one.
   */
  readonly mostLost?: number;
  readonly lock: string;
  readonly leaseMs: number;
}

/** How to look for the time at which rows are due. */
export interface WakeQuestion {
  /** Whether rows whose lease has expired count. */
  readonly takeOver: boolean;
  /** Whether only hooks with limits count, which wait in lines. */
  readonly inLine?: boolean;
  /** The worker that asks, if its heartbeat is to be written together with the question. */
  readonly worker?: WorkerInsert | undefined;
  /** Which names have due rows, if that is to be read by the same statement. */
  readonly unclaimed?: UnclaimedQuestion | undefined;
}
