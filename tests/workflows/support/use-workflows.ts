import { createDurableHooksDispatcher, type DurableHooksDispatcher } from "../../../src/dispatchers/node.ts";
import { createDurableHooksProcessor, type DurableHooksProcessor } from "../../../src/fragment/create-processor.ts";
import { instantiate } from "../../../src/fragment/instantiate.ts";
import { type WorkflowsFragment, workflowsFragment } from "../../../src/fragment/workflows-fragment.ts";
import type { OnAlert } from "../../../src/monitoring/alerts.ts";
import type { Telemetry } from "../../../src/monitoring/tracing.ts";
import type { DispatchErrorContext } from "../../../src/queue/dispatch-loop.ts";
import type { DatabaseAdapter, Store } from "../../../src/store/store.ts";
import type { WorkflowLimits } from "../../../src/workflows/define/workflow-settings.ts";
import type { Workflows } from "../../../src/workflows/define/workflow-types.ts";
import type { TypedBindings } from "../../../src/workflows/instances/typed-bindings.ts";
import type { TokenOptions } from "../../../src/workflows/tokens/token-options.ts";
import { LogBook } from "../../hooks/support/log-book.ts";
import { eventually, withTime } from "../../hooks/support/use-hooks.ts";
import { ControlledClock } from "../../support/controlled-clock.ts";
import type { TestEngine } from "../../support/engines.ts";
import { UnderTest, useUnderTest } from "../../support/under-test.ts";

export { eventually, withTime };

export const LEASE_MS = 30_000;

/** Workflows for the tests of one `describe`. */
export function useWorkflows(engine: TestEngine): WorkflowsUnderTest {
  return useUnderTest(engine, new WorkflowsUnderTest());
}

export interface ProcessOptions {
  /** Its own time, for a process that stops while others go on. Default: that of the test. */
  readonly clock?: ControlledClock;
  readonly concurrency?: number;
  readonly env?: unknown;
  readonly workflowLimits?: WorkflowLimits;
  readonly tokens?: TokenOptions;
  readonly telemetry?: Telemetry;
  readonly onAlert?: OnAlert;
  /** Share the database connection of another process. */
  readonly adapter?: DatabaseAdapter;
}

export class WorkflowsUnderTest extends UnderTest<WorkflowProcess<Workflows>> {
  /** A process with these workflows, with a connection and a memory of its own. It runs nothing until it is started. */
  process<const Registry extends Workflows>(
    workflows: Registry,
    options: ProcessOptions = {},
  ): WorkflowProcess<Registry> {
    if (this.database === undefined) throw new Error("The database is there only while tests run.");
    const { clock = this.clock, env, workflowLimits = {}, concurrency = 10, tokens, telemetry, onAlert } = options;
    const logs = new LogBook();
    const adapter = options.adapter ?? this.database.reopen({ clock, logger: logs });
    const fragment = instantiate(workflowsFragment)
      .withConfig({ workflows, env, workflowLimits, namespace: this.namespace, ...(tokens && { tokens }) })
      .withOptions({
        databaseAdapter: adapter,
        durableHooks: { ...(telemetry && { telemetry }), ...(onAlert && { onAlert }) },
      })
      .build();
    const process = new WorkflowProcess<Registry>(fragment, adapter, clock, logs, concurrency);
    this.processes.push(process as unknown as WorkflowProcess<Workflows>);
    return process;
  }

  /** A process that is running. */
  start<const Registry extends Workflows>(
    workflows: Registry,
    options: ProcessOptions = {},
  ): WorkflowProcess<Registry> {
    const process = this.process(workflows, options);
    process.start();
    return process;
  }

  /** A clock that shows what the test's clock shows, and is moved by itself: for a process that stands still. */
  anotherClock(): ControlledClock {
    return new ControlledClock(this.clock.now());
  }
}

export interface ReportedError extends DispatchErrorContext {
  readonly error: unknown;
}

export class WorkflowProcess<Registry extends Workflows> {
  readonly fragment: WorkflowsFragment<Registry>;
  readonly adapter: DatabaseAdapter;
  readonly clock: ControlledClock;
  readonly logs: LogBook;
  readonly workflows: TypedBindings<Registry>;
  readonly processor: DurableHooksProcessor;
  readonly dispatcher: DurableHooksDispatcher;
  /** What `onError` was told. */
  readonly errors: ReportedError[] = [];

  constructor(
    fragment: WorkflowsFragment<Registry>,
    adapter: DatabaseAdapter,
    clock: ControlledClock,
    logs: LogBook,
    concurrency: number,
  ) {
    this.fragment = fragment;
    this.adapter = adapter;
    this.clock = clock;
    this.logs = logs;
    this.workflows = fragment.workflows;
    this.processor = createDurableHooksProcessor(fragment) as DurableHooksProcessor;
    this.dispatcher = createDurableHooksDispatcher({
      processor: this.processor,
      concurrency,
      leaseMs: LEASE_MS,
      logger: logs,
      onError: (error, context) => this.errors.push({ error, ...context }),
    });
  }

  get store(): Store {
    return this.adapter.store;
  }

  /** Runs what is due, and what becomes due, in the background. */
  start(): void {
    this.dispatcher.startPolling();
  }

  /** Runs what is due, until nothing is. */
  drain(): Promise<void> {
    return this.dispatcher.drain({ deadlineMs: 86_400_000 });
  }

  /** As a deployment does: what runs is given back at once. */
  stop(): Promise<void> {
    return this.#lettingTimePass(this.dispatcher.stopPolling({ deadlineMs: 0 }), 10);
  }

  async close(): Promise<void> {
    await this.stop();
    await this.#lettingTimePass(this.store.close(), 1000);
  }

  /** No time passes, unless it takes long: a write that is sent again, because its answer was lost, waits for time. */
  async #lettingTimePass(ending: Promise<void>, stepMs: number): Promise<void> {
    const progress = { over: false };
    const ended = ending.finally(() => {
      progress.over = true;
    });
    const patience = performance.now() + 2000;
    while (!progress.over) await this.clock.advanceAndSettle(performance.now() < patience ? 0 : stepMs);
    await ended;
  }
}

/** Waits for the status of an instance, letting time pass. */
export async function untilStatus(
  clock: ControlledClock,
  instance: { status(): Promise<{ readonly status: string }> },
  wanted: string,
): Promise<void> {
  await withTime(clock, async () => {
    const { status } = await instance.status();
    if (status !== wanted) throw new Error(`It is ${status}, not ${wanted}.`);
  });
}
