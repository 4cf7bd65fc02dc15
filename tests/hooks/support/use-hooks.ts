import { expect } from "vitest";
import { Application, type HookHandles } from "../../../src/app/perdure.ts";
import { createDurableHooksDispatcher, type DurableHooksDispatcher } from "../../../src/dispatchers/node.ts";
import { createDurableHooksProcessor, type DurableHooksProcessor } from "../../../src/fragment/create-processor.ts";
import { defineFragment, type RunUnitOfWork } from "../../../src/fragment/define-fragment.ts";
import type { Fragment } from "../../../src/fragment/fragment.ts";
import { instantiate } from "../../../src/fragment/instantiate.ts";
import type { HookDefinitions } from "../../../src/hooks/define-hook.ts";
import type { DurableHooks } from "../../../src/hooks/durable-hooks.ts";
import type { DurableHooksOptions } from "../../../src/hooks/hook-settings.ts";
import type { DispatchErrorContext } from "../../../src/queue/dispatch-loop.ts";
import type { HookStatements } from "../../../src/store/hooks/hook-statements.ts";
import type { DatabaseAdapter, Store } from "../../../src/store/store.ts";
import { ControlledClock, settle } from "../../support/controlled-clock.ts";
import type { TestEngine } from "../../support/engines.ts";
import { eventually } from "../../support/eventually.ts";
import { UnderTest, useUnderTest } from "../../support/under-test.ts";
import { LogBook } from "./log-book.ts";

export const LEASE_MS = 30_000;

/** Hooks for the tests of one `describe`. */
export function useHooks(engine: TestEngine): HooksUnderTest {
  return useUnderTest(engine, new HooksUnderTest());
}

export interface ProcessOptions {
  /** Its own time, for a process that stops while others go on. Default: that of the test. */
  readonly clock?: ControlledClock;
  readonly namespace?: string;
  readonly concurrency?: number;
  readonly durableHooks?: DurableHooksOptions;
  /** Share the database connection of another process, as fragments of one process do. */
  readonly adapter?: DatabaseAdapter;
}

export class HooksUnderTest extends UnderTest<TestProcess<HookDefinitions>> {
  /** A process with these hooks, with a connection and a memory of its own. It runs nothing until it is told to. */
  process<const Hooks extends HookDefinitions>(hooks: Hooks, options: ProcessOptions = {}): TestProcess<Hooks> {
    if (this.database === undefined) throw new Error("The database is there only while tests run.");
    const { clock = this.clock, namespace = this.namespace, durableHooks = {} } = options;
    const logs = new LogBook();
    const adapter = options.adapter ?? this.database.reopen({ clock, logger: logs });
    const definition = defineFragment(namespace)
      .provideHooks(() => hooks)
      .build();
    const fragment = instantiate(definition).withOptions({ databaseAdapter: adapter, durableHooks }).build();
    const process = new TestProcess({ fragment, adapter, clock, logs, concurrency: options.concurrency ?? 10 });
    this.processes.push(process as unknown as TestProcess<HookDefinitions>);
    return process;
  }

  /** A clock that shows what the test's clock shows, and is moved by itself. */
  anotherClock(): ControlledClock {
    return new ControlledClock(this.clock.now());
  }
}

interface ProcessParts<Hooks extends HookDefinitions> {
  readonly fragment: Fragment<Hooks, unknown>;
  readonly adapter: DatabaseAdapter;
  readonly clock: ControlledClock;
  readonly logs: LogBook;
  readonly concurrency: number;
}

export interface ReportedError extends DispatchErrorContext {
  readonly error: unknown;
}

export class TestProcess<Hooks extends HookDefinitions> {
  readonly adapter: DatabaseAdapter;
  readonly clock: ControlledClock;
  readonly logs: LogBook;
  readonly fragment: Fragment<Hooks, unknown>;
  /** Triggers, each in a transaction of its own. */
  readonly hooks: HookHandles<Hooks>;
  readonly unitOfWork: RunUnitOfWork<Hooks>;
  /** What operators use. */
  readonly durableHooks: DurableHooks;
  readonly processor: DurableHooksProcessor;
  readonly dispatcher: DurableHooksDispatcher;
  /** What `onError` was told. */
  readonly errors: ReportedError[] = [];
  /** How many renewals of leases are on their way. */
  #renewals = 0;

  constructor({ fragment, adapter, clock, logs, concurrency }: ProcessParts<Hooks>) {
    this.adapter = adapter;
    this.clock = clock;
    this.logs = logs;
    this.fragment = fragment;
    this.hooks = new Application(fragment, null, false).hooks;
    this.unitOfWork = fragment.unitOfWork;
    this.durableHooks = fragment.durableHooks;
    this.processor = createDurableHooksProcessor(fragment) as DurableHooksProcessor;
    this.dispatcher = createDurableHooksDispatcher({
      processor: this.processor,
      concurrency,
      leaseMs: LEASE_MS,
      logger: logs,
      onError: (error, context) => this.errors.push({ error, ...context }),
    });
    this.#countRenewals(adapter.store.hooks.statements);
  }

  get store(): Store {
    return this.adapter.store;
  }

  /** Runs what is due, until nothing is. */
  drain(): Promise<void> {
    return this.dispatcher.drain({ deadlineMs: 86_400_000 });
  }

  /** The same for handlers that the test, or the process, doesn't live to see the end of. */
  drainBehind(): void {
    this.drain().catch(() => {});
  }

  /** Runs what is due, and what becomes due, in the background. */
  start(): void {
    this.dispatcher.startPolling();
  }

  /** The status of a hook, or null if it isn't there any more. */
  async statusOf(id: string): Promise<string | null> {
    return (await this.durableHooks.get(id))?.status ?? null;
  }

  /** Lets time pass for this process while handlers run, in steps that give it the time to renew their leases. */
  async passTime(milliseconds: number): Promise<void> {
    const end = this.clock.now() + milliseconds;
    while (this.clock.now() < end) {
      await this.clock.advanceAndSettle(Math.min(end - this.clock.now(), LEASE_MS / 6));
      await eventually(() => expect(this.#renewals).toBe(0));
      await settle();
    }
  }

  async close(): Promise<void> {
    const stopped = this.dispatcher.stopPolling({ deadlineMs: 0 });
    this.clock.advance(0);
    await stopped;
    await this.store.close();
  }

  #countRenewals(statements: HookStatements): void {
    const renew = statements.renew.bind(statements);
    statements.renew = async (...request) => {
      this.#renewals++;
      try {
        return await renew(...request);
      } finally {
        this.#renewals--;
      }
    };
  }
}

export { eventually };

/** Waits until a check no longer fails, for what takes time to pass: moves the clock on, a little at a time. */
export function withTime<Result>(clock: ControlledClock, check: () => Result | Promise<Result>): Promise<Result> {
  return eventually(async () => {
    await clock.advanceAndSettle(100);
    return check();
  });
}

/** Triggers a hook until it has run, and waits for its end: from then on triggers are born claimed. */
export async function warmUp(
  process: {
    readonly hooks: { readonly greet: { trigger(payload: string): Promise<unknown> } };
    readonly durableHooks: DurableHooks;
  },
  greet: { readonly calls: readonly unknown[] },
): Promise<void> {
  await eventually(async () => {
    await process.hooks.greet.trigger("warm up");
    expect(greet.calls.length).toBeGreaterThan(0);
  });
  await eventually(async () => expect((await process.durableHooks.list()).hooks).toEqual([]));
}
