import type { AsyncLocalStorage } from "node:async_hooks";
import { Application } from "../app/perdure.ts";
import type { Clock } from "../clock.ts";
import { createDurableHooksProcessor } from "../fragment/create-processor.ts";
import { defineFragment } from "../fragment/define-fragment.ts";
import type { Fragment } from "../fragment/fragment.ts";
import { instantiate } from "../fragment/instantiate.ts";
import { migrate } from "../fragment/migrate.ts";
import { type HookDefinitions, isHookDefinition } from "../hooks/define-hook.ts";
import type { DurableHooksOptions } from "../hooks/hook-settings.ts";
import type { Logger } from "../logger.ts";
import { DispatchLoop, type DispatchOptions } from "../queue/dispatch-loop.ts";
import type { Processor } from "../queue/processor.ts";
import type { Randomness } from "../randomness.ts";
import { sqlite } from "../store/sqlite/index.ts";
import { Store } from "../store/store.ts";
import { HandlerWatch } from "./handler-watch.ts";
import { ProcessClock } from "./process-clock.ts";
import { createProcessConnection } from "./process-connection.ts";
import { mortalEngine } from "./process-engine.ts";
import { ProcessLife } from "./process-life.ts";
import type { TestDatabase } from "./test-database.ts";

export interface TestProcessOptions<Hooks extends HookDefinitions> {
  /** What its leases are known by. */
  readonly name: string;
  readonly hooks: Hooks;
  readonly namespace: string;
  readonly durableHooks: DurableHooksOptions;
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly database: TestDatabase;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly logger: Logger;
  readonly onError: DispatchOptions["onError"];
  /** Performs a commit, or lets the process crash there. */
  readonly commit: (perform: () => void, life: ProcessLife) => void;
  /** The code that runs in this process knows it by this. */
  readonly context: AsyncLocalStorage<TestProcess<Hooks>>;
}

/** By the controlled clock: never. */
const NEVER_MS = 2 ** 52;

/** A process that doesn't exist but in a test: a memory of its own on a database that outlives it. */
export class TestProcess<Hooks extends HookDefinitions> {
  readonly life: ProcessLife = new ProcessLife();
  readonly application: Application<Hooks>;
  readonly handlers: HandlerWatch;
  readonly #options: TestProcessOptions<Hooks>;
  readonly #clock: ProcessClock;
  readonly #fragment: Fragment<Hooks, unknown>;
  readonly #processor: Processor | null;

  constructor(options: TestProcessOptions<Hooks>) {
    const { database, randomness, logger, namespace, durableHooks } = options;
    this.#options = options;
    this.#clock = new ProcessClock(options.clock);
    this.handlers = new HandlerWatch(
      (handler) => options.context.run(this, handler),
      () => this.life.replies,
    );
    const connection = createProcessConnection(database, this.life, (perform) => options.commit(perform, this.life));
    const { engine } = sqlite(connection, { clock: this.#clock, randomness, logger }).store;
    const store = new Store({ engine: mortalEngine(engine, this.life), randomness, logger });
    const definition = defineFragment(namespace)
      .provideHooks(() => this.#watched(options.hooks))
      .build();
    this.#fragment = instantiate(definition).withOptions({ databaseAdapter: { store }, durableHooks }).build();
    this.#processor = createDurableHooksProcessor(this.#fragment);
    this.application = new Application(this.#fragment, null, false);
  }

  migrate(): Promise<void> {
    return migrate(this.#fragment);
  }

  /** Runs what is due, and what that makes due now. Resolves when nothing is left, or when the process dies. */
  async runDue(): Promise<void> {
    if (this.#processor === null || this.life.dead) return;
    const { concurrency, leaseMs, logger, onError, name } = this.#options;
    const loop = new DispatchLoop({
      processor: this.#processor,
      owner: { name, isGone: () => false },
      concurrency,
      leaseMs,
      pollIntervalMs: NEVER_MS,
      logger,
      onError,
    });
    await Promise.race([loop.drain(NEVER_MS), this.life.death]);
  }

  /** Milliseconds until something in the database is due, or null if nothing waits. */
  async nextWake(): Promise<number | null> {
    if (this.#processor === null) return null;
    return this.#processor.nextWake({ takeOver: true });
  }

  async purge(): Promise<void> {
    for (const source of this.#processor?.sources ?? []) await source.purge();
  }

  /** Ends it where it stands: what it hasn't committed is lost, and nothing that it waits for comes any more. */
  kill(): void {
    if (this.life.dead) return;
    this.#options.database.abandonTransaction();
    this.#clock.kill();
    this.life.end();
  }

  #watched(hooks: Hooks): Hooks {
    const watched = Object.entries(hooks ?? {}).map(([name, definition]) => {
      if (!isHookDefinition(definition)) return [name, definition];
      const { handler } = definition;
      return [name, { ...definition, handler: this.handlers.watch(handler) }];
    });
    return Object.fromEntries(watched) as Hooks;
  }
}
