import type { CodecError } from "../errors.ts";
import { isNonRetryable } from "../non-retryable.ts";
import { type RetryPolicy, requestedDelay, resolveRetries, retryDelay } from "../queue/retry-policy.ts";
import type { ClaimedHook, HookOutcome } from "../store/hooks/hook-records.ts";
import type { Store } from "../store/store.ts";
import { encodeError } from "../values/index.ts";
import type { AnyHookDefinition } from "./define-hook.ts";
import type { HookSettings } from "./hook-settings.ts";

/** Hooks with a caller's id are kept at least this long, so that a second trigger with the id does nothing. */
const KEEP_OWN_IDS_MS = 30 * 24 * 3_600_000;

/** How a handler's attempt ended, where it is still to be settled. */
export type AttemptResult = { readonly kind: "completed" } | { readonly kind: "threw"; readonly error: unknown };

/** How an attempt ended. */
export type AttemptEnding =
  | AttemptResult
  | { readonly kind: "unreadable"; readonly error: CodecError }
  | { readonly kind: "abandoned" }
  /** Its transaction has settled the hook. The handler may have failed afterwards. */
  | { readonly kind: "settled"; readonly error?: unknown };

/** What becomes of the hook. */
export function completedOutcome({ ownId }: ClaimedHook, { keepMs }: HookSettings): HookOutcome {
  return { kind: "completed", keepMs: ownId ? Math.max(keepMs, KEEP_OWN_IDS_MS) : keepMs };
}

/** The same after an error. `final`: another attempt would fail the same way. */
export function failedOutcome(
  { attempts }: ClaimedHook,
  thrown: unknown,
  policy: RetryPolicy,
  { clock, randomness }: Store,
  { final }: { readonly final: boolean },
): HookOutcome {
  const error = encodeError(thrown);
  if (final || isNonRetryable(thrown) || attempts > policy.limit) return { kind: "failed", error };
  const delayMs = requestedDelay(thrown, clock.now()) ?? retryDelay(policy, attempts, randomness);
  return { kind: "retry", delayMs: Math.round(delayMs), error };
}

export function policyOf(definition: AnyHookDefinition, { retries }: ClaimedHook): RetryPolicy {
  const ofTrigger = retries === null ? {} : (JSON.parse(retries) as Partial<RetryPolicy>);
  return resolveRetries(definition.retries, ofTrigger);
}

/**
 * Whether a lost owner may have begun without having written so. Not after an earlier loss, and not on the last
 * attempt: then owners write that they begin before they do.
 */
export function mayHaveBegun({ inDoubt, recoveries, attempts }: ClaimedHook, { limit }: RetryPolicy): boolean {
  return inDoubt && recoveries === 0 && attempts <= limit;
}

export function counted(hook: ClaimedHook): ClaimedHook {
  return { ...hook, attempts: hook.attempts + 1, recoveries: hook.recoveries + 1 };
}
