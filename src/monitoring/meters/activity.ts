import type { Clock } from "../../clock.ts";

/** What happens to hooks and instances, as it is counted by the minute. */
export const ACTIVITY_FIELDS = [
  "hooksStarted",
  "hooksCompleted",
  "hooksRetried",
  "hooksFailed",
  "instancesStarted",
  "instancesCompleted",
  "instancesErrored",
  "instancesTerminated",
] as const;

export type ActivityField = (typeof ACTIVITY_FIELDS)[number];

/** What one process did in one minute. */
export type ActivityMinute = { readonly at: Date } & Readonly<Record<ActivityField, number>>;

const MINUTE_MS = 60_000;
/** Three hours: 6 KB. */
export const MOST_MINUTES = 180;

const INDEXES = Object.fromEntries(ACTIVITY_FIELDS.map((field, index) => [field, index])) as Record<
  ActivityField,
  number
>;

/** Counts what happens in each of the last minutes, in constant space. Counting allocates nothing. */
export class Activity {
  readonly #clock: Clock;
  readonly #since: number;
  /** The minute that each place of the ring has. */
  readonly #minutes = new Float64Array(MOST_MINUTES).fill(-1);
  readonly #counts = new Uint32Array(MOST_MINUTES * ACTIVITY_FIELDS.length);

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.now();
  }

  /** When it began to count. */
  get since(): number {
    return this.#since;
  }

  note(field: ActivityField): void {
    const minute = Math.floor(this.#clock.now() / MINUTE_MS);
    const place = minute % MOST_MINUTES;
    if (this.#minutes[place] !== minute) {
      this.#minutes[place] = minute;
      this.#counts.fill(0, place * ACTIVITY_FIELDS.length, (place + 1) * ACTIVITY_FIELDS.length);
    }
    (this.#counts[place * ACTIVITY_FIELDS.length + INDEXES[field]] as number)++;
  }

  /** The last minutes, the present one at the end. A minute before `since` isn't among them. */
  last(minutes: number): ActivityMinute[] {
    const present = Math.floor(this.#clock.now() / MINUTE_MS);
    const first = Math.max(present - Math.min(minutes, MOST_MINUTES) + 1, Math.floor(this.#since / MINUTE_MS));
    return Array.from({ length: Math.max(present - first + 1, 0) }, (_, index) => this.#minute(first + index));
  }

  #minute(minute: number): ActivityMinute {
    const place = minute % MOST_MINUTES;
    const known = this.#minutes[place] === minute;
    const counts = ACTIVITY_FIELDS.map((field, index) => [
      field,
      known ? (this.#counts[place * ACTIVITY_FIELDS.length + index] as number) : 0,
    ]);
    return { at: new Date(minute * MINUTE_MS), ...Object.fromEntries(counts) } as ActivityMinute;
  }
}
