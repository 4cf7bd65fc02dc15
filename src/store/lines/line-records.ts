import type { QueueScope } from "../queue/claim-request.ts";

/**
 * A line: the instances that wait for a slot of their key, or, where they have a rate and no slots, for a start. Its row says when
 * somebody should look at it; whoever looks admits as many as the limits allow.
 *
 * While a line is blocked (all slots are taken, or nothing may start before some time), those who join it tell nobody: whoever
 * frees a slot does, or time.
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

/** What a workflow's code says about its lines. Null is no limit. */
export interface LineLimits {
  readonly slots: number | null;
  readonly starts: StartRate | null;
}

export interface AdmitRequest {
  readonly scopes: readonly QueueScope[];
  /** Of the workflow of this name. */
  readonly limitsOf: (namespace: string, name: string) => LineLimits;
  /** At most so many, which begin at once. */
  readonly room: number;
  readonly lock: string;
  readonly leaseMs: number;
}
