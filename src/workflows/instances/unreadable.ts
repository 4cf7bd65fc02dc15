import { UNREADABLE_PAUSE_MS } from "../../queue/work.ts";
import type { InstanceHistory, InstanceRecord, LoadedEvents } from "../../store/instances/instance-records.ts";
import type { Store } from "../../store/store.ts";
import { decodeValue, refuseEncoded, shownOrUnreadable, type Unreadable } from "../../values/index.ts";

/** A question about one instance reads no more than this of a long journal. */
const MOST_PAGES = 8;

/**
 * Why an instance waits, if that is because a stored value of it can't be read. Nothing is stored about that: such an instance
 * is tried again within a minute, so this reads the values of those that are due so soon, and of no others.
 */
export async function findUnreadable(store: Store, record: InstanceRecord): Promise<Unreadable | null> {
  if (!isDueSoon(store, record)) return null;
  const params = findIn([record.params]);
  if (params !== null) return params;
  const { ref, run } = record;
  let after = { position: 0, sequence: 0 };
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const [page] = await store.instances.statements.load([{ ref, run, instance: record, after }]);
    const unreadable = page === undefined ? null : findIn(valuesOf(page));
    if (unreadable !== null || page?.more === undefined) return unreadable;
    const { position = after.position } = page.entries.at(-1) ?? {};
    const { sequence = after.sequence } = page.events.at(-1) ?? {};
    after = { position, sequence };
  }
  return null;
}

/** The same for one of many, whose params are there: nothing more is read for it. */
export function findUnreadableParams(store: Store, record: InstanceRecord): Unreadable | null {
  return isDueSoon(store, record) ? findIn([record.params]) : null;
}

function isDueSoon({ clock }: Store, { status, availableAt }: InstanceRecord): boolean {
  if (status !== "waiting" && status !== "rollingBack") return false;
  return availableAt !== null && availableAt <= clock.now() + UNREADABLE_PAUSE_MS;
}

function valuesOf({ entries, events }: InstanceHistory): string[] {
  return [...entries.flatMap(({ value }) => value ?? []), ...events.map(({ payload }) => payload)];
}

function findIn(values: readonly string[]): Unreadable | null {
  const found = shownOrUnreadable(() => {
    for (const value of values) decodeValue(value);
    return {};
  });
  return "unreadable" in found ? found.unreadable : null;
}

/** Throws a CodecError if a stored value of a run can't be read, before the run's code receives it: the code isn't at fault. */
export function refuseUnreadable<Loaded extends InstanceHistory | LoadedEvents | null>(loaded: Loaded): Loaded {
  if (loaded === null) return loaded;
  for (const { payload } of loaded.events) refuseEncoded(payload);
  if ("entries" in loaded) for (const { value } of loaded.entries) if (value !== null) refuseEncoded(value);
  return loaded;
}
