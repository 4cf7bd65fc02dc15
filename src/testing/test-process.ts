import { AsyncLocalStorage } from "node:async_hooks";
import { Application } from "../app/perdure.ts";
import type { Clock } from "../clock.ts";
import { createDurableHooksProcessor } from "../fragment/create-processor.ts";
import type { RunUnitOfWork } from "../fragment/define-fragment.ts";
import { defineFragment } from "../fragment/define-fragment.ts";
import { Fragment } from "../fragment/fragment.ts";
import { buildParts } from "../fragment/instantiate.ts";
import { migrate } from "../fragment/migrate.ts";
import { type AnyHookDefinition, type HookDefinitions, isHookDefinition } from "../hooks/define-hook.ts";
import type { DurableHooksOptions } from "../hooks/hook-settings.ts";
import type { Logger } from "../logger.ts";
import { DispatchLoop, type DispatchOptions } from "../queue/dispatch-loop.ts";
import { drainTogether } from "../queue/drain-together.ts";
import { Processor, type ProcessorTaker } from "../queue/processor.ts";
import type { Randomness } from "../randomness.ts";
import type { InstanceStatements } from "../store/instances/instance-statements.ts";
import { sqlite } from "../store/sqlite/index.ts";
import { createAdapter, Store } from "../store/store.ts";
import type { SubjectsDefinition, SubjectsOptions } from "../subjects/define-subjects.ts";
import { earliest } from "../subjects/subject-schedule.ts";
import { decodeValue, StreamReference } from "../values/index.ts";
import type { EnvOption, RegisteredWorkflow } from "../workflows/define/registered-workflows.ts";
import type { WorkflowSettings } from "../workflows/define/workflow-settings.ts";
import type { Workflows } from "../workflows/define/workflow-types.ts";
import { withWorkflows } from "../workflows/hook-supplements.ts";
import type { WorkflowInstance } from "../workflows/instances/instance.ts";
import { InstanceHandle } from "../workflows/instances/instance-handle.ts";
import type { HistoryItem } from "../workflows/views/history-page.ts";
import type { WorkflowRuntime } from "../workflows/workflow-runtime.ts";
import { HandlerWatch, type OtherWork } from "./handler-watch.ts";
import { MortalWorkflows, type Rehearse } from "./mortal-workflows.ts";
import { ProcessClock } from "./process-clock.ts";
import { mortalEngine } from "./process-engine.ts";
import { ProcessLife } from "./process-life.ts";
import { SpareWorker } from "./spare-worker.ts";
import { createProcessConnection, type TestDatabase } from "./test-database.ts";

interface TestProcessOptions<Hooks extends HookDefinitions, Registry extends Workflows> {
  /** The owner's name in its leases. */
  readonly name: string;
  readonly hooks: Hooks;
  readonly workflows: Registry;
  readonly env: EnvOption;
  readonly workflowSettings: WorkflowSettings;
  readonly subjects: Readonly<Record<string, SubjectsDefinition>>;
  readonly namespace: string;
  readonly durableHooks: DurableHooksOptions;
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly database: TestDatabase;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly logger: Logger;
  readonly onError: DispatchOptions["onError"];
  readonly rehearse: Rehearse;
  /** Performs a commit, or lets the process crash there. */
  readonly commit: (perform: () => void, life: ProcessLife) => void;
  /** The code that runs in this process knows it by this. */
  readonly context: AsyncLocalStorage<TestProcess<Hooks, Registry>>;
}

/** By the controlled clock: never. */
const NEVER_MS = 2 ** 52;

/** A process that doesn't exist but in a test: a memory of its own on a database that outlives it. */
/** Tests need no secret of their own. */
const TEST_TOKENS = { secrets: ["the secret of all tests, which is none"], url: "https://perdure.test" };

export class TestProcess<Hooks extends HookDefinitions, Registry extends Workflows> {
  readonly life: ProcessLife = new ProcessLife();
  readonly application: Application<Hooks, Registry>;
  readonly #options: TestProcessOptions<Hooks, Registry>;
  readonly #clock: ProcessClock;
  readonly #handlers: HandlerWatch;
  readonly #workflows: WorkflowRuntime;
  readonly #fragment: Fragment<Hooks, unknown>;
  readonly #processor: Processor | null;
  readonly #spare: SpareWorker | null;
  /** Whether the running code is a workflow's. */
  readonly #workflowCode = new AsyncLocalStorage<true>();
  #loops = 0;
  /** How many of those that drive it wait for it at present. */
  #drivers = 0;

  constructor(options: TestProcessOptions<Hooks, Registry>) {
    const { database, randomness, logger, namespace, durableHooks } = options;
    this.#options = options;
    this.#clock = new ProcessClock(options.clock);
    const enter = <Result>(code: () => Result) => options.context.run(this, code);
    this.#handlers = new HandlerWatch({
      enter,
      replies: () => this.life.replies,
      others: () => this.#runningWorkflows(),
      isDead: () => this.life.dead,
    });
    const connection = createProcessConnection(database, this.life, (perform) => options.commit(perform, this.life));
    const { engine } = sqlite(connection, { clock: this.#clock, randomness, logger }).store;
    const store = new Store({ engine: mortalEngine(engine, this.life), randomness, logger });
    const definition = defineFragment<undefined>(namespace)
      .provideHooks(() => this.#watched(options.hooks))
      .build();
    const { workflows, workflowSettings, env } = options;
    const registered = new MortalWorkflows(
      [namespace, workflows, workflowSettings, env, TEST_TOKENS],
      this.life,
      (code) => this.#workflowCode.run(true, () => enter(code)),
      options.rehearse,
      options.hooks,
    );
    const endingHooks = new Map(Array.from(registered.endingHooks, ([name, hook]) => [name, this.#watch(name, hook)]));
    const adapter = { databaseAdapter: createAdapter(store), durableHooks };
    const parts = withWorkflows(registered, (supplements) =>
      buildParts(definition, undefined, adapter, { ...supplements, internal: endingHooks }),
    );
    this.#workflows = parts.workflows;
    this.#fragment = new Fragment<Hooks, unknown>(parts);
    const processor = createDurableHooksProcessor(this.#fragment);
    this.#processor = processor === null ? null : new DrivenProcessor(processor, () => this.#drivers > 0);
    this.#spare = processor === null ? null : this.#createSpare(processor, store);
    this.application = new Application(this.#fragment, null, false, { listens: () => this.#drivers > 0 });
    for (const [dispatcherId, definition] of Object.entries(options.subjects)) {
      this.application.subjects.register(dispatcherId, this.#watchedSubjects(definition));
    }
  }

  migrate(): Promise<void> {
    return migrate(this.#fragment);
  }

  /** Callers that drive this process wait for the unit of work, or get an error that says that it is open. */
  get unitOfWork(): RunUnitOfWork<Hooks> {
    return (body) => this.application.unitOfWork(this.#handlers.watchUnitOfWork(body));
  }

  /** An instance, whether or not there is one. */
  instance(key: string, id: string): WorkflowInstance {
    return new InstanceHandle(this.#workflows, this.#workflows.workflows.get(key), id);
  }

  /**
   * The result of a step as its workflow's code gets it: a stream where the step gave one. Null if it isn't stored like that.
   */
  async storedStream(key: string, id: string, { run, position }: HistoryItem): Promise<ReadableStream | null> {
    const { namespace } = this.#options;
    const [record] = await this.statements.find([{ namespace, name: this.nameOf(key), id }]);
    if (record === null || record === undefined) return null;
    const { ref } = record;
    const after = { run, position: position - 1 };
    const page = { ref, instance: record, run, after, order: "oldest", limit: 1, maxBytes: 1 } as const;
    const [entry] = (await this.statements.history(page)).entries;
    const value = entry?.value ? decodeValue(entry.value) : null;
    if (!(value instanceof StreamReference)) return null;
    return this.#workflows.streams.open(ref, value, () => {});
  }

  registered(workflow: unknown): RegisteredWorkflow {
    return this.#workflows.workflows.get(workflow);
  }

  /** Under which the instances of a workflow are stored. */
  nameOf(workflow: unknown): string {
    return this.registered(workflow).name;
  }

  get statements(): InstanceStatements {
    return this.#workflows.store.instances.statements;
  }

  /**
   * Runs what is due, and what that makes due now. Resolves when nothing is left but what waits for time to pass, or when the
   * process dies. With `untilStalled` what does nothing that can be seen is taken to wait, too.
   */
  async runDue(options: { readonly untilStalled: boolean }): Promise<void> {
    if (this.life.dead) return;
    this.#drivers++;
    try {
      await this.#handlers.untilWaiting(this.#drain(), options);
    } finally {
      this.#drivers--;
    }
  }

  /** Milliseconds until something in the database is due, or null if nothing waits. */
  async nextWake(): Promise<number | null> {
    return earliest(
      await Promise.all([this.#processor?.nextWake({ takeOver: true }) ?? null, this.application.subjects.nextWake()]),
    );
  }

  async purge(): Promise<void> {
    for (const source of this.#processor?.sources ?? []) while (await source.purge());
  }

  /** Ends it where it stands: uncommitted writes are lost, and none of its promises settle. */
  kill(): void {
    if (this.life.dead) return;
    this.#options.database.abandonTransaction();
    this.#clock.kill();
    this.life.end();
  }

  /** Waiting work that it leaves continues in the background when it is due. */
  async #drain(): Promise<void> {
    const processor = this.#processor;
    const drainWorker = async () => {
      if (processor !== null) await this.#createLoop(processor).drain(NEVER_MS);
    };
    let more = true;
    while (more && !this.life.dead) {
      await this.life.orAtDeath(drainTogether(this.#clock, NEVER_MS, drainWorker, this.application.subjects));
      more = (await this.life.orAtDeath(this.#spare?.untilIdle() ?? Promise.resolve(false))) === true;
    }
  }

  #createLoop(processor: Processor): DispatchLoop {
    const { concurrency, leaseMs, logger, onError, name } = this.#options;
    return new DispatchLoop({
      processor,
      owner: { name: `${name}.${++this.#loops}`, isGone: () => false },
      concurrency,
      leaseMs,
      pollIntervalMs: NEVER_MS,
      logger,
      onError,
    });
  }

  #createSpare(processor: Processor, store: Store): SpareWorker {
    const { concurrency, leaseMs, name, onError } = this.#options;
    const spare = new SpareWorker({
      processor,
      store,
      owner: { name: `${name}.spare`, isGone: () => false },
      concurrency,
      leaseMs,
      onFailure: (attempt) => void onError(attempt.error, { attempt }),
      onError: (error) => void onError(error, { attempt: null }),
      isWorkflow: () => this.#workflowCode.getStore() === true,
    });
    store.work.join(spare, { listens: false });
    return spare;
  }

  #runningWorkflows(): OtherWork {
    const executions = [...this.#workflows.live.values()];
    const busy = executions.filter((execution) => !execution.waiting);
    const names = busy.map(({ instance }) => `the instance "${instance.id}" of the workflow "${instance.name}"`);
    return { waiting: executions.length - busy.length, busy: names };
  }

  #watch(name: string, definition: AnyHookDefinition): AnyHookDefinition {
    return { ...definition, handler: this.#handlers.watch(definition.handler, `the hook "${name}"`) };
  }

  /** Their handlers and discoveries belong to this process, and what they throw is among its errors. */
  #watchedSubjects(definition: SubjectsDefinition): SubjectsDefinition {
    if (definition?.kind !== "subjects") return definition;
    const { onError } = this.#options;
    const { handle, discover, onProgress } = definition.options;
    const report = (error: unknown, description: string, attempt: number) =>
      void onError(error, { attempt: { error, description, attempt, final: false } });
    const watched: SubjectsOptions = {
      ...definition.options,
      handle: this.#handlers.watch(handle as never, "a subject") as typeof handle,
      onProgress: (progress) => {
        const { event, error, subject } = progress;
        if (event === "failed") report(error, `subject "${subject.subjectKey}"`, subject.attempts);
        return onProgress?.(progress);
      },
      ...(discover && {
        discover: this.#handlers.watch(async () => {
          try {
            return await discover();
          } catch (error) {
            report(error, "discovery of subjects", 1);
            throw error;
          }
        }, "the discovery of subjects") as typeof discover,
      }),
    };
    return { ...definition, options: watched };
  }

  #watched(hooks: Hooks): Hooks {
    const watched = Object.entries(hooks ?? {}).map(([name, definition]) => {
      if (!isHookDefinition(definition)) return [name, definition];
      return [name, this.#watch(name, definition)];
    });
    return Object.fromEntries(watched) as Hooks;
  }
}

/** Takes new work only while a test drives the process: due work waits until the test lets it run. */
class DrivenProcessor extends Processor {
  readonly #isDriven: () => boolean;

  constructor({ sources }: Processor, isDriven: () => boolean) {
    super(sources);
    this.#isDriven = isDriven;
  }

  override join(taker: ProcessorTaker, options: { listens: boolean }): () => void {
    const driven: ProcessorTaker = {
      notice: (notice, store) => this.#isDriven() && taker.notice(notice, store),
      reserve: (...asked) => (this.#isDriven() ? taker.reserve(...asked) : null),
    };
    return super.join(driven, options);
  }
}
