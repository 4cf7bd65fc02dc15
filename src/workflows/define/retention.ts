import { type Duration, parseDuration } from "../../duration.ts";
import { checkOptions } from "../../options.ts";

/** For how long a finished instance and its history are kept. Default: forever. */
export interface RetentionOptions {
  /** For complete instances. */
  readonly successRetention?: Duration;
  /** For errored and terminated instances. */
  readonly errorRetention?: Duration;
}

/** In milliseconds; null is forever. */
export interface Retention {
  readonly successRetention: number | null;
  readonly errorRetention: number | null;
}

const FOR_EVER: Retention = { successRetention: null, errorRetention: null };

/** Fields that are missing are taken from `otherwise`. */
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
