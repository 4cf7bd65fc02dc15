import { InvalidInputError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import type { Store } from "../store/store.ts";
import { type ActivityMinute, MOST_MINUTES } from "./meters/activity.ts";

export interface ActivityOptions {
  /** How many minutes, the present one included: 1 to 180. Default: 60. */
  readonly minutes?: number;
}

/** What one process has done, minute by minute. */
export interface ActivityReport {
  /** When this process began to count: there are no earlier minutes. */
  readonly since: Date;
  /** The present minute is the last. */
  readonly minutes: readonly ActivityMinute[];
}

const USUAL_MINUTES = 60;

export function checkActivityOptions(options: ActivityOptions = {}): { readonly minutes: number } {
  checkOptions(options, { label: "activity", fields: ["minutes"] });
  const { minutes = USUAL_MINUTES } = options;
  if (Number.isInteger(minutes) && minutes >= 1 && minutes <= MOST_MINUTES) return { minutes };
  throw new InvalidInputError("options.invalid", `minutes must be a whole number from 1 to ${MOST_MINUTES}.`);
}

/** Asks the database nothing. */
export function readActivity(store: Store, namespace: string, options?: ActivityOptions): ActivityReport {
  const { minutes } = checkActivityOptions(options);
  const { activity } = store.meter.of(namespace);
  return { since: new Date(activity.since), minutes: activity.last(minutes) };
}
