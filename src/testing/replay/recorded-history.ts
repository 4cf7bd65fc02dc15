import { InvalidInputError } from "../../errors.ts";
import type { HistoryItem } from "../../workflows/instances/history-page.ts";

/** An entry of a history. Where it was kept as JSON, its times are texts. */
export type RecordedItem = Omit<HistoryItem, "at" | "dueAt"> & {
  readonly at: Date | string;
  readonly dueAt?: Date | string;
};

/** What `instance.history()` gave: a page that has all of it, or the entries of its pages; also as JSON. */
export type RecordedHistory = readonly RecordedItem[] | { readonly entries: readonly RecordedItem[] };

/** What the code's own steps came to in the last run, in order. What a rollback did is no matter to the code. */
export function readRecorded(history: RecordedHistory): HistoryItem[] {
  const page = history as { readonly entries?: unknown; readonly cursor?: unknown } | null;
  const entries: unknown = Array.isArray(history) ? history : page?.entries;
  if (!Array.isArray(entries)) throw invalid("replay takes what instance.history() gave, or its entries");
  if (typeof page?.cursor === "string") {
    throw invalid("replay needs the whole history, and this is one page of several: give the entries of all of them");
  }
  const items = entries.map(readItem);
  if (items.some(({ unreadable }) => unreadable !== undefined)) {
    throw invalid("replay needs every value of a history, and some couldn't be read");
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
    throw invalid(`replay takes what instance.history() gave, and entries[${index}] isn't an entry of a history`);
  }
  const [began, due] = times as [Date, Date];
  return { ...(entry as HistoryItem), at: began, ...(dueAt === undefined || dueAt === null ? {} : { dueAt: due }) };
}

function invalid(problem: string): InvalidInputError {
  return new InvalidInputError("options.invalid", `${problem}.`);
}
