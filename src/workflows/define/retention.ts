import { type Duration, parseDuration } from "../../duration.ts";
import { checkOptions } from "../../options.ts";

/** For how long a finished instance is kept, with its history; what isn't said is for ever. */
export interface RetentionOptions {
  /** One that is complete. */
  readonly successRetention?: Duration;
  /** One that is errored, or was terminated. */
  readonly errorRetention?: Duration;
}

/** In milliseconds; null is for ever. */
export interface Retention {
  readonly successRetention: number | null;
  readonly errorRetention: number | null;
}

const FOR_EVER: Retention = { successRetention: null, errorRetention: null };

/** What isn't said is as in `otherwise`. */
export function parseRetention(options: unknown, code: string, otherwise: Retention = FOR_EVER): Retention {
  if (options === undefined) return otherwise;
  checkOptions(options, { label: "retention", fields: ["successRetention", "errorRetention"], code });
  const { successRetention, errorRetention } = options as RetentionOptions;
  return {
    successRetention:
      successRetention === undefined ? otherwise.successRetention : parseDuration(successRetention, "successRetention"),
    errorRetention:
      errorRetention === undefined ? otherwise.errorRetention : parseDuration(errorRetention, "errorRetention"),
  };
}
