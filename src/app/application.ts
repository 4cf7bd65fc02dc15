import { checkDeadline } from "../dispatchers/dispatcher-options.ts";
import type { DurableHooksDispatcher } from "../dispatchers/node-dispatcher.ts";
import type { RunUnitOfWork } from "../fragment/define-fragment.ts";
import type { AnyFragment, Fragment } from "../fragment/fragment.ts";
import type { TriggerArguments } from "../fragment/unit-of-work.ts";
import type { RunWithin } from "../fragment/within.ts";
import type { HookDefinitions, HookInput } from "../hooks/define-hook.ts";
import type { DurableHooks } from "../hooks/durable-hooks.ts";
import { checkText } from "../hooks/names.ts";
import { prepareTrigger, type TriggerOptions } from "../hooks/trigger.ts";
import { type TriggeredHook, writeTriggers } from "../hooks/write-triggers.ts";
import { Jobs } from "../jobs/jobs.ts";
import type { Logger } from "../logger.ts";
import { type ActivityOptions, type ActivityReport, readActivity } from "../monitoring/activity-report.ts";
import { AuditTrail, type OnChange } from "../monitoring/audit.ts";
import { type Health, HealthCheck } from "../monitoring/health.ts";
import { type LineListOptions, type LinePage, listLines } from "../monitoring/list-lines.ts";
import { listUnclaimed, type UnclaimedWork } from "../monitoring/list-unclaimed.ts";
import { listWorkers, type WorkerSummary } from "../monitoring/list-workers.ts";
import { type Metrics, readMetrics } from "../monitoring/metrics.ts";
import { drainTogether } from "../queue/drain-together.ts";
import type { Store } from "../store/store.ts";
import { evaluateEnv } from "../workflows/define/registered-workflows.ts";
import type { Workflows } from "../workflows/define/workflow-types.ts";
import { withoutWorkflows } from "../workflows/hook-supplements.ts";
import { type AllInstances, createAllInstances } from "../workflows/instances/all-instances.ts";
import { createBindings } from "../workflows/instances/create/create-bindings.ts";
import type { TypedBindings } from "../workflows/instances/typed-bindings.ts";
import { warnOfReplays } from "../workflows/replay-warning.ts";
import { WorkflowSchedules } from "../workflows/schedules/schedule-operations.ts";
import { completeToken } from "../workflows/tokens/complete-token.ts";
import type { WorkflowRuntime } from "../workflows/workflow-runtime.ts";
import { ApplicationSubjects } from "./application-subjects.ts";
import { auditOperations } from "./audited.ts";

/** A hook that can be triggered on its own, in a separate transaction. */
export interface HookHandle<Input> {
  /** Resolves when the trigger is stored. Concurrent calls share commits. */
  trigger(...rest: TriggerArguments<Input>): Promise<TriggeredHook>;
}

export type HookHandles<Hooks extends HookDefinitions> = {
  readonly [Name in keyof Hooks]: HookHandle<HookInput<Hooks[Name]>>;
};

/** What operators use of an application. */
export type Operations<Registry extends Workflows = Record<never, never>> = Pick<
  Application<HookDefinitions, Registry>,
  "workflows" | "instances" | "schedules" | "durableHooks" | "jobs" | "subjects"
>;

interface ApplicationOptions {
  readonly runsSubjects?: boolean;
  readonly listens?: () => boolean;
  readonly onAudit?: OnChange | undefined;
  readonly logger?: Logger;
}

/** A running application. Disposing of it stops it. */
export class Application<Hooks extends HookDefinitions, Registry extends Workflows = Record<never, never>>
  implements AsyncDisposable
{
  /** Each hook by its name. */
  readonly hooks: HookHandles<Hooks>;
  /** Each workflow by its key. */
  readonly workflows: TypedBindings<Registry>;
  /** Lists, pauses and resumes the schedules of workflows, and runs them now. */
  readonly schedules: WorkflowSchedules;
  /** The instances of all workflows. */
  readonly instances: AllInstances<Registry>;
  /** Ends the wait of a token that `step.createToken` gave, once. */
  readonly completeToken: (token: string, payload?: unknown) => Promise<void>;
  /** Defines subjects, and returns their dispatchers. */
  readonly subjects: ApplicationSubjects;
  /** Runs a function in a transaction that can trigger hooks, create instances and send events. */
  readonly unitOfWork: RunUnitOfWork<Hooks, Registry>;
  /**
   * Triggers hooks, creates instances and sends events in a transaction that the application began, with any library.
   *
   * @example
   * await app.within(fromPg(client)).workflows.checkout.create({ id: order.id, params: order });
   */
  readonly within: RunWithin<Hooks, Registry>;
  /** Lists, redrives, discards and cancels hooks. */
  readonly durableHooks: DurableHooks;
  /** Acts on all instances or hooks that match a filter. */
  readonly jobs: Jobs;
  /** @internal */
  readonly parts: AnyFragment["parts"];
  /** Null without `onAudit`. @internal */
  readonly audit: AuditTrail | null;
  readonly #audited: (trail: AuditTrail) => Operations<Registry>;
  readonly #env: () => unknown;
  readonly #store: Store;
  readonly #workflows: WorkflowRuntime;
  readonly #dispatcher: DurableHooksDispatcher | null;
  readonly #ownsDatabase: boolean;
  readonly #health: HealthCheck;
  #stopped: Promise<void> | undefined;

  /** @internal */
  constructor(
    fragment: Fragment<Hooks, unknown>,
    dispatcher: DurableHooksDispatcher | null,
    ownsDatabase: boolean,
    { runsSubjects = false, listens, onAudit, logger }: ApplicationOptions = {},
  ) {
    const { store, hooks } = fragment.parts;
    this.parts = fragment.parts;
    const workflows = fragment.parts.workflows ?? withoutWorkflows(store, fragment.namespace);
    const bindings = createBindings(workflows);
    this.audit =
      onAudit === undefined ? null : new AuditTrail({ onAudit, clock: store.clock, logger: logger ?? store.logger });
    const plain: Operations<Registry> = {
      workflows: bindings as unknown as TypedBindings<Registry>,
      instances: createAllInstances<Registry>(workflows),
      schedules: new WorkflowSchedules(workflows),
      durableHooks: fragment.durableHooks,
      jobs: new Jobs(workflows),
      subjects: new ApplicationSubjects(store, fragment.namespace, runsSubjects, listens),
    };
    this.#audited = (trail) => auditOperations(plain, (key) => workflows.workflows.get(key).name, trail);
    const offered = this.audit === null ? plain : this.#audited(this.audit);
    this.workflows = offered.workflows;
    this.instances = offered.instances;
    this.schedules = offered.schedules;
    this.durableHooks = offered.durableHooks;
    this.jobs = offered.jobs;
    this.subjects = offered.subjects;
    this.#env = () => evaluateEnv(workflows.workflows.env, bindings) ?? bindings;
    this.completeToken = (token, payload) => completeToken(workflows, token, payload);
    this.unitOfWork = fragment.unitOfWork as unknown as RunUnitOfWork<Hooks, Registry>;
    this.within = fragment.within as unknown as RunWithin<Hooks, Registry>;
    this.#store = store;
    this.#workflows = workflows;
    this.#health = new HealthCheck(fragment.parts);
    this.#dispatcher = dispatcher;
    this.#ownsDatabase = ownsDatabase;
    const handles = hooks.names.map((name) => [
      name,
      {
        trigger: async (payload: unknown, options?: TriggerOptions) => {
          warnOfReplays(store, { hookName: name }, options?.id);
          const trigger = await prepareTrigger(hooks, name, payload, options, store.createId);
          const [triggered] = await writeTriggers(store, [trigger]);
          return triggered;
        },
      },
    ]);
    this.hooks = Object.freeze(Object.fromEntries(handles)) as HookHandles<Hooks>;
  }

  /**
   * The workers of all processes that run hooks or workflows of this application: those that live, and those that have died
   * within a day.
   */
  workers(): Promise<WorkerSummary[]> {
    return listWorkers(this.#store, this.parts.namespace);
  }

  /**
   * The names under which hooks or instances are due and that no live worker runs. They wait until a process registers these
   * names.
   */
  unclaimed(): Promise<UnclaimedWork[]> {
    return listUnclaimed(this.#store, this.parts.namespace);
  }

  /** One page of the lines of instances that share a limit: who is inside, and who waits. */
  async lines(options?: LineListOptions): Promise<LinePage> {
    const limitsOf = (name: string) => this.#workflows.workflows.limitsOf(name);
    return listLines(this.#store, this.parts.namespace, limitsOf, options);
  }

  /** Whether this process can do its work: the database answers, its schema fits, and the dispatcher looks for work. */
  health(): Promise<Health> {
    return this.#health.check();
  }

  /**
   * What this process has done, and what the database says about the work of all processes. Never rejects: `queue` is null if
   * the database doesn't answer.
   */
  metrics(): Promise<Metrics> {
    return readMetrics(this.#store, this.parts.namespace);
  }

  /** What this process has started and finished in each of the last minutes. */
  async activity(options?: ActivityOptions): Promise<ActivityReport> {
    return readActivity(this.#store, this.parts.namespace, options);
  }

  /**
   * The same objects for a named operator: `onAudit` receives the name with each change, also with instances that are created
   * and events that are sent, and `explain()` says who paused an instance.
   *
   * @example
   * const order = await app.actingAs("ada@example.org").instances.get("checkout", "order-1");
   * await order.pause();
   */
  actingAs(actor: string): Operations<Registry> {
    return this.#audited((this.audit ?? this.#untold).as(checkText(actor, "An actor")));
  }

  /** Looks for work now. */
  wake(): void {
    this.#dispatcher?.wake();
    this.subjects.wake();
  }

  /**
   * The `env` of workflows; without that option, the workflows by their keys. For `createWorkerFetch` of `perdure/cloudflare`.
   */
  get env(): unknown {
    return this.#env();
  }

  /**
   * For short-lived processes with `worker: false`: runs due hooks, workflows, schedules and subjects until there are none, or
   * until the deadline (default: 10 seconds). Then it releases running work.
   *
   * @example
   * export const handler = () => app.drain({ deadlineMs: 25_000 });
   */
  async drain(options: { readonly deadlineMs?: number } = {}): Promise<void> {
    const drainWorker = async (deadlineMs: number) => this.#dispatcher?.drain({ deadlineMs: Math.ceil(deadlineMs) });
    await drainTogether(this.#store.clock, checkDeadline(options, "drain", 10_000), drainWorker, this.subjects);
  }

  /**
   * Shuts down: waits for running work up to a deadline (default: 30 seconds), releases the rest, and closes the database if it
   * opened it.
   */
  stop(options: { readonly deadlineMs?: number } = {}): Promise<void> {
    this.#stopped ??= this.#stop(options).catch((error: unknown) => {
      this.#stopped = undefined; // another call may succeed
      throw error;
    });
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Without `onAudit`, names of operators matter only to `explain()`. */
  get #untold(): AuditTrail {
    return new AuditTrail({ onAudit: () => {}, clock: this.#store.clock, logger: this.#store.logger });
  }

  async #stop(options: { readonly deadlineMs?: number }): Promise<void> {
    await Promise.all([this.#dispatcher?.stopPolling(options), this.subjects.stop(options.deadlineMs)]);
    if (this.#ownsDatabase) await this.#store.close();
  }
}
