import type { HookInsert } from "./hook-records.ts";

/**
 * A trigger with a key may have to change a row that exists, and would hold its lock for as long as the application's own
 * transaction stays open. So there a row of this name is inserted instead, and does it after the commit. No hook of a user can
 * have this name.
 */
export const RELAY = "$relay";

type RelayedTrigger = Omit<HookInsert, "namespace" | "triggeredAt" | "lease">;

export function toRelay(trigger: HookInsert): HookInsert {
  const { id, ownId, name, key, triggers, payload, retries, trace, processAt, debounce } = trigger;
  const relayed: RelayedTrigger = { id, ownId, name, key, triggers, payload, retries, trace, processAt, debounce };
  return {
    ...trigger,
    id: `relay~${id}`,
    ownId: false,
    name: RELAY,
    key: null,
    payload: JSON.stringify(relayed),
    retries: null,
    trace: null,
    processAt: null,
    debounce: null,
  };
}

/** `triggeredAt` is when the relay was written, by the database's time: what is relayed late doesn't replace what is newer. */
export function fromRelay(namespace: string, payload: string, triggeredAt: number): HookInsert {
  const trigger = JSON.parse(payload) as RelayedTrigger;
  const debounce = trigger.debounce ?? null; // relays from before there was one have none
  return { ...trigger, debounce, namespace, triggeredAt, lease: null };
}
