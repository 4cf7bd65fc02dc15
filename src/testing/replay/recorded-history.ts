import { invalidOption } from "../../options.ts";
import type { InstanceName, NewEntry } from "../../store/instances/instance-records.ts";
import type { InstanceStatements } from "../../store/instances/instance-statements.ts";
import { encodeError, encodeValue } from "../../values/index.ts";
import { NEVER } from "../../workflows/execution/steps/result-call.ts";
import type { HistoryItem } from "../../workflows/views/history-page.ts";

/** An entry of a history. Where it was kept as JSON, its times are texts. */
type RecordedItem = Omit<HistoryItem, "at" | "dueAt"> & {
  readonly at: Date | string;
  readonly dueAt?: Date | string;
};

/** The result of `instance.history()`: one page with all entries, or the entries of several pages; also as JSON. */
export type RecordedHistory = readonly RecordedItem[] | { readonly entries: readonly RecordedItem[] };

/** The endings of the code's own steps in the last run, in order. Rollbacks are left out: the code doesn't see them. */
export function readRecorded(history: RecordedHistory): HistoryItem[] {
  const page = history as { readonly entries?: unknown; readonly cursor?: unknown } | null;
  const entries: unknown = Array.isArray(history) ? history : page?.entries;
  if (!Array.isArray(entries)) throw invalidOption("replay takes the result of instance.history(), or its entries");
  if (typeof page?.cursor === "string") {
    throw invalidOption(
      "replay needs the whole history, and this is one page of several: pass the entries of all of them",
    );
  }
  const items = entries.map(readItem);
  if (items.some(({ unreadable }) => unreadable !== undefined)) {
    throw invalidOption("replay needs every value of a history, and some couldn't be read");
  }
  const run = Math.max(...items.map((item) => item.run));
  return items
    .filter((item) => item.run === run && item.type !== "rollback" && !item.kind.startsWith("roll"))
    .sort((left, right) => left.position - right.position);
}

function readItem(entry: unknown, index: number): HistoryItem {
  const { run, position, kind, type, name, count, at, dueAt } = Object(entry) as Partial<RecordedItem>;
  const numbers = [run, position, count].every((value) => Number.isInteger(value));
  const texts = [kind, type, name].every((value) => typeof value === "string");
  const times = [at, dueAt ?? at].map((time) => new Date(time ?? Number.NaN));
  if (!numbers || !texts || times.some((time) => Number.isNaN(time.getTime()))) {
    throw invalidOption(
      `replay takes the result of instance.history(), and entries[${index}] isn't an entry of a history`,
    );
  }
  const [began, due] = times as [Date, Date];
  return { ...(entry as HistoryItem), at: began, ...(dueAt === undefined || dueAt === null ? {} : { dueAt: due }) };
}

const LEASE = { lock: "history", leaseMs: 1000 };

/** Makes an instance that has been through this, and is due. */
export async function storeHistory(
  statements: InstanceStatements,
  name: InstanceName & { readonly version: number },
  params: string,
  entries: readonly HistoryItem[],
): Promise<void> {
  const ref = name.id;
  await statements.insert([{ ...name, ref, params, parent: null, traits: null, lease: LEASE }]);
  const received = entries.filter(({ event }) => event !== undefined);
  for (const [index, { event }] of received.entries()) {
    const { type = "", payload } = event ?? {};
    await statements.sendEvents([{ ...name, eventId: `event-${index}`, type, payload: encodeValue(payload) }]);
  }
  const toEntry = (item: HistoryItem): NewEntry => ({
    kind: item.type === "result" && item.kind === "received" ? "completed" : item.kind,
    type: item.type,
    name: item.name,
    count: item.count,
    attempt: item.attempt ?? 0,
    value: toValue(item),
    dueAt: item.dueAt?.getTime() ?? (item.kind === "waiting" ? NEVER : null),
    event: item.event === undefined ? null : received.indexOf(item) + 1,
    parent: item.inside ?? null,
  });
  const outcome = { kind: "parked", dueAt: 0, wakes: received.length } as const;
  const lease = { ref, run: 1, lock: LEASE.lock, instance: name };
  await statements.commit([{ ...lease, position: 1, entries: entries.map(toEntry), outcome }]);
}

function toValue({ output, error }: HistoryItem): string | null {
  if (error !== undefined) return encodeError(Object.assign(new Error(error.message), { name: error.name }));
  return output === undefined ? null : encodeValue(output);
}
