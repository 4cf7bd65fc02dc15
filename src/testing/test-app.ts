import { AsyncLocalStorage } from "node:async_hooks";
import type { DatabaseSync } from "node:sqlite";
import type { HookHandles } from "../app/perdure.ts";
import { type Duration, parseDuration } from "../duration.ts";
import { PerdureError } from "../errors.ts";
import type { RunUnitOfWork } from "../fragment/define-fragment.ts";
import type { RunWithin } from "../fragment/within.ts";
import type { HookDefinitions } from "../hooks/define-hook.ts";
import type { DurableHooks } from "../hooks/durable-hooks.ts";
import { type CommitObserver, commitObserved } from "./commit-points.ts";
import { ControlledClock, settle } from "./controlled-clock.ts";
import { currentOperation } from "./process-engine.ts";
import { forever, type ProcessLife } from "./process-life.ts";
import { seededRandomness } from "./seeded-randomness.ts";
import type { TestAppSettings } from "./test-app-options.ts";
import { TestDatabase } from "./test-database.ts";
import { TestProcess } from "./test-process.ts";

/** What a handler threw, or what went wrong with the database. */
export interface TestAppError {
  readonly error: unknown;
  /** Names the hook; null if it wasn't a handler that failed. */
  readonly description: string | null;
  /** Counted from 1; null if it wasn't a handler that failed. */
  readonly attempt: number | null;
}

/**
 * An application in a test: what `perdure()` gives, on a database in memory, and the power over its time and its death. Nothing
 * runs but in `runUntilIdle` and `advance`.
 */
export class TestApp<Hooks extends HookDefinitions> implements AsyncDisposable {
  /** Each hook by its name. */
  readonly hooks: HookHandles<Hooks>;
  /** Runs a function in a transaction that can trigger hooks. */
  readonly unitOfWork: RunUnitOfWork<Hooks>;
  /** Triggers hooks in a transaction that the application began on `database`. */
  readonly within: RunWithin<Hooks>;
  /** The database, for the application's own tables. It survives crashes. */
  readonly database: DatabaseSync;
  /** What handlers threw, in order. */
  readonly errors: readonly TestAppError[];
  readonly #settings: TestAppSettings<Hooks>;
  readonly #database = new TestDatabase();
  readonly #clock: ControlledClock;
  readonly #randomness;
  readonly #context = new AsyncLocalStorage<TestProcess<Hooks>>();
  readonly #errors: TestAppError[] = [];
  #process: TestProcess<Hooks>;
  #processes = 0;
  #observer: CommitObserver | undefined;
  #stopped = false;
  /** As of the last commit. */
  #changes = 0;

  /** @internal */
  constructor(settings: TestAppSettings<Hooks>) {
    this.#settings = settings;
    this.#clock = new ControlledClock(settings.startAt);
    this.#randomness = seededRandomness(settings.seed);
    this.database = this.#database;
    this.#database.observe((perform) => this.#commit(perform, this.#here().life));
    this.errors = this.#errors;
    this.#process = this.#startProcess();
    this.hooks = this.#createHandles();
    this.unitOfWork = (body) => this.#inside((process) => process.application.unitOfWork(body));
    this.within = ((transaction: never) => {
      const process = this.#here();
      process.life.refuseDead();
      return process.application.within(transaction);
    }) as RunWithin<Hooks>;
  }

  /** Lists, redrives, discards and cancels hooks. */
  get durableHooks(): DurableHooks {
    return this.#here().application.durableHooks;
  }

  /** The time, in milliseconds since the epoch. It stands still until `advance` moves it. */
  now(): number {
    return this.#clock.now();
  }

  /**
   * Runs everything that is due now, and what that makes due now. What is due later stays, retries too. Resolves when nothing is
   * left to do and no handler runs any more, or when the process crashes.
   */
  runUntilIdle(): Promise<void> {
    return this.#inside((process) => process.runDue());
  }

  /**
   * Moves the time on, and runs what becomes due on the way, each at its own time. A handler that neither ends nor does anything
   * is left waiting: its lease is renewed, and it is told to stop when it is stuck for too long.
   */
  advance(duration: Duration): Promise<void> {
    const milliseconds = parseDuration(duration, "The time to advance");
    return this.#inside(() => this.#advance(this.#clock.now() + milliseconds));
  }

  /**
   * The process dies: its open transaction is rolled back, its handlers are abandoned where they stand, and its leases stay. A
   * new process goes on with the same database. Called by a handler, it doesn't return.
   */
  async crash(): Promise<void> {
    const here = this.#context.getStore();
    if (here === undefined || here === this.#process) this.#crash();
    if (here !== undefined) await forever();
  }

  /** Closes the database. What runs is abandoned. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#process.kill();
    this.#database.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** @internal */
  async migrate(): Promise<void> {
    await this.#process.migrate();
    if (this.#settings.tables !== undefined) this.#database.execute(this.#settings.tables);
  }

  /** Asks this at every commit from now on. @internal */
  observeCommits(observer: CommitObserver): void {
    this.#observer = observer;
  }

  /**
   * Runs code of the application's in its present process, so that it stops where it stands when the process crashes. Says
   * whether it came to its end. @internal
   */
  async runInProcess(body: () => Promise<unknown>): Promise<boolean> {
    const process = this.#process;
    const ended = this.#context.run(process, body).then(
      () => true,
      (error: unknown) => {
        if (process.life.dead) return false;
        throw error;
      },
    );
    return Promise.race([ended, process.life.death.then(() => false)]);
  }

  /** The process that the calling code belongs to: a test's own code belongs to whichever lives. */
  #here(): TestProcess<Hooks> {
    if (this.#stopped) throw new PerdureError("store.closed", "The test application was stopped.");
    return this.#context.getStore() ?? this.#process;
  }

  async #inside<Result>(call: (process: TestProcess<Hooks>) => Promise<Result>): Promise<Result> {
    const inside = this.#context.getStore() !== undefined;
    const process = this.#here();
    if (process.life.dead) return forever();
    const result = await call(process);
    return inside && process.life.dead ? forever() : result;
  }

  async #advance(end: number): Promise<void> {
    await this.#runDue();
    while (this.#clock.now() < end && !this.#stopped) {
      const wake = (await this.#process.life.orAtDeath(this.#process.nextWake())) ?? Number.POSITIVE_INFINITY;
      const next = Math.min(wake, this.#clock.nextTimer ?? Number.POSITIVE_INFINITY);
      this.#clock.advance(Math.min(Math.max(Math.ceil(next), 1), end - this.#clock.now()));
      await this.#runDue();
    }
    await this.#process.life.orAtDeath(this.#process.purge());
  }

  async #runDue(): Promise<void> {
    await settle();
    const process = this.#process;
    await process.handlers.untilStalled(process.runDue());
  }

  #commit(perform: () => void, life: ProcessLife): void {
    life.refuseDead();
    const changes = this.#database.totalChanges();
    const moment = changes === this.#changes ? null : (this.#observer?.(currentOperation()) ?? null);
    this.#changes = changes;
    commitObserved(moment, { perform, crash: () => this.#crash(), refuseDead: () => life.refuseDead() });
  }

  #crash(): void {
    this.#process.kill();
    this.#process = this.#startProcess();
  }

  #startProcess(): TestProcess<Hooks> {
    return new TestProcess({
      ...this.#settings,
      name: `process-${++this.#processes}`,
      database: this.#database,
      clock: this.#clock,
      randomness: this.#randomness,
      context: this.#context,
      commit: (perform, life) => this.#commit(perform, life),
      onError: (error, { attempt }) => {
        const { description = null, attempt: number = null } = attempt ?? {};
        this.#errors.push({ error, description, attempt: number });
      },
    });
  }

  #createHandles(): HookHandles<Hooks> {
    const handles = Object.keys(this.#process.application.hooks).map((name) => {
      const trigger = (...rest: unknown[]) =>
        this.#inside((process) => process.application.hooks[name as keyof Hooks].trigger(...(rest as never)));
      return [name, { trigger }];
    });
    return Object.freeze(Object.fromEntries(handles)) as HookHandles<Hooks>;
  }
}
