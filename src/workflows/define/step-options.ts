import type { Duration } from "../../duration.ts";
import type { Backoff } from "../../queue/retry-policy.ts";

/** How often and when a step is tried again. Default: `{ limit: 5, delay: "1 second", backoff: "exponential" }`. */
export interface StepRetries {
  /** How many times to try again after the first attempt. */
  readonly limit: number;
  /** The wait before the first retry, or a function that chooses it anew for each; `backoff` applies to both. */
  readonly delay: Duration | RetryDelay;
  /** How it grows: `exponential` doubles it each time, `linear` adds it each time. */
  readonly backoff?: Backoff;
}

/**
 * Chooses the wait before the next attempt, to which the backoff still applies. It has five seconds to answer. If it throws, gives
 * something that isn't a duration, or doesn't answer, the step fails at once with `step.delay_failed`.
 */
export type RetryDelay = (failure: {
  readonly ctx: WorkflowStepContext;
  readonly error: Error;
}) => Duration | Promise<Duration>;

export interface WorkflowStepConfig {
  readonly retries?: Partial<StepRetries>;
  /** For each attempt. Default: 10 minutes. */
  readonly timeout?: Duration;
  /** Names that the step had in older versions of the code: what is stored under one of them is its result. */
  readonly aliases?: readonly string[];
  /** `keep`: what the step emits stays in the history. Otherwise it is dropped about half a minute after the step's end. */
  readonly progress?: "keep";
  /** `output`: people aren't shown what the step gives, in its history as in its events. The workflow's own code is. */
  readonly sensitive?: "output";
}

/** A config whose delay is a function. */
export type DelayFunctionConfig = Omit<WorkflowStepConfig, "retries"> & {
  readonly retries: Omit<Partial<StepRetries>, "delay"> & { readonly delay: RetryDelay };
};

/** What a step's function is called with. A copy: changing it has no effect. `Delay` tells whether a function chooses the delays. */
export interface WorkflowStepContext<Delay = Duration> {
  /** `count` is 1 for the first call of this name in a run, 2 for the second, and so on. */
  readonly step: { readonly name: string; readonly count: number };
  /** Counted from 1. */
  readonly attempt: number;
  /** Durations are in milliseconds. */
  readonly config: {
    readonly retries: Omit<StepRetries, "delay"> & (Delay extends RetryDelay ? unknown : { readonly delay: number });
    readonly timeout: number;
    readonly sensitive?: "output";
  };
  /** The same for all attempts at this step of this run, and for no other. Pass it on to services that know such keys. */
  readonly idempotencyKey: string;
  /** Aborted when the attempt has timed out, or when the instance was terminated, restarted, or taken over by another process. */
  readonly signal: AbortSignal;
  /**
   * Tells how far it has come to whoever follows the instance: at once, in order, and stored like everything else. Resolves when
   * it is stored. There is no need to wait for it: what is emitted before the step's end is stored with that end. Rejects with `progress.refused` when the attempt has ended.
   */
  emit(value: unknown): Promise<void>;
}
