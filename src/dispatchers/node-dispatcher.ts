import type { DurableHooksProcessor } from "../fragment/create-processor.ts";
import { checkLogger, type Logger } from "../logger.ts";
import { checkOptions, invalidOption } from "../options.ts";
import { type DispatchErrorContext, DispatchLoop } from "../queue/dispatch-loop.ts";
import { Processor } from "../queue/processor.ts";
import {
  type ConcurrencyOption,
  checkCount,
  checkDeadline,
  logDispatchError,
  parseConcurrency,
} from "./dispatcher-options.ts";
import { createProcessOwner, isGone } from "./process-owner.ts";

export interface DispatcherOptions {
  readonly processor: DurableHooksProcessor;
  /**
   * How often to look for the work of other processes if they can't announce it (a pooler without LISTEN). If they can, a
   * worker looks twice a minute at most. Default: 2000.
   */
  readonly pollIntervalMs?: number;
  /**
   * How many hooks, and how many workflows, run at a time: each kind has slots of its own. `{ hooks, workflows }` gives each
   * its own number. Default: 100.
   */
  readonly concurrency?: ConcurrencyOption;
  /** For how long a process that is lost holds its work. Default: 30,000. */
  readonly leaseMs?: number;
  /**
   * Receives every failed attempt at a hook or a step, and every failure of the database. May throw without harm. Default: logs
   * them.
   */
  readonly onError?: (error: unknown, context: DispatchErrorContext) => unknown;
  readonly logger?: Logger;
}

export interface DurableHooksDispatcher {
  /** Starts at once, and continues until it is stopped. */
  startPolling(): void;
  /**
   * Claims no more work, waits for running work, and after the deadline (default: 30 seconds) aborts and releases the rest.
   * Resolves when this process owns no work any more; nothing keeps it alive afterwards.
   */
  stopPolling(options?: { readonly deadlineMs?: number }): Promise<void>;
  /** Looks for work now. */
  wake(): void;
  /**
   * For functions that live for one request: runs due work until there is none, or until the deadline (default: 10 seconds).
   */
  drain(options?: { readonly deadlineMs?: number }): Promise<void>;
}

const FIELDS = ["processor", "pollIntervalMs", "concurrency", "leaseMs", "onError", "logger"];

/**
 * Runs the hooks of a processor in this process.
 *
 * @example
 * const dispatcher = createDurableHooksDispatcher({ processor, pollIntervalMs: 2000 });
 * dispatcher.startPolling();
 * process.on("SIGTERM", () => dispatcher.stopPolling());
 */
export function createDurableHooksDispatcher(options: DispatcherOptions): DurableHooksDispatcher {
  checkOptions(options, { label: "A dispatcher", fields: FIELDS });
  if (!(options.processor instanceof Processor)) {
    throw invalidOption("processor must be made by createDurableHooksProcessor, and must not be null");
  }
  const { processor } = options;
  const settings = { processor, ...parseDispatching(options, processor.stackTraces) };
  for (const store of processor.stores) store.workers.isGone = isGone;
  const createLoop = () => new DispatchLoop({ ...settings, owner: createProcessOwner() });
  let loop: DispatchLoop | undefined;
  return {
    startPolling: () => {
      loop ??= createLoop();
      loop.start();
    },
    stopPolling: async (options) => {
      const deadline = checkDeadline(options, "stopPolling", 30_000);
      const stopping = loop;
      loop = undefined;
      await stopping?.stop(deadline);
    },
    wake: () => loop?.wake(),
    drain: async (options) => {
      await createLoop().drain(checkDeadline(options, "drain", 10_000));
    },
  };
}

/** Checks how a dispatcher is to run, and fills in what was left out. */
export function parseDispatching(options: Omit<DispatcherOptions, "processor">, stackTraces = true) {
  const logger = checkLogger(options.logger);
  const { pollIntervalMs = 2000, leaseMs = 30_000 } = options;
  const logError = (error: unknown, context: DispatchErrorContext) =>
    logDispatchError(logger, error, context, stackTraces);
  const { onError = logError } = options;
  if (typeof onError !== "function") throw invalidOption("onError must be a function");
  return {
    logger,
    onError,
    pollIntervalMs: checkCount("pollIntervalMs", pollIntervalMs, 10, 86_400_000),
    concurrency: parseConcurrency(options.concurrency),
    leaseMs: checkCount("leaseMs", leaseMs, 1000, 3_600_000),
  };
}
