import { type Duration, parseDuration } from "../../duration.ts";
import { InvalidInputError } from "../../errors.ts";
import { LONGEST_TIMEOUT_MS } from "../../store/instances/instance-records.ts";

/** How long a run of an instance may take, in milliseconds; null is for ever. If none is given, it is `otherwise`. */
export function parseTimeout(given: unknown, code: string, otherwise: number | null = null): number | null {
  if (given === undefined) return otherwise;
  if (typeof given !== "number" && typeof given !== "string") {
    throw new InvalidInputError(code, 'timeout must be a duration, such as "1 hour" or a number of milliseconds.');
  }
  return Math.min(parseDuration(given as Duration, "timeout"), LONGEST_TIMEOUT_MS);
}
