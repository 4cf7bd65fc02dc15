export const NAMESPACE = "simulation";
export const HOOK_NAMES = ["work", "other"] as const;
export type HookName = (typeof HOOK_NAMES)[number];

export const PROGRAM_NAMES = [
  "sequential",
  "parallel",
  "racing",
  "looping",
  "sleeping",
  "listening",
  "crowded",
  "failing",
  "exact",
  "parent",
  "child",
  "late",
  "nested",
  "telling",
  "streaming",
  "undoable",
  "undone",
  "fatal",
  "transacting",
] as const;
/** They wait for other instances. Only worlds of their own have them. */
export const GATHERING_PROGRAM_NAMES = ["gathering", "nesting"] as const;
export const ALL_PROGRAM_NAMES = [...PROGRAM_NAMES, ...GATHERING_PROGRAM_NAMES] as const;
export type ProgramName = (typeof ALL_PROGRAM_NAMES)[number];

/** Steps that are called inside another step's function have names that begin like this. */
export const INNER = "inner";
/** The step that keeps its progress. */
export const KEPT_PROGRESS = "kept";
/** Steps with a transaction have names that begin like this. */
export const LEDGER = "ledger";
export const EVENT_TYPES = ["approved", "changed"] as const;
/** Programs that have no hooks for the end of a run. */
export const UNTOLD_PROGRAMS: readonly string[] = ["child", "gathering"];
/** The default number of retries of hooks. */
export const DEFAULT_HOOK_LIMIT = 2;
/** The default number of retries of steps. */
export const DEFAULT_LIMIT = 3;
