import type { AttemptAbortedError } from "../errors.ts";
import type { WakeQuestion } from "../store/queue/claim-request.ts";
import type { WorkKind } from "../store/queue/work-board.ts";

/** Work whose stored values the codec can't read is tried again after this time: the key may arrive later. */
export const UNREADABLE_PAUSE_MS = 60_000;

/** An instance whose code has diverged from its history is tried again after this time: matching code may be deployed. */
export const DIVERGED_PAUSE_MS = 60_000;

const SHORTEST_SOLITUDE_MS = 5000;
const LONGEST_SOLITUDE_MS = 30_000;

/**
 * For how long recovered work runs alone. Most work that is lost with its process is innocent, so work that was lost once is
 * recovered together. Work that was lost twice runs alone, for longer with each loss.
 */
export function solitudeAfter(recoveries: number): number | null {
  return recoveries < 2 ? null : solitude(recoveries);
}

export function solitude(recoveries: number): number {
  return Math.min(SHORTEST_SOLITUDE_MS * 2 ** Math.max(recoveries - 2, 0), LONGEST_SOLITUDE_MS);
}

/** Work is released for this long if the database could not be used for it: otherwise it would fail again at once. */
export const UNUSABLE_PAUSE_MS = 5000;

/** Claimed work: this worker may run it until its lease runs out. */
export interface Work {
  /** Whether its last owner was lost. It may have killed that owner, so no other work starts with it. */
  readonly recovered: boolean;
  /** For recovered work that must run alone: for how long no other recovered work starts beside it. */
  readonly solitudeMs?: number | null;
  /** A description for log lines. */
  readonly description: string;
  /**
   * Runs it and writes its outcome. Calls `onEnd` when the user's code has ended and only the write is left. Resolves with the
   * failure of the user's code, or null; rejects only if the store failed. Work with several parts begins no more of them when
   * `isHeld` says that the lease may have run out: a process that was suspended may not have noticed yet. `onFailure` receives
   * failed attempts at parts that will be retried. `slots` is how many slots its worker has for work of this kind.
   */
  execute(
    onEnd: () => void,
    isHeld: () => boolean,
    onFailure: (failure: AttemptFailure) => void,
    slots: number,
  ): Promise<AttemptFailure | null>;
  /** Tells the running code to stop, and writes nothing more: the row has, or gets, another owner. */
  abandon(reason: AttemptAbortedError): void;
  /** The process is shutting down: work with several parts begins no more of them, and releases itself. */
  wrapUp?(): void;
  /** The process is shutting down: failed writes are not repeated. */
  giveUp?(): void;
  /** Releases it as if it had not been claimed. */
  release(): Promise<void>;
  /**
   * The store failed while this worker held it: releases it, uncounted; harmless if it has another owner. Absent, or false: it
   * has run, and must not be released.
   */
  giveBack?(): Promise<boolean>;
}

export interface AttemptFailure {
  readonly error: unknown;
  readonly description: string;
  readonly attempt: number;
  /** Whether this was the last attempt. */
  readonly final: boolean;
}

export interface WorkClaim {
  readonly limit: number;
  /** Whether rows of lost owners may be among them. */
  readonly takeOver: boolean;
  /** How many of those, at most. */
  readonly mostLost: number;
  /** How many of them have a slot and start at once. Default: all. */
  readonly slots?: number;
  readonly lock: string;
  readonly leaseMs: number;
}

/** Claimable rows of one kind in one database. */
export interface WorkSource {
  /** Hooks and workflows run in slots of their own. */
  readonly kind: WorkKind;
  /** Whether claimed rows start at once, so that each needs a free slot. Default: false. */
  readonly needsRoom?: boolean;
  claim(request: WorkClaim): Promise<Work[]>;
  /** Milliseconds until work is due, zero or less if it is due now; null if none waits. */
  nextWake(question: WakeQuestion): Promise<number | null>;
  /** Whether its question for the next wake can carry a worker's heartbeat. Default: false. */
  readonly carriesBeats?: true;
  /** Renews the leases of work of this source. Returns the work that is still held. */
  renew(work: readonly Work[], leaseMs: number): Promise<Set<Work>>;
  /** Releases rows that are leased with these tokens and don't run here, as if they had not been claimed. */
  giveBack(locks: readonly string[]): Promise<void>;
  /** Ends leases whose owners are known to have ended. Returns how many. */
  expireLeases(isGone: (owner: string) => boolean): Promise<number>;
  /** Deletes some rows whose retention is over. Returns whether there may be more. */
  purge(): Promise<boolean>;
}
