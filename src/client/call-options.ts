import { type Duration, parseDuration } from "../duration.ts";
import { InvalidInputError, PerdureError } from "../errors.ts";
import { checkOptions } from "../options.ts";

/** Options of each call of a client, or of an instance: see `client.with`. */
export interface CallOptions {
  /** Ends the call, with the signal's reason as its error. A subscription ends, too, even later. */
  readonly signal?: AbortSignal;
  /** Ends a call that takes longer, with `client.timeout`. It may have taken effect. For a subscription: until it is open. */
  readonly timeout?: Duration;
}

export interface CallSettings {
  readonly signal: AbortSignal | null;
  readonly timeoutMs: number | null;
}

export function parseCallOptions(options: CallOptions): CallSettings {
  checkOptions(options, { label: "with", fields: ["signal", "timeout"] });
  const { signal = null, timeout } = options;
  if (signal !== null && !(signal instanceof AbortSignal)) {
    throw new InvalidInputError("options.invalid", "signal must be an AbortSignal.");
  }
  return { signal, timeoutMs: timeout === undefined ? null : parseDuration(timeout, "timeout") };
}

export function calledTooLong(timeoutMs: number): PerdureError {
  return new PerdureError("client.timeout", `The call took longer than ${timeoutMs} ms. It may have taken effect.`);
}
