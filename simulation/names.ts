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
export type ProgramName = (typeof PROGRAM_NAMES)[number];

/** Steps that are called inside another step's function have names that begin like this. */
export const INNER = "inner";
/** The step that keeps its progress. */
export const KEPT_PROGRESS = "kept";
/** Steps with a transaction have names that begin like this. */
export const LEDGER = "ledger";
export const EVENT_TYPES = ["approved", "changed"] as const;
/** Programs that have no hooks for the end of a run. */
export const UNTOLD_PROGRAMS: readonly string[] = ["child"];
/** The default number of retries of hooks. */
export const DEFAULT_HOOK_LIMIT = 2;
/** The default number of retries of steps. */
export const DEFAULT_LIMIT = 3;
