/** What an instance does; see programs.ts. */
export type ProgramName =
  | "sequence"
  | "parallel"
  | "sleeper"
  | "listener"
  | "stubborn"
  | "refuse"
  | "exhaust"
  | "parent"
  | "late";

/** What its producer does with it after creating it. */
export type Operation = "pause" | "terminate" | "restart";

export interface Kind {
  readonly program: ProgramName;
  /** How often it is chosen, relative to the others. */
  readonly weight: number;
  /** Its expected outcome; `terminated` only if the request came in time. */
  readonly fate: "complete" | "errored" | "terminated";
  readonly operation?: Operation;
  /** The length of a sleep or the timeout of a wait for an event, in milliseconds. */
  readonly waitMs?: number;
}

const HOUR_MS = 3_600_000;
/** Longer than an instance is held in memory while it waits. */
const PARKED_MS = 5200;

/** The kinds of instances, each a line of the final table. */
export const KINDS = {
  sequence: { program: "sequence", weight: 6, fate: "complete" },
  parallel: { program: "parallel", weight: 4, fate: "complete" },
  "short sleep": { program: "sleeper", weight: 3, fate: "complete", waitMs: 150 },
  "long sleep": { program: "sleeper", weight: 0.7, fate: "complete", waitMs: PARKED_MS },
  events: { program: "listener", weight: 4, fate: "complete", waitMs: HOUR_MS },
  "held events": { program: "listener", weight: 2, fate: "complete", waitMs: 1000 },
  retried: { program: "stubborn", weight: 3, fate: "complete" },
  refused: { program: "refuse", weight: 1, fate: "errored" },
  exhausted: { program: "exhaust", weight: 1, fate: "errored" },
  parent: { program: "parent", weight: 2, fate: "complete" },
  paused: { program: "sequence", weight: 3, fate: "complete", operation: "pause" },
  terminated: { program: "sequence", weight: 2, fate: "terminated", operation: "terminate" },
  restarted: { program: "sequence", weight: 2, fate: "complete", operation: "restart" },
  "restarted listener": {
    program: "listener",
    weight: 1,
    fate: "complete",
    operation: "restart",
    waitMs: HOUR_MS,
  },
  late: { program: "late", weight: 0.01, fate: "complete" },
  child: { program: "sequence", weight: 0, fate: "complete" },
} as const satisfies Record<string, Kind>;

export type KindName = keyof typeof KINDS;

export function kindOf(name: KindName): Kind {
  return KINDS[name];
}

/** What an instance is created with. */
export interface Params {
  readonly kind: KindName;
}

/** The output of a finished instance. */
export interface Output {
  /** What its code received from each step, by the step's name. */
  readonly seen: Readonly<Record<string, string>>;
  /** The events that it received, in that order. */
  readonly events: readonly number[];
  /** The ids of the instances that it created. */
  readonly children: readonly string[];
}

/** Every listener waits for these events, each sent under an id of its own. */
export const EVENTS = [1, 2, 3] as const;

export function eventOf(number: number): { type: string; id: string; payload: number } {
  return { type: "go", id: `event-${number}`, payload: number };
}

export const EXPECTED_ERROR = { refused: "refused for good", exhausted: "never succeeds" } as const;
