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
  "fatal",
] as const;
export type ProgramName = (typeof PROGRAM_NAMES)[number];

/** Steps that are called inside of another step's function have names that begin like this. */
export const INNER = "inner";
export const EVENT_TYPES = ["approved", "changed"] as const;
/** How often steps are tried again that say nothing else. */
export const DEFAULT_LIMIT = 3;
