import type { EventDetails } from "./event-details.ts";

/** What an entry tells, each thing in its slot. */
export type SlottedEvent = EventDetails & { readonly slot: number };
