import { hookNotFound } from "../errors.ts";
import type { RegisteredHooks } from "../hooks/registered-hooks.ts";
import { type RetryPolicy, resolveRetries } from "../queue/retry-policy.ts";
import type { HookRecord, HookReference } from "../store/hooks/hook-records.ts";
import { WorkClass } from "../store/queue/work-class.ts";
import type { Store } from "../store/store.ts";
import { decodeValue, describeWithStack, shownOrUnreadable } from "../values/index.ts";
import { clockAhead, explainDue, explainHeld, explainUnclaimed, type QueuedWork } from "./explain-queue.ts";
import type { Explanation, WaitingReason } from "./explanation.ts";
import { toExplanation } from "./sentences.ts";

/**
 * Why a hook waits, from what is stored: it writes nothing. `hooks` are those of this process, whose code says what isn't
 * stored: limits and policies. Throws `hook.not_found`.
 */
export async function explainHook(store: Store, hooks: RegisteredHooks, hook: HookReference): Promise<Explanation> {
  const record = await store.hooks.statements.get(hook);
  if (record === null) throw hookNotFound();
  const from = store.clock.now();
  const { at: now } = await store.engine.schedules.list([]);
  const ahead = clockAhead(from, store.clock.now(), now);
  return toExplanation("hook", [await reasonOf(store, hooks, record, now)], ahead);
}

/** `now` is the database's time. */
async function reasonOf(store: Store, hooks: RegisteredHooks, record: HookRecord, now: number): Promise<WaitingReason> {
  const { namespace, name, lock, availableAt, status, finishedAt } = record;
  const shown = shownOrUnreadable(() => {
    decodeValue(record.payload);
    return { error: record.error === null ? null : describeWithStack(decodeValue(record.error), store.stackTraces) };
  });
  const error = "error" in shown ? shown.error : null;
  if (availableAt === null || status === "failed" || status === "completed") {
    const at = finishedAt === null ? null : new Date(finishedAt);
    const ended = status === "failed" ? "failed" : "completed";
    return { reason: "finished", status: ended, at, ...(error === null ? {} : { error }) };
  }
  const work: QueuedWork = { namespace, kind: "hooks", name, lock, now, availableAt, dueSince: availableAt };
  if (lock !== null && availableAt > now) return explainHeld(store, { ...work, lock }, null);
  if ("unreadable" in shown) return { reason: "unreadable", ...shown.unreadable };
  if (availableAt <= now) {
    return (await explainUnclaimed(store, work)) ?? (await explainLine(store, hooks, record, work)) ?? explainDue(work);
  }
  if (error === null) return { reason: "scheduled", until: new Date(availableAt) };
  const attempt = record.attempts + 1;
  return { reason: "retrying", step: null, attempt, of: attemptsOf(record, hooks), due: new Date(availableAt), error };
}

/** Null if a worker will admit it now. */
async function explainLine(
  store: Store,
  hooks: RegisteredHooks,
  record: HookRecord,
  { now, availableAt }: QueuedWork,
): Promise<WaitingReason | null> {
  const { namespace, id, name, class: own, lineKey: key, rateKey } = record;
  if (key === null || own < WorkClass.lineContinuing) return null;
  const limits = hooks.find(name)?.flow?.limits;
  const { slots = null, starts = null } = limits ?? {};
  const rate = rateKey === null || starts === null ? null : { key: rateKey, limit: starts.limit };
  const place = await store.hooks.statements.placeInLine({
    namespace,
    id,
    lineKey: key,
    class: own,
    availableAt,
    now,
    rate,
  });
  const { ahead, held, startedAt } = place;
  const unknown = hooks.find(name) === undefined && (held > 0 || ahead > 0);
  if (unknown || (slots !== null && held >= slots)) return { reason: "inLine", key, limit: slots, ahead, held };
  const until = startedAt === null || starts === null ? null : startedAt + starts.periodMs;
  if (until !== null && until > now) {
    return { reason: "rateLimited", key: rateKey as string, limit: rate?.limit ?? null, ahead, until: new Date(until) };
  }
  return slots !== null && ahead > 0 ? { reason: "inLine", key, limit: slots, ahead, held } : null;
}

/** The trigger's own policy is stored; that of the hook's definition is code. */
function attemptsOf({ name, retries }: HookRecord, hooks: RegisteredHooks): number | null {
  const ofTrigger = retries === null ? {} : (JSON.parse(retries) as Partial<RetryPolicy>);
  const definition = hooks.find(name);
  const { limit = null } = definition === undefined ? ofTrigger : resolveRetries(definition.retries, ofTrigger);
  return limit === null ? null : limit + 1;
}
