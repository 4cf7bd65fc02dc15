import type { AttemptAbortedError } from "../errors.ts";

/** Work whose stored values can't be read, because the codec can't, is tried again after this time: keys may be given later. */
export const UNREADABLE_PAUSE_MS = 60_000;

/** Something that was claimed: it is ours to run until its lease runs out. */
export interface Work {
  /** Whether its last owner was lost while it held it. Such work runs alone: it may be what killed its owner. */
  readonly recovered: boolean;
  /** For people who read logs. */
  readonly description: string;
  /**
   * Runs it and writes what came of it. Calls `onEnd` when the user's code has ended and only the writing is left. Gives what
   * the user's code threw, if it did; rejects only if the store failed. What has several parts begins none of them any more when
   * `isHeld` says that the lease may be over: a process that stood still may not have noticed yet. `onFailure` is told of attempts
   * at parts of it that failed and will be tried again.
   */
  execute(
    onEnd: () => void,
    isHeld: () => boolean,
    onFailure: (failure: AttemptFailure) => void,
  ): Promise<AttemptFailure | null>;
  /** Tells the running code to stop, and writes nothing of it any more: the row has, or gets, another owner. */
  abandon(reason: AttemptAbortedError): void;
  /** The process is about to end: what has several parts begins no more of them, and gives itself back. */
  wrapUp?(): void;
  /** Gives it back as if it had never been claimed. */
  release(): Promise<void>;
}

export interface AttemptFailure {
  readonly error: unknown;
  readonly description: string;
  readonly attempt: number;
  /** Whether no other attempt follows. */
  readonly final: boolean;
}

export interface WorkClaim {
  readonly limit: number;
  /** Whether one piece of work whose owner was lost may be among them. */
  readonly takeOver: boolean;
  /** How many of them begin at once. Default: all. */
  readonly places?: number;
  readonly lock: string;
  readonly leaseMs: number;
}

/** Claimable rows of one kind in one database. */
export interface WorkSource {
  /** Whether what is claimed here begins at once, so that there must be places for it. Default: false. */
  readonly needsRoom?: boolean;
  claim(request: WorkClaim): Promise<Work[]>;
  /** Milliseconds until something is due, zero or less if it is; null if nothing waits. */
  nextWake(options: { takeOver: boolean }): Promise<number | null>;
  /** Extends the leases of these, which are all of this source. Gives those that are still ours. */
  renew(work: readonly Work[], leaseMs: number): Promise<Set<Work>>;
  /** Ends leases whose owners are known to be gone. Gives the number. */
  expireLeases(isGone: (owner: string) => boolean): Promise<number>;
  /** Deletes some of what was kept for long enough. Gives whether there may be more. */
  purge(): Promise<boolean>;
}
