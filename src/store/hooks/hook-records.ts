import type { WorkClass } from "../queue/work-class.ts";
import type { HookLine } from "./hook-lines.ts";

/** Names one hook among all that a database holds. */
export interface HookReference {
  readonly namespace: string;
  readonly id: string;
}

/** A hook and the token that fences every write of its present owner. */
export interface HookLease extends HookReference {
  readonly lock: string;
}

/** The counts that an owner writes before an attempt begins, where the database must know that it began. */
export interface HookCount extends HookLease {
  readonly attempts: number;
  readonly recoveries: number;
  /** Whether the attempt begins now: from then on the loss of its owner counts. */
  readonly begins: boolean;
}

/** How a trigger with a key waits for silence: both times are counted from the trigger, by the database's time. */
export interface Debounce {
  /** How long it must stay quiet after this trigger. */
  readonly delayMs: number;
  /** How long the trigger waits at most, whatever follows it. Never less than the delay. */
  readonly maxWaitMs: number;
}

/** A trigger, as it is stored. Values are encoded already. */
export interface HookInsert extends HookReference {
  readonly name: string;
  readonly key: string | null;
  /** Whether the id is the caller's own: such hooks are kept for a while, so that the same id does nothing a second time. */
  readonly ownId: boolean;
  /** How many triggers this stands for: those of one key are merged before they are written. */
  readonly triggers: number;
  /** When it was triggered, where that is known from before; null is now, by the database's time. */
  readonly triggeredAt: number | null;
  readonly payload: string;
  readonly retries: string | null;
  readonly trace: string | null;
  /**
   * When it is due; null is at once, by the database's time. A trigger with a debounce is due then at the latest, if it has
   * both.
   */
  readonly processAt: number | null;
  /** Only with a key. */
  readonly debounce: Debounce | null;
  /**
   * Given when the inserting process starts it itself: the row is born claimed, with its first attempt counted. Never with a
   * key, because such a trigger may become part of another row.
   */
  readonly lease: { readonly lock: string; readonly leaseMs: number } | null;
  /** Where it waits, if its hook has limits. */
  readonly line?: HookLine;
}

export interface ClaimedHook extends HookLease {
  readonly name: string;
  readonly key: string | null;
  readonly ownId: boolean;
  /** With this one. */
  readonly attempts: number;
  /**
   * How many owners in a row were lost while they held it, this takeover included, if that owner had written that it begins.
   */
  readonly recoveries: number;
  /**
   * Whether an owner was lost that hadn't written so. Neither that loss nor its attempt is counted here: the code that knows
   * the hook's policy decides whether that owner may have begun. The doubt stays with the hook until it is counted or settled.
   */
  readonly inDoubt: boolean;
  readonly triggers: number;
  readonly payload: string;
  readonly retries: string | null;
  readonly trace: string | null;
  readonly createdAt: number;
  /** When the attempt before this one began. */
  readonly lastAttemptAt: number | null;
  /** When it was due: the trigger's time, the retry's, or the end of the lost lease. */
  readonly dueAt: number;
  /** The database's time of this claim. */
  readonly claimedAt: number;
  /** The key of its line; null without limits. */
  readonly lineKey: string | null;
}

/**
 * How an attempt ended, and so what becomes of the row. If the hook was triggered again while it ran, it becomes pending with
 * that trigger instead, whatever the outcome.
 *
 * - `completed`: deleted if `keepMs` is zero; else kept that long, for ever if it is infinite.
 * - `retry`: due again after `delayMs`.
 * - `failed`: kept as a dead letter.
 * - `released`: given back as if it had never been claimed, due at once or after `delayMs`.
 */
export type HookOutcome =
  | { readonly kind: "completed"; readonly keepMs: number }
  | { readonly kind: "retry"; readonly delayMs: number; readonly error: string }
  | { readonly kind: "failed"; readonly error: string }
  | { readonly kind: "released"; readonly delayMs?: number };

export interface HookSettlement extends HookLease {
  /** Whether it has a key, and so may have been triggered again while it ran. */
  readonly keyed: boolean;
  readonly outcome: HookOutcome;
  /** Whether it was sent before, and the database may have taken it. */
  readonly again?: boolean;
}

/**
 * `lost`: another owner has the row or has finished it, and nothing was written. Otherwise what the row became, by this
 * settlement or by one that was sent before and whose reply was lost.
 */
export type SettleResult = "lost" | "deleted" | "pending" | "failed" | "completed";

export const HOOK_STATUSES = ["pending", "processing", "failed", "completed"] as const;

export type HookStatus = (typeof HOOK_STATUSES)[number];

/** A hook as an operator sees it. */
export interface HookRecord extends HookReference {
  readonly name: string;
  readonly key: string | null;
  readonly status: HookStatus;
  readonly class: WorkClass;
  /** The token of its owner; null if it has none. */
  readonly lock: string | null;
  readonly attempts: number;
  readonly recoveries: number;
  readonly triggers: number;
  readonly payload: string;
  readonly retries: string | null;
  readonly error: string | null;
  /** The keys of its line and its rate; null without limits. See `HookLine`. */
  readonly lineKey: string | null;
  readonly rateKey: string | null;
  readonly createdAt: number;
  readonly lastAttemptAt: number | null;
  /** When it is due; the end of its lease while it is processing; null when it is finished. */
  readonly availableAt: number | null;
  readonly finishedAt: number | null;
}

export interface HookFilter {
  readonly namespace: string;
  readonly status: HookStatus | null;
  /** Only hooks whose id comes after (or, newest first, before) this one. */
  readonly after: string | null;
  readonly order: "oldest" | "newest";
  readonly limit: number;
}

/** `limit` is how many hooks are compared, in the order of ids. Null is anything. */
export interface HookSearch extends HookFilter {
  readonly name: string | null;
  readonly idPrefix: string | null;
  /** Triggered at this time or later, in milliseconds. */
  readonly createdFrom: number | null;
  /** Triggered before this time. */
  readonly createdBefore: number | null;
  /** Whether to return the errors of those that match. */
  readonly errors: boolean;
}

/** A hook that was compared. */
export interface SearchedHook extends HookReference {
  readonly name: string;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  readonly matches: boolean;
  readonly error: string | null;
}

export interface HookStatistics {
  readonly pending: number;
  /** Pending and due by now. */
  readonly due: number;
  readonly processing: number;
  readonly failed: number;
  readonly completed: number;
  /** How long the oldest due hook has been waiting; null when none is due. */
  readonly oldestDueMs: number | null;
}
