import type { AttemptAbortedError } from "../errors.ts";

/** Work whose stored values can't be read, because the codec can't, is tried again after this time: keys may be given later. */
export const UNREADABLE_PAUSE_MS = 60_000;

const SHORTEST_SOLITUDE_MS = 5000;
const LONGEST_SOLITUDE_MS = 30_000;

/**
 * Most of what is lost with its process is innocent, and so it is recovered together. What was lost twice may not be: it is on its own,
 * the longer the more often it was lost.
 */
export function solitudeAfter(recoveries: number): number | null {
  return recoveries < 2 ? null : solitude(recoveries);
}

export function solitude(recoveries: number): number {
  return Math.min(SHORTEST_SOLITUDE_MS * 2 ** Math.max(recoveries - 2, 0), LONGEST_SOLITUDE_MS);
}

/** Work that the database could not be used for is given back for this time: it would meet the same error at once. */
export const UNUSABLE_PAUSE_MS = 5000;

/** Something that was claimed: it is ours to run until its lease runs out. */
export interface Work {
  /** Whether its last owner was lost while it held it. It may be what killed its owner, so nothing else starts with it. */
  readonly recovered: boolean;
  /** Given where it is recovered and must run alone: for how long nothing else that is recovered starts beside it. */
  readonly solitudeMs?: number | null;
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
  /** The process is about to end: what can't be written now isn't tried again. */
  giveUp?(): void;
  /** Gives it back as if it had never been claimed. */
  release(): Promise<void>;
  /**
   * The store failed while it was ours: gives it back, uncounted, and harmlessly if it isn't ours any more. Not given, or false: it
   * has run, and must not be given back.
   */
  giveBack?(): Promise<boolean>;
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
  /** Whether work whose owner was lost may be among them. */
  readonly takeOver: boolean;
  /** How much of that, at most. */
  readonly mostLost: number;
  /** How many of them have a slot and start at once. Default: all. */
  readonly slots?: number;
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
  /** Gives back what is leased with these tokens, which isn't run here, as if it had never been claimed. */
  giveBack(locks: readonly string[]): Promise<void>;
  /** Ends leases whose owners are known to be gone. Gives the number. */
  expireLeases(isGone: (owner: string) => boolean): Promise<number>;
  /** Deletes some of what was kept for long enough. Gives whether there may be more. */
  purge(): Promise<boolean>;
}
