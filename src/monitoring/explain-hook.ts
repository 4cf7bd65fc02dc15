import { hookNotFound } from "../errors.ts";
import type { RetryPolicy } from "../queue/retry-policy.ts";
import type { HookRecord, HookReference } from "../store/hooks/hook-records.ts";
import type { Store } from "../store/store.ts";
import { decodeValue, describeWithStack, shownOrUnreadable } from "../values/index.ts";
import { clockAhead, explainDue, explainHeld, explainUnclaimed, type QueuedWork } from "./explain-queue.ts";
import type { Explanation, WaitingReason } from "./explanation.ts";
import { toExplanation } from "./sentences.ts";

/** Why a hook isn't further than it is, from what is stored: it writes nothing. Throws `hook.not_found`. */
export async function explainHook(store: Store, hook: HookReference): Promise<Explanation> {
  const record = await store.hooks.statements.get(hook);
  if (record === null) throw hookNotFound();
  const from = store.clock.now();
  const { at: now } = await store.engine.schedules.list([]);
  const ahead = clockAhead(from, store.clock.now(), now);
  return toExplanation("hook", [await reasonOf(store, record, now)], ahead);
}

/** `now` is the database's time. */
async function reasonOf(store: Store, record: HookRecord, now: number): Promise<WaitingReason> {
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
  if (availableAt <= now) return (await explainUnclaimed(store, work)) ?? explainDue(work);
  if (error === null) return { reason: "scheduled", until: new Date(availableAt) };
  const { attempts } = record;
  return {
    reason: "retrying",
    step: null,
    attempt: attempts + 1,
    of: attemptsOf(record),
    due: new Date(availableAt),
    error,
  };
}

/** The trigger's own policy is stored; that of the hook's definition is code. */
function attemptsOf({ retries }: HookRecord): number | null {
  const { limit } = retries === null ? {} : (JSON.parse(retries) as Partial<RetryPolicy>);
  return limit === undefined ? null : limit + 1;
}
