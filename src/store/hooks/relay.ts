import type { EventInsert } from "../instances/instance-records.ts";
import type { HookInsert } from "./hook-records.ts";

/**
 * In the application's own transaction Perdure only inserts rows: an existing row that it changed would stay locked for as long
 * as that transaction is open. A call that has to change a row is written as a relay instead, which makes the change after the
 * commit. Relays are rows beside hooks. No hook of a user can have this name.
 */
export const RELAY = "$relay";

/** A trigger whose key may be held by another hook, an event, or an instance that stands in line since. */
export type RelayedCall =
  | { readonly kind: "trigger"; readonly trigger: RelayedTrigger }
  | { readonly kind: "event"; readonly event: RelayedEvent }
  | { readonly kind: "line"; readonly ref: string };

type RelayedTrigger = Omit<HookInsert, "namespace" | "triggeredAt" | "lease">;
type RelayedEvent = Omit<EventInsert, "namespace">;

/** A relay, and what it must stay in order with. */
export interface Relay {
  readonly hook: HookInsert;
  readonly group: string;
}

export function triggerRelay(trigger: HookInsert): Relay {
  const { id, ownId, name, key, triggers, payload, retries, trace, processAt, debounce, line } = trigger;
  const plain = { id, ownId, name, key, triggers, payload, retries, trace, processAt, debounce };
  const relayed: RelayedTrigger = line === undefined ? plain : { ...plain, line };
  const group = JSON.stringify(["hook", name, key ?? id]);
  return { hook: toRelay(trigger.namespace, id, { kind: "trigger", trigger: relayed }), group };
}

export function eventRelay({ namespace, ...event }: EventInsert, relayId: string): Relay {
  const group = JSON.stringify(["instance", event.name, event.id]);
  return { hook: toRelay(namespace, relayId, { kind: "event", event }), group };
}

function toRelay(namespace: string, id: string, call: RelayedCall): HookInsert {
  return {
    namespace,
    id: `relay~${id}`,
    ownId: false,
    name: RELAY,
    key: null,
    triggers: 1,
    triggeredAt: null,
    payload: JSON.stringify(call),
    retries: null,
    trace: null,
    processAt: null,
    debounce: null,
    lease: null,
  };
}

/** `triggeredAt` is when the relay was written, by the database's time: a late relay doesn't replace a newer trigger. */
export function toTrigger(namespace: string, trigger: RelayedTrigger, triggeredAt: number): HookInsert {
  return { ...trigger, namespace, triggeredAt, lease: null };
}
