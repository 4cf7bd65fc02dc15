import type { InstanceRecord, UnreceivedRecord } from "../../store/instances/instance-records.ts";
import type { Store } from "../../store/store.ts";
import { decodeValue, shownOrUnreadable } from "../../values/index.ts";
import type { UnreceivedEvent, UnreceivedEvents } from "./instance.ts";

/** Bytes are those of the stored payloads together. */
const MOST = { events: 100, bytes: 1024 * 1024 };

export async function readUnreceivedEvents(store: Store, record: InstanceRecord): Promise<UnreceivedEvents> {
  const { ref, run } = record;
  const { total, events } = await store.instances.statements.unreceivedEvents({ ref, run, instance: record }, MOST);
  return { count: total, events: events.map(toEvent) };
}

function toEvent({ type, at, payload }: UnreceivedRecord): UnreceivedEvent {
  const shown =
    payload === null ? { omitted: true as const } : shownOrUnreadable(() => ({ payload: decodeValue(payload) }));
  return { type, at: new Date(at), ...shown };
}
