import { type Duration, parseDuration } from "../duration.ts";
import { checkOptions } from "../options.ts";
import { parseSettings, SETTINGS_FIELDS, type SubjectSettings } from "./dispatcher-settings.ts";
import { HANDLING_FIELDS, type HandlingOptions, parseHandling } from "./run-subjects.ts";
import { invalid } from "./subject-inputs.ts";

/** Subjects that an application discovers and handles by itself. */
export interface SubjectsOptions<Cursor = unknown, Meta = unknown>
  extends HandlingOptions<Cursor, Meta>,
    SubjectSettings<Cursor, Meta> {
  /** How often subjects are discovered, and how long a completed one rests unless its handler says: `"15 minutes"`. */
  readonly every: Duration;
}

/** Made by `defineSubjects`. */
export interface SubjectsDefinition {
  readonly kind: "subjects";
  /** @internal */
  readonly options: SubjectsOptions;
}

const FIELDS = ["every", ...HANDLING_FIELDS, ...SETTINGS_FIELDS];
const SHORTEST_INTERVAL_MS = 1000;

/**
 * Subjects for `perdure({ subjects: { … } })`: discovered and handled on an interval, by any process that is free.
 *
 * @example
 * const inventory = defineSubjects({
 *   every: "15 minutes",
 *   discover: () => warehouses.map(({ id }) => ({ subjectKey: `warehouse:${id}`, cursor: { page: 1 } })),
 *   handle: async ({ cursor }, { checkpoint }) => { … },
 * });
 */
export function defineSubjects<Cursor = unknown, Meta = unknown>(
  options: SubjectsOptions<Cursor, Meta>,
): SubjectsDefinition {
  checkOptions(options, { label: "defineSubjects", fields: FIELDS, code: "subject.invalid" });
  const given = options as unknown as SubjectsOptions;
  parseHandling(given);
  parseSettings(given);
  parseInterval(given.every);
  return { kind: "subjects", options: given };
}

export function parseInterval(every: Duration): number {
  const milliseconds = parseDuration(every, "every");
  if (milliseconds >= SHORTEST_INTERVAL_MS) return milliseconds;
  throw invalid("every must be a second at least");
}
