export type ChaosEngine = "postgres" | "sqlite";

/** Short, so that stops outlast a lease and a run still ends soon. */
export const LEASE_MS = 1500;

/** The settings that a process receives at its start. */
export interface ProcessSettings {
  readonly name: string;
  readonly engine: ChaosEngine;
  /** A path or a URL. */
  readonly database: string;
  /** The file that the process appends to; it outlives the process. */
  readonly ledger: string;
  readonly seed: number;
  /** Whether it runs due work. */
  readonly works: boolean;
  /** Whether it asks for work. */
  readonly produces: boolean;
  readonly clockShiftMs: number;
}

export type ProcessRequest =
  | { readonly do: "arm"; readonly point: Point; readonly action: PointAction }
  | { readonly do: "disarm" }
  | { readonly do: "shift clock"; readonly milliseconds: number }
  | { readonly do: "stop producing" };

export type ProcessMessage = { readonly say: "ready" } | { readonly say: "stopped producing" };

/** Points at which a process can be told to end or stop the next time it reaches them. */
export const POINTS = [
  /** The claim is committed, and nothing has begun. */
  "after-claim",
  "mid-handler",
  /** The handler has ended, but its outcome isn't written. */
  "after-handler",
  /** The outcome is committed, but the process doesn't know it. */
  "after-settle",
  "mid-step",
  /** Steps of workflows have ended, but their results aren't written. */
  "before-steps-commit",
  /** The results of steps are committed, but the process doesn't know it. */
  "after-steps-commit",
  /** The trigger is committed, or the instance created, but its caller doesn't know. */
  "after-trigger",
  /** A unit of work is committed, but its caller doesn't know. */
  "after-commit",
] as const;

export type Point = (typeof POINTS)[number];
export type PointAction = "kill" | "stop";
