import type { DurableHooksProcessor } from "../fragment/create-processor.ts";
import { checkLogger, type Logger } from "../logger.ts";
import { checkOptions, invalidOption } from "../options.ts";
import type { DispatchErrorContext } from "../queue/dispatch-loop.ts";
import { Processor } from "../queue/processor.ts";
import { accessTo } from "../store/sqlite/drivers/object-access.ts";
import type { ObjectState } from "../store/sqlite/drivers/object-driver.ts";
import { type ConcurrencyOption, logDispatchError, parseConcurrency } from "./dispatcher-options.ts";
import { alarmOf } from "./object-alarm.ts";
import { ObjectDispatcher } from "./object-dispatcher.ts";

export interface ObjectDispatcherOptions<Env = unknown> {
  /** Returns the processor of fragments in this object's own storage. Called once for each object. */
  readonly createProcessor: (context: {
    readonly state: ObjectState;
    readonly env: Env;
  }) => DurableHooksProcessor | null;
  /** How many handlers run at a time. Default: 100. */
  readonly concurrency?: ConcurrencyOption;
  /** Receives every failed attempt, and every failure of the storage. May throw without harm. Default: logs them. */
  readonly onError?: (error: unknown, context: DispatchErrorContext) => unknown;
  readonly logger?: Logger;
}

/** To be called by the object that it belongs to. */
export interface DurableHooksHandler {
  /** Runs due work. Call it from the object's `alarm()`. Never throws. */
  alarm(): Promise<void>;
  /** Looks for work now. */
  wake(): void;
}

const FIELDS = ["createProcessor", "concurrency", "onError", "logger"];
/** It is freed when the object starts again, so it only says how often long work is renewed. */
const LEASE_MS = 60_000;

/**
 * Runs hooks and workflows in the Durable Object whose storage they are in: as soon as they are written, and by the object's
 * alarm when they are due later or when the object was lost meanwhile.
 *
 * @example
 * this.handler = createDurableHooksDispatcherDurableObject({ createProcessor: () => processor })(state, env);
 */
export function createDurableHooksDispatcherDurableObject<Env = unknown>(
  options: ObjectDispatcherOptions<Env>,
): (state: ObjectState, env: Env) => DurableHooksHandler {
  checkOptions(options, { label: "A dispatcher", fields: FIELDS });
  const { createProcessor } = options;
  const concurrency = parseConcurrency(options.concurrency);
  const logger = checkLogger(options.logger);
  const { onError } = options;
  if (typeof createProcessor !== "function")
    throw invalidOption("createProcessor must be a function that returns a processor");
  if (onError !== undefined && typeof onError !== "function") throw invalidOption("onError must be a function");
  return (state, env) => {
    const processor = createProcessor({ state, env });
    if (!(processor instanceof Processor)) {
      throw invalidOption("createProcessor must return the result of createDurableHooksProcessor, and not null");
    }
    const alarm = alarmOf(state.storage, processor.clock);
    const { context } = accessTo(state.storage);
    const outside = <Result>(body: () => Result) => (context === null ? body() : context.outside(body));
    const logError = (error: unknown, context: DispatchErrorContext) =>
      logDispatchError(logger, error, context, processor.stackTraces);
    const settings = { concurrency, leaseMs: LEASE_MS, logger, onError: onError ?? logError };
    const dispatcher = new ObjectDispatcher({ ...settings, processor, alarm, outside });
    // After whatever the object itself waits for in its constructor, and before any event.
    void state.blockConcurrencyWhile(() => dispatcher.start());
    return { alarm: () => dispatcher.alarm(), wake: () => dispatcher.wake() };
  };
}
