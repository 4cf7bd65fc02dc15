import type {
  EventsRequest,
  InstanceHistory,
  InstanceRun,
  JournalEntry,
  LoadedEvents,
  StoredEvent,
} from "../instance-records.ts";
import { toJournalEntry, toStoredEvent } from "../instance-rows.ts";
import { toNumber } from "../rows.ts";
import { LOADED } from "./sql/load-instances.ts";

type Row = Record<string, unknown>;

/** Rows of several tables, as they come in one answer, as what they tell of each run. */
export function toHistories(runs: readonly InstanceRun[], rows: readonly Row[]): InstanceHistory[] {
  const histories = new Map<number, { wakes: number; entries: JournalEntry[]; events: StoredEvent[] }>();
  const historyAt = (place: number) => {
    const known = histories.get(place) ?? { wakes: 0, entries: [], events: [] };
    histories.set(place, known);
    return known;
  };
  for (const row of rows) {
    const history = historyAt(toNumber(row.place));
    if (row.part === LOADED.run) history.wakes = toNumber(row.position);
    else if (row.part === LOADED.entry) history.entries.push(toJournalEntry(row));
    else history.events.push(toEvent(row));
  }
  return [...histories].map(([place, history]) => {
    const { ref, run } = runs[place - 1] as InstanceRun;
    history.entries.sort((left, right) => left.position - right.position);
    return { ref, run, ...history, events: inOrder(history.events) };
  });
}

export function toLoadedEvents(requests: readonly EventsRequest[], rows: readonly Row[]): LoadedEvents[] {
  const loaded = new Map<number, { wakes: number; events: StoredEvent[] }>();
  for (const row of rows) {
    const place = toNumber(row.place);
    const events = loaded.get(place)?.events ?? [];
    if (row.id !== null) events.push(toStoredEvent(row));
    loaded.set(place, { wakes: toNumber(row.wakes), events });
  }
  return [...loaded].map(([place, { wakes, events }]) => {
    const { ref, run } = requests[place - 1] as EventsRequest;
    return { ref, run, wakes, events: inOrder(events) };
  });
}

/** An event in the columns of an entry. */
function toEvent({ name: id, position: sequence, type, value: payload, at }: Row): StoredEvent {
  return toStoredEvent({ id, sequence, type, payload, at });
}

function inOrder(events: StoredEvent[]): StoredEvent[] {
  return events.sort((left, right) => left.sequence - right.sequence);
}
