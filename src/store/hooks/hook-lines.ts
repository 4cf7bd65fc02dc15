import type { LineLimits } from "../lines/line-records.ts";
import { WorkClass } from "../queue/work-class.ts";

/**
 * Limits of hooks. A hook with limits carries the keys that it shares with others (`line_key`, and `rate_key` if it has a
 * rate), and waits in classes of its own, which no claim reads. A worker admits it: under a lock of the namespace, it counts
 * the hooks of the key that are leased and the starts of the period, and leases as many as the limits allow. The rows
 * themselves hold the slots, so a hook whose process was lost keeps its slot until it is taken over, and nothing is to be freed
 * when a hook ends.
 */
export interface HookLine {
  /** What shares slots; without a limit of concurrency, what shares a rate. */
  readonly lineKey: string;
  readonly rateKey: string | null;
}

export interface HookAdmitRequest {
  readonly namespace: string;
  /** Each hook of the process, with its limits; those that have none any more are admitted without. */
  readonly hooks: readonly { readonly name: string; readonly limits: LineLimits }[];
  /** How many hooks the worker can start now. */
  readonly room: number;
  readonly lock: string;
  readonly leaseMs: number;
  /** Where among the keys to begin, so that no key is always the first. */
  readonly after: string;
}

/** The keys of hooks in `start` are between these; those of workflows aren't. */
export const HOOK_KEYS = { from: "$hook/", to: "$hook0" } as const;
/** How many keys an admission visits. */
export const MOST_HOOK_KEYS = 1000;

/** A hook that stands in line and is due: where does it stand? */
export interface HookLineQuestion {
  readonly namespace: string;
  readonly id: string;
  readonly lineKey: string;
  readonly class: WorkClass;
  readonly availableAt: number;
  /** The database's time. */
  readonly now: number;
  /** Null if it has no rate, or if that is unknown. */
  readonly rate: { readonly key: string; readonly limit: number } | null;
}

export interface HookLinePlace {
  /** How many come before it; counted up to `MOST_AHEAD`. */
  readonly ahead: number;
  /** How many hold a slot of the key; counted up to the same number. */
  readonly held: number;
  /** When the earliest of as many of the latest starts was as the rate allows; null if there are fewer. */
  readonly startedAt: number | null;
}

/**
 * Those before a place have its class, and an earlier time or, at the same time, a smaller id. Hooks that have begun come
 * first.
 */
export function placesBefore({ class: own, availableAt, id, now }: HookLineQuestion) {
  const place = { class: own, availableAt, id };
  const begun = { class: WorkClass.lineContinuing, availableAt: now + 1, id: "" };
  return own === WorkClass.lineFresh ? [begun, place] : [place];
}

/** The parameters by which a start is found that uses up the rate. */
export function usedUpStart({ rate }: HookLineQuestion): [key: string | null, offset: number] {
  return rate === null ? [null, 0] : [rate.key, rate.limit - 1];
}
