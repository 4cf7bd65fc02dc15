import { AsyncLocalStorage } from "node:async_hooks";
import { PerdureError } from "../errors.ts";
import type { HookDefinitions } from "../hooks/define-hook.ts";
import type { Randomness } from "../randomness.ts";
import type { WorkflowStep } from "../workflows/define/step.ts";
import type { Workflows } from "../workflows/define/workflow-types.ts";
import { type CommitObserver, commitObserved } from "./commit-points.ts";
import { ControlledClock, settle } from "./controlled-clock.ts";
import { Rehearsals, rehearseSteps } from "./introspection/rehearsed-steps.ts";
import type { Rehearse } from "./mortal-workflows.ts";
import { currentOperation } from "./process-engine.ts";
import { forever, type ProcessLife } from "./process-life.ts";
import { seededRandomness } from "./seeded-randomness.ts";
import type { TestAppSettings } from "./test-app-options.ts";
import { TestDatabase } from "./test-database.ts";
import { TestProcess } from "./test-process.ts";

/** How often time moves on during a wait, at most. */
const MOST_MOMENTS = 10_000;

/** An error of a handler, a workflow or the database. */
export interface TestAppError {
  readonly error: unknown;
  /** Names the hook, or the instance of a workflow; null if it was neither that failed. */
  readonly description: string | null;
  /** Counted from 1; null if it was neither that failed. */
  readonly attempt: number | null;
}

export type TestRehearsal<Hooks extends HookDefinitions, Registry extends Workflows> = (
  here: () => TestProcess<Hooks, Registry>,
) => Rehearse;

/** The database, the time and the chance of one test, and the processes that come and go in it, one at a time. */
export class TestWorld<Hooks extends HookDefinitions, Registry extends Workflows> {
  readonly database: TestDatabase = new TestDatabase();
  readonly clock: ControlledClock;
  readonly errors: TestAppError[] = [];
  /** The changes that introspectors made. */
  readonly rehearsals: Rehearsals = new Rehearsals();
  readonly #settings: TestAppSettings<Hooks, Registry>;
  readonly #rehearsal: Rehearse;
  readonly #randomness: Randomness;
  /** Which process the running code belongs to. */
  readonly #context = new AsyncLocalStorage<TestProcess<Hooks, Registry>>();
  #process: TestProcess<Hooks, Registry>;
  #processes = 0;
  #observer: CommitObserver | undefined;
  /** How many rows were changed up to the last commit. */
  #changes = 0;
  #stopped = false;

  /** `rehearsal` is for code that needs more than modifications. */
  constructor(settings: TestAppSettings<Hooks, Registry>, rehearsal?: TestRehearsal<Hooks, Registry>) {
    this.#settings = settings;
    this.#rehearsal = rehearsal?.(() => this.here()) ?? ((key, id, step) => this.#rehearse(key, id, step));
    this.clock = new ControlledClock(settings.startAt);
    this.#randomness = seededRandomness(settings.seed);
    this.database.observe((perform) => this.#commit(perform, this.here().life));
    this.#process = this.#startProcess();
  }

  async migrate(): Promise<void> {
    await this.#process.migrate();
    if (this.#settings.tables !== undefined) this.database.execute(this.#settings.tables);
  }

  /** The process that the calling code belongs to: a test's own code belongs to whichever lives. */
  here(): TestProcess<Hooks, Registry> {
    if (this.#stopped) throw new PerdureError("store.closed", "The test application was stopped.");
    return this.#context.getStore() ?? this.#process;
  }

  /** Calls the process that the calling code belongs to. Code of a dead one gets no answer. */
  async ask<Result>(call: (process: TestProcess<Hooks, Registry>) => Promise<Result>): Promise<Result> {
    const inside = this.#context.getStore() !== undefined;
    const process = this.here();
    if (process.life.dead) return forever();
    const result = await call(process);
    return inside && process.life.dead ? forever() : result;
  }

  /**
   * Runs code of the application's in its present process, so that it stops where it stands when the process crashes. Says
   * whether it came to its end.
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

  /** Moves the time to `end`, and stops wherever something is due. */
  async advanceTo(end: number): Promise<void> {
    await this.#runDue();
    while (this.clock.now() < end && !this.#stopped) {
      const wake = (await this.#process.life.orAtDeath(this.#process.nextWake())) ?? Number.POSITIVE_INFINITY;
      const next = Math.min(wake, this.clock.nextTimer ?? Number.POSITIVE_INFINITY);
      this.clock.advance(Math.min(Math.max(Math.ceil(next), 1), end - this.clock.now()));
      await this.#runDue();
    }
    await this.#process.life.orAtDeath(this.#process.purge());
  }

  /** Runs what is due, and lets time pass, until there is something to give. */
  async runUntil<Value>(wanted: string, look: () => Promise<{ readonly value: Value } | null>): Promise<Value> {
    for (let moment = 0; moment < MOST_MOMENTS; moment++) {
      const found = await look();
      if (found !== null) return found.value;
      await this.#runDue();
      const seen = await look();
      if (seen !== null) return seen.value;
      const wake = (await this.#process.life.orAtDeath(this.#process.nextWake())) ?? Number.POSITIVE_INFINITY;
      const next = Math.min(wake, this.clock.nextTimer ?? Number.POSITIVE_INFINITY);
      if (next === Number.POSITIVE_INFINITY) {
        throw new PerdureError(
          "testing.not_reached",
          `Nothing is left to do, before ${wanted}. Does it wait for an event?`,
        );
      }
      await this.advanceTo(this.clock.now() + Math.max(Math.ceil(next), 1));
    }
    throw new PerdureError("testing.not_reached", `Much has happened, and still it isn't so that ${wanted}.`);
  }

  /** Called by code of a process, it kills that one, if it lives, and doesn't return. */
  async crash(): Promise<void> {
    const caller = this.#context.getStore();
    if (caller === undefined || caller === this.#process) this.#crash();
    if (caller !== undefined) await forever();
  }

  /** Asks this at every commit from now on. */
  observeCommits(observer: CommitObserver): void {
    this.#observer = observer;
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#process.kill();
    this.database.close();
  }

  async #runDue(): Promise<void> {
    await settle();
    await this.#process.runDue({ untilStalled: true });
  }

  #commit(perform: () => void, life: ProcessLife): void {
    life.refuseDead();
    const changes = this.database.totalChanges();
    const moment = changes === this.#changes ? null : (this.#observer?.(currentOperation()) ?? null);
    this.#changes = changes;
    commitObserved(moment, { perform, crash: () => this.#crash(), refuseDead: () => life.refuseDead() });
  }

  #rehearse(key: string, id: string, step: WorkflowStep): WorkflowStep {
    const process = this.here();
    this.rehearsals.created(key, id);
    return rehearseSteps(step, {
      modifications: () => this.rehearsals.of(key, id),
      send: (event) => process.instance(key, id).sendEvent(event as never),
    });
  }

  #crash(): void {
    this.#process.kill();
    this.#process = this.#startProcess();
  }

  #startProcess(): TestProcess<Hooks, Registry> {
    return new TestProcess({
      ...this.#settings,
      name: `process-${++this.#processes}`,
      database: this.database,
      clock: this.clock,
      randomness: this.#randomness,
      context: this.#context,
      rehearse: this.#rehearsal,
      commit: (perform, life) => this.#commit(perform, life),
      onError: (error, { attempt }) => {
        const { description = null, attempt: number = null } = attempt ?? {};
        this.errors.push({ error, description, attempt: number });
      },
    });
  }
}
