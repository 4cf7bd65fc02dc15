import { instanceNotFound } from "../errors.ts";
import type { InstanceName, InstanceRecord, InstanceSituation } from "../store/instances/instance-records.ts";
import { LineKind, type LineLimits } from "../store/lines/line-records.ts";
import { WorkClass } from "../store/queue/work-class.ts";
import type { Store } from "../store/store.ts";
import { decodeValue, describeError, describeWithStack, shownOrUnreadable } from "../values/index.ts";
import { clockAhead, explainDue, explainHeld, explainUnclaimed, type QueuedWork } from "./explain-queue.ts";
import type { Explanation, WaitingReason } from "./explanation.ts";
import { type OpenSteps, openWaits, readOpenSteps, runningStep } from "./open-waits.ts";
import { toExplanation } from "./sentences.ts";

type Reasons = readonly [WaitingReason, ...WaitingReason[]];

/** Why an instance waits, from what is stored: it writes nothing. Throws `instance.not_found`. */
export async function explainInstance(
  store: Store,
  name: InstanceName,
  limits: LineLimits,
  sees: (labels: string | null) => boolean = () => true,
): Promise<Explanation> {
  const { statements } = store.instances;
  const [record] = await statements.find([name]);
  if (!record || !sees(record.labels)) throw instanceNotFound(name.name, name.id);
  const from = store.clock.now();
  const situation = await statements.situation(record.ref);
  const to = store.clock.now();
  if (situation === null) throw instanceNotFound(name.name, name.id);
  const reasons = await reasonsOf(store, record, situation, limits);
  return toExplanation("instance", reasons, clockAhead(from, to, situation.now));
}

async function reasonsOf(
  store: Store,
  record: InstanceRecord,
  situation: InstanceSituation,
  limits: LineLimits,
): Promise<Reasons> {
  const known = explainState(store, record, situation);
  if (known !== null) return [known];
  const { namespace, name, availableAt } = record;
  const { now, lock } = situation;
  if (availableAt === null) return [{ reason: "paused", pausing: false, by: situation.pausedBy }]; // it was paused between the two reads
  const dueSince = Math.max(availableAt, record.createdAt); // a rank is earlier than every due time
  const work: QueuedWork = { namespace, kind: "workflows", name, lock, now, availableAt, dueSince };
  const steps = await readOpenSteps(store, record);
  const isHeld = situation.class === WorkClass.leased && lock !== null;
  if (isHeld && availableAt > now) return [await explainHeld(store, { ...work, lock }, runningStep(steps))];
  if (steps.unreadable !== null) return [{ reason: "unreadable", ...steps.unreadable }];
  if (availableAt > now) return explainWaits(store, steps, availableAt);
  return [
    (await explainUnclaimed(store, work)) ?? explainLine(situation, limits) ?? explainDue(isHeld ? work : freed(work)),
  ];
}

/** Its owner gave it up by itself. */
function freed(work: QueuedWork): QueuedWork {
  return { ...work, lock: null };
}

/** What its status says; null if it is to be claimed, or held. */
function explainState(store: Store, record: InstanceRecord, { pausedBy: by }: InstanceSituation): WaitingReason | null {
  const { status, error, finishedAt } = record;
  if (status === "paused" || status === "waitingForPause")
    return { reason: "paused", pausing: status !== "paused", by };
  if (status === "diverged") {
    const diverged = shownOrUnreadable(() => ({ error: describeError(decodeValue(error as string)) }));
    return "error" in diverged ? { reason: "diverged", ...diverged } : { reason: "unreadable", ...diverged.unreadable };
  }
  if (status !== "complete" && status !== "errored" && status !== "terminated") return null;
  const shown = shownOrUnreadable(() =>
    status === "errored" ? { error: describeWithStack(decodeValue(error as string), store.stackTraces) } : {},
  );
  const described = "error" in shown ? { error: shown.error } : {};
  return { reason: "finished", status, at: finishedAt === null ? null : new Date(finishedAt), ...described };
}

/** A run without a wait was given back for a while. */
function explainWaits(store: Store, steps: OpenSteps, availableAt: number): Reasons {
  const [first, ...others] = openWaits(steps, store.stackTraces);
  return first === undefined ? [{ reason: "scheduled", until: new Date(availableAt) }] : [first, ...others];
}

/** Null if a worker will admit it now. */
function explainLine({ line, now }: InstanceSituation, { slots, starts }: LineLimits): WaitingReason | null {
  if (line === null) return null;
  const { kind, key, ahead, held, lookAt } = line;
  if (lookAt !== null && lookAt > now) {
    return { reason: "rateLimited", key, limit: starts?.limit ?? null, ahead, until: new Date(lookAt) };
  }
  return kind === LineKind.slots && (lookAt === null || ahead > 0)
    ? { reason: "inLine", key, limit: slots, ahead, held }
    : null;
}
