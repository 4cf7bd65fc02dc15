import type { QueueScope } from "../queue/claim-request.ts";

/**
 * A line: the instances that wait for a slot of their key, or, if they have a rate and no slots, for a start. Its row says when
 * it is due. A worker then admits as many instances as the limits allow.
 *
 * While a line is blocked (all slots are taken, or the rate is used up), an instance that joins doesn't make it due. The commit
 * that frees a slot does, or the time at which the rate allows the next start.
 */
export interface Line {
  readonly kind: LineKind;
  readonly key: string;
  readonly namespace: string;
  /** Of the workflow. */
  readonly name: string;
}

export const LineKind = { slots: 0, starts: 1 } as const;
export type LineKind = (typeof LineKind)[keyof typeof LineKind];

/** How many may start in any period. */
export interface StartRate {
  readonly limit: number;
  readonly periodMs: number;
}

/** The limits in a workflow's code. Null is no limit. */
export interface LineLimits {
  readonly slots: number | null;
  readonly starts: StartRate | null;
}

export interface AdmitRequest {
  readonly scopes: readonly QueueScope[];
  /** Of the workflow of this name. */
  readonly limitsOf: (namespace: string, name: string) => LineLimits;
  /** The versions of the workflow that the process has. It leaves instances of others in line. */
  readonly versionsOf: (namespace: string, name: string) => readonly number[];
  /** How many instances the worker can start now. */
  readonly room: number;
  readonly lock: string;
  readonly leaseMs: number;
}
