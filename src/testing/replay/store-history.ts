import type { InstanceName, NewEntry } from "../../store/instances/instance-records.ts";
import type { InstanceStatements } from "../../store/instances/instance-statements.ts";
import { encodeError, encodeValue } from "../../values/index.ts";
import type { HistoryItem } from "../../workflows/instances/history-page.ts";

const LEASE = { lock: "history", leaseMs: 1000 };

/** Makes an instance that has been through this, and is due. */
export async function storeHistory(
  statements: InstanceStatements,
  name: InstanceName,
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
    kind: item.kind,
    type: item.type,
    name: item.name,
    count: item.count,
    attempt: item.attempt ?? 0,
    value: toValue(item),
    dueAt: item.dueAt?.getTime() ?? null,
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
