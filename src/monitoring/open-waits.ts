import {
  type InstanceHistory,
  type InstanceRecord,
  isNotice,
  type JournalEntry,
} from "../store/instances/instance-records.ts";
import type { Store } from "../store/store.ts";
import { attemptsOf, decodeValue, describeWithStack, shownOrUnreadable, type Unreadable } from "../values/index.ts";
import { NEVER } from "../workflows/execution/steps/result-call.ts";
import { pathOf } from "../workflows/execution/steps/step-path.ts";
import type { ExplainedStep, WaitingReason } from "./explanation.ts";

/** A question about one instance reads no more than this of a long journal. */
const MOST_PAGES = 64;
const MOST_WAITS = 21;

/** The last entry of each step that hasn't ended, the events that no step has received, and a value that can't be read. */
export interface OpenSteps {
  readonly entries: readonly JournalEntry[];
  /** By type. */
  readonly unreceived: ReadonlyMap<string, number>;
  readonly unreadable: Unreadable | null;
}

export async function readOpenSteps(store: Store, record: InstanceRecord): Promise<OpenSteps> {
  const { ref, run } = record;
  const open = new Map<string, JournalEntry>();
  const events = new Map<number, string>();
  const received = new Set<number>();
  let unreadable = findUnreadable([record.params]);
  let after = { position: 0, sequence: 0 };
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const [page] = await store.instances.statements.load([{ ref, run, instance: record, after }]);
    if (page === undefined) break;
    unreadable ??= findUnreadable(valuesOf(page));
    for (const entry of page.entries) {
      if (entry.event !== null) received.add(entry.event);
      follow(open, entry);
    }
    for (const { sequence, type } of page.events) if (!isNotice(type)) events.set(sequence, type);
    if (page.more === undefined) break;
    const { position = after.position } = page.entries.at(-1) ?? {};
    const { sequence = after.sequence } = page.events.at(-1) ?? {};
    after = { position, sequence };
  }
  const unreceived = new Map<string, number>();
  for (const [sequence, type] of events) {
    if (!received.has(sequence) && !type.startsWith("$")) unreceived.set(type, (unreceived.get(type) ?? 0) + 1);
  }
  return { entries: [...open.values()], unreceived, unreadable };
}

/** A rollback of a step is open in its place: the step itself has ended by then. */
function follow(open: Map<string, JournalEntry>, entry: JournalEntry): void {
  if (entry.kind === "rollingBack") open.clear(); // the code has ended: only rollbacks are open from here on
  if (entry.type === "rollback" || entry.kind === "progress" || entry.kind === "unawaited") return;
  const retried = entry.kind === "failed" || entry.kind === "rollbackFailed";
  const begins = ["waiting", "started", "undoable", "rollbackStarted"].includes(entry.kind);
  if (begins || (retried && entry.dueAt !== null)) open.set(pathOf(entry), entry);
  else open.delete(pathOf(entry));
}

function valuesOf({ entries, events }: InstanceHistory): string[] {
  return [...entries.flatMap(({ value }) => value ?? []), ...events.map(({ payload }) => payload)];
}

function findUnreadable(values: readonly string[]): Unreadable | null {
  const found = shownOrUnreadable(() => {
    for (const value of values) decodeValue(value);
    return {};
  });
  return "unreadable" in found ? found.unreadable : null;
}

/** The step that is known to run: the one that began last. */
export function runningStep({ entries }: OpenSteps): (ExplainedStep & { readonly since: Date }) | null {
  const kinds: readonly JournalEntry["kind"][] = ["started", "undoable", "rollbackStarted"];
  const begun = entries
    .filter(({ kind }) => kinds.includes(kind))
    .sort((left, right) => right.position - left.position);
  return begun[0] === undefined ? null : { ...toStep(begun[0]), since: new Date(begun[0].at) };
}

/** The waits of a parked run, the one that is due first at the beginning. */
export function openWaits({ entries, unreceived }: OpenSteps, stackTraces: boolean): WaitingReason[] {
  return entries
    .filter(({ dueAt }) => dueAt !== null)
    .sort((left, right) => (left.dueAt as number) - (right.dueAt as number) || left.position - right.position)
    .slice(0, MOST_WAITS)
    .map((entry) => toReason(entry, unreceived, stackTraces));
}

function toReason(entry: JournalEntry, unreceived: OpenSteps["unreceived"], stackTraces: boolean): WaitingReason {
  const { kind, type, name, attempt, value } = entry;
  const dueAt = entry.dueAt as number;
  const step = toStep(entry);
  if (kind !== "waiting") {
    const error = describeWithStack(decodeValue(value as string), stackTraces);
    return {
      reason: "retrying",
      step,
      attempt: attempt + 1,
      of: attemptsOf(value as string),
      due: new Date(dueAt),
      error,
    };
  }
  if (type === "sleep") return { reason: "sleeping", step, until: new Date(dueAt) };
  const times = { since: new Date(entry.at), until: dueAt >= NEVER ? null : new Date(dueAt) };
  if (type === "token") return { reason: "waitingForToken", step, ...times };
  if (type === "result") {
    const [workflowName = "", id = ""] = name.split("/");
    return { reason: "waitingForChild", workflowName, id, ...times };
  }
  const awaited = String(decodeValue(value as string));
  const others = [...unreceived].reduce((total, [other, count]) => (other === awaited ? total : total + count), 0);
  return { reason: "waitingForEvent", step, type: awaited, ...times, unreceived: others };
}

function toStep({ type, name, count }: JournalEntry): ExplainedStep {
  return { type, name, count };
}
