import type { DatabaseSync } from "node:sqlite";
import type { ApplicationSubjects } from "../app/application-subjects.ts";
import type { HookHandles } from "../app/perdure.ts";
import { type Duration, parseDuration } from "../duration.ts";
import type { RunUnitOfWork } from "../fragment/define-fragment.ts";
import type { RunWithin } from "../fragment/within.ts";
import type { HookDefinitions } from "../hooks/define-hook.ts";
import type { DurableHooks } from "../hooks/durable-hooks.ts";
import { type EnvOption, evaluateEnv } from "../workflows/define/registered-workflows.ts";
import type { Workflows } from "../workflows/define/workflow-types.ts";
import type { AllInstances } from "../workflows/instances/all-instances.ts";
import type { TypedBindings } from "../workflows/instances/typed-bindings.ts";
import type { WorkflowSchedules } from "../workflows/schedules/schedule-operations.ts";
import { parseTestAppOptions, type TestAppOptions } from "./test-app-options.ts";
import { createTestBindings } from "./test-bindings.ts";
import { type TestAppError, type TestRehearsal, TestWorld } from "./test-world.ts";

/**
 * An application in a test: the interface of `perdure()` on a database in memory, with control over time and crashes. Work
 * runs only in `runUntilIdle` and `advance`.
 */
export class TestApp<Hooks extends HookDefinitions, Registry extends Workflows = Record<never, never>>
  implements AsyncDisposable
{
  /** Each hook by its name. */
  readonly hooks: HookHandles<Hooks>;
  /** Each workflow by its key. */
  readonly workflows: TypedBindings<Registry>;
  /** Runs a function in a transaction that can trigger hooks. */
  readonly unitOfWork: RunUnitOfWork<Hooks, Registry>;
  /** Triggers hooks in a transaction that the application began on `database`. */
  readonly within: RunWithin<Hooks, Registry>;
  /** The database, for the application's own tables. It survives crashes. */
  readonly database: DatabaseSync;
  /** The errors of handlers and workflows, in order. */
  readonly errors: readonly TestAppError[];
  readonly #world: TestWorld<Hooks, Registry>;
  readonly #env: EnvOption;

  /** @internal */
  constructor(world: TestWorld<Hooks, Registry>, env?: EnvOption) {
    this.#world = world;
    this.#env = env;
    this.database = world.database;
    this.errors = world.errors;
    this.hooks = createHandles(world);
    this.workflows = createTestBindings(world);
    this.unitOfWork = (body) => world.ask((process) => process.unitOfWork(body as never));
    this.within = ((transaction: never) => {
      const { life, application } = world.here();
      life.refuseDead();
      return application.within(transaction);
    }) as unknown as RunWithin<Hooks, Registry>;
  }

  /**
   * The `env` of workflows; without that option, the workflows by their keys. So `createWorkerFetch` of `perdure/cloudflare`
   * takes this application, too.
   */
  get env(): unknown {
    const { workflows } = this;
    return evaluateEnv(this.#env, workflows as never) ?? workflows;
  }

  /** The instances of all workflows. */
  get instances(): AllInstances {
    return this.#world.here().application.instances;
  }

  /** Ends the wait of a token that `step.createToken` gave, once. */
  completeToken(token: string, payload?: unknown): Promise<void> {
    return this.#world.here().application.completeToken(token, payload);
  }

  /** Lists, pauses and resumes the schedules of workflows, and runs them now. */
  get schedules(): WorkflowSchedules {
    return this.#world.here().application.schedules;
  }

  /** Defines subjects, and gives their dispatchers. Due subjects run in `runUntilIdle` and `advance`, like all other work. */
  get subjects(): ApplicationSubjects {
    return this.#world.here().application.subjects;
  }

  /** Lists, redrives, discards and cancels hooks. */
  get durableHooks(): DurableHooks {
    return this.#world.here().application.durableHooks;
  }

  /** The time, in milliseconds since the epoch. It stands still until `advance` moves it. */
  now(): number {
    return this.#world.clock.now();
  }

  /**
   * Runs all work that is due now, and the work that it makes due now. Later work waits, also retries. Resolves when nothing is
   * left to do and nothing runs any more, or when the process crashes. A workflow that waits for time to pass, or for an event,
   * doesn't run.
   */
  runUntilIdle(): Promise<void> {
    return this.#world.ask((process) => process.runDue({ untilStalled: false }));
  }

  /**
   * Moves the time on, and runs what becomes due on the way, each at its own time. A handler or a step that neither ends nor
   * does anything is left waiting: its lease is renewed, and it is told to stop when it takes too long.
   */
  async advance(duration: Duration): Promise<void> {
    const end = this.#world.clock.now() + parseDuration(duration, "The time to advance");
    await this.#world.ask(() => this.#world.advanceTo(end));
  }

  /**
   * The process dies: its open transaction is rolled back, its handlers are abandoned where they stand, and its leases stay. A
   * new process continues with the same database. Called by a handler, it doesn't return.
   */
  crash(): Promise<void> {
    return this.#world.crash();
  }

  /** Closes the database. Running work is abandoned. */
  async stop(): Promise<void> {
    this.#world.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** They outlive a crash: each call goes to the process that the caller belongs to. */
function createHandles<Hooks extends HookDefinitions>(world: TestWorld<Hooks, Workflows>): HookHandles<Hooks> {
  const handles = Object.keys(world.here().application.hooks).map((name) => {
    const trigger = (...rest: unknown[]) =>
      world.ask((process) => process.application.hooks[name as keyof Hooks].trigger(...(rest as never)));
    return [name, { trigger }];
  });
  return Object.freeze(Object.fromEntries(handles)) as HookHandles<Hooks>;
}

/**
 * Starts an application for a test, on a database in memory, with a time of its own. Nothing runs until the test says so, and
 * nothing really waits.
 *
 * @example
 * await using app = await createTestApp({ hooks: { sendMail }, workflows: { checkout } });
 * await app.hooks.sendMail.trigger({ to: "ada@example.org" });
 * await app.runUntilIdle();
 * await app.advance("10 minutes"); // retries that are due by then
 */
export async function createTestApp<
  const Hooks extends HookDefinitions = Record<never, never>,
  const Registry extends Workflows = Record<never, never>,
>(options: TestAppOptions<Hooks, Registry> = {}): Promise<TestApp<Hooks, Registry>> {
  return new TestApp(await createTestWorld(options), options.env);
}

/** The same for code that needs more control than a test. */
export async function createTestWorld<Hooks extends HookDefinitions, Registry extends Workflows>(
  options: TestAppOptions<Hooks, Registry>,
  rehearsal?: TestRehearsal<Hooks, Registry>,
): Promise<TestWorld<Hooks, Registry>> {
  const world = new TestWorld<Hooks, Registry>(parseTestAppOptions(options), rehearsal);
  try {
    await world.migrate();
    return world;
  } catch (error) {
    world.stop();
    throw error;
  }
}
