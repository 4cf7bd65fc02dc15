import type { Receipt } from "../request-statements.ts";
import type { EventInsert } from "./event-records.ts";
import type { InstanceName } from "./instance-identity.ts";

/** A new instance. Values are encoded already. */
export interface InstanceInsert extends InstanceName {
  readonly ref: string;
  /** Of the workflow; 0 without. */
  readonly version: number;
  readonly params: string;
  /**
   * The step of another instance that creates it, as a text that no other step has: a JSON array of the instance's workflow and
   * id, and of the ref, run and path. Null where a caller creates it.
   */
  readonly parent: string | null;
  /** Null for most. */
  readonly traits: InstanceTraits | null;
  /** Given when the creating process starts it itself: the row is born claimed. */
  readonly lease: { readonly lock: string; readonly leaseMs: number } | null;
  /** Written with the instance. Where it is there already, the instance was created before, and may have been deleted since. */
  readonly receipt?: Receipt;
  /** Sent to the instance by the statement that creates it. An instance that exists doesn't get it. */
  readonly event?: FirstEvent;
}

/** The event with which an instance is created. */
export type FirstEvent = Pick<EventInsert, "eventId" | "type" | "payload">;

/** Properties that only some instances have. Times are in milliseconds. */
export interface InstanceTraits {
  /** A JSON object of texts; people look for instances by them. */
  readonly labels: string | null;
  /** Higher ones start first; 0 for most. */
  readonly priority: number;
  /** How long it is kept when it is complete, or when it failed or was terminated; null is for ever. */
  readonly successRetention: number | null;
  readonly errorRetention: number | null;
  /** How long a run may take; null is for ever. */
  readonly timeout: number | null;
  /** The schedule that it was created by, as JSON: `cron` and `scheduledTime`. */
  readonly schedule: string | null;
  /** The trace context of the code that created it, see `Telemetry`. */
  readonly trace: string | null;
  /** The instances that share this key have a limited number of slots. */
  readonly slotKey: string | null;
  /** The instances that share this key have a limited number of starts per period. */
  readonly rateKey: string | null;
}

/** About 3,000 years: a deadline is a safe integer. */
export const LONGEST_TIMEOUT_MS = 100_000_000_000_000;

export const NO_TRAITS: InstanceTraits = {
  labels: null,
  priority: 0,
  successRetention: null,
  errorRetention: null,
  timeout: null,
  schedule: null,
  trace: null,
  slotKey: null,
  rateKey: null,
};

/**
 * `existing`: the workflow has an instance with this id that another call created, and nothing was written. `repeated`: its receipt was
 * there, and nothing was written either.
 */
export interface InstanceInsertResult {
  /** Created now, or before: by this very insert, whose reply was lost, or by the same step of the same parent. */
  readonly result: "created" | "existing" | "repeated";
  /** Of the instance that has the id now. */
  readonly ref: string;
  /** The database's time at which that was created. */
  readonly at: number;
}

/** What the owner of an instance that was created in SQL adds to it: what only the workflow's code knows. */
export interface InstancePreparation
  extends Pick<InstanceTraits, "slotKey" | "rateKey" | "successRetention" | "errorRetention" | "timeout"> {
  readonly params: string;
  readonly version: number;
}
