import type { InstanceHistory, InstanceRun, JournalEntry, StoredEvent } from "../../instances/instance-records.ts";
import { toJournalEntry, toStoredEvent } from "../../instances/instance-rows.ts";
import { PAGE_BYTES } from "../../instances/load-page.ts";
import { toNumber } from "../../rows.ts";
import { LOADED } from "../sql/instances/load-instances.ts";

type Row = Record<string, unknown>;

interface PartOfRun {
  wakes: number;
  readonly entries: JournalEntry[];
  readonly events: StoredEvent[];
  /** The stored size. */
  bytes: number;
}

/**
 * Makes histories of the rows of `loadInstances`. A run whose rows fill its share may have more, and so may all runs from the
 * last one that has rows, if the page is full.
 */
export function toHistories(runs: readonly InstanceRun[], rows: readonly Row[], share: number): InstanceHistory[] {
  const parts = new Map<number, PartOfRun>();
  let sentBytes = 0;
  let lastIndex = 0;
  for (const row of rows) {
    const index = toNumber(row.index);
    const part = parts.get(index) ?? { wakes: 0, entries: [], events: [], bytes: 0 };
    parts.set(index, part);
    if (row.part === LOADED.run) {
      part.wakes = toNumber(row.position);
      continue;
    }
    if (row.part === LOADED.entry) part.entries.push(toJournalEntry(row));
    else part.events.push(toEvent(row));
    part.bytes = Math.max(part.bytes, toNumber(row.stored_bytes));
    sentBytes = Math.max(sentBytes, toNumber(row.sent_bytes));
    lastIndex = Math.max(lastIndex, index);
  }
  return [...parts].map(([index, { wakes, entries, events, bytes }]) => {
    const { ref, run } = runs[index - 1] as InstanceRun;
    entries.sort((left, right) => left.position - right.position);
    const more = bytes >= share || (sentBytes >= PAGE_BYTES && index >= lastIndex);
    return { ref, run, wakes, entries, events: inOrder(events), ...(more && { more }) };
  });
}

/** An event in the columns of an entry. */
function toEvent({ name: id, position: sequence, type, value: payload, at }: Row): StoredEvent {
  return toStoredEvent({ id, sequence, type, payload, at });
}

function inOrder(events: StoredEvent[]): StoredEvent[] {
  return events.sort((left, right) => left.sequence - right.sequence);
}
