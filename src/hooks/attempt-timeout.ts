import { AttemptAbortedError } from "../errors.ts";
import type { AnyHookDefinition } from "./define-hook.ts";
import type { HookSettings } from "./hook-settings.ts";

/** How long a handler may run. */
interface AttemptTimeout {
  readonly milliseconds: number;
  /** Whether the hook has no timeout of its own: then a handler that reaches this one is reported as stuck. */
  readonly stuck: boolean;
}

/** Null if the handler may run forever. */
export function timeoutOf({ timeoutMs }: AnyHookDefinition, settings: HookSettings): AttemptTimeout | null {
  if (timeoutMs !== null) return { milliseconds: timeoutMs, stuck: false };
  const { stuckTimeoutMinutes } = settings;
  return stuckTimeoutMinutes === false ? null : { milliseconds: stuckTimeoutMinutes * 60_000, stuck: true };
}

export function timeoutError({ milliseconds, stuck }: AttemptTimeout): AttemptAbortedError {
  return stuck
    ? new AttemptAbortedError("hook.stuck", `The handler didn't end within ${milliseconds / 60_000} minutes.`)
    : new AttemptAbortedError("hook.timeout", `The handler didn't end within ${milliseconds} milliseconds.`);
}
