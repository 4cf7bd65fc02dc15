import { instanceNotFound, NotFoundError } from "../errors.ts";
import type { AnyFragment } from "../fragment/fragment.ts";
import type { DurableHooks } from "../hooks/durable-hooks.ts";
import { Jobs } from "../jobs/jobs.ts";
import type { AuditTrail } from "../monitoring/audit.ts";
import { HealthCheck } from "../monitoring/health.ts";
import { checkInstanceId, isWorkflowName } from "../names.ts";
import type { Drainable } from "../queue/drain-together.ts";
import type { InstanceRecord, InstanceRun } from "../store/instances/instance-records.ts";
import type { Receipt } from "../store/request-statements.ts";
import { checkDispatcherId, parseSettings } from "../subjects/dispatcher-settings.ts";
import { SubjectLedger } from "../subjects/subject-ledger.ts";
import { isRegistered, type RegisteredWorkflow } from "../workflows/define/registered-workflows.ts";
import type { AnyWorkflow } from "../workflows/define/workflow-types.ts";
import { withoutWorkflows } from "../workflows/hook-supplements.ts";
import { type AllInstances, createAllInstances } from "../workflows/instances/all-instances.ts";
import { alreadyExists } from "../workflows/instances/create/create.ts";
import { createBindings } from "../workflows/instances/create/create-bindings.ts";
import { InstanceHandle } from "../workflows/instances/instance-handle.ts";
import { listInstances } from "../workflows/instances/lists/list-instances.ts";
import type { BindingOf } from "../workflows/instances/typed-bindings.ts";
import type { WorkflowBindings } from "../workflows/instances/workflow-binding.ts";
import { type ScheduleSummary, WorkflowSchedules } from "../workflows/schedules/schedule-operations.ts";
import type { WorkflowRuntime } from "../workflows/workflow-runtime.ts";
import type { HttpResource } from "./access/authorization.ts";
import type { Scope } from "./access/scope.ts";
import type { EventStreams } from "./answers/event-stream.ts";
import { invalidRequest } from "./answers/http-error.ts";
import { createShow, type Redaction, type ShowValue } from "./answers/redaction.ts";
import type { Ticker } from "./tick.ts";

/** An application or a fragment. */
export interface Servable {
  readonly durableHooks: DurableHooks;
  /** @internal */
  readonly parts: AnyFragment["parts"];
  /** @internal */
  readonly subjects?: Drainable & { readonly dispatcherIds: readonly string[] };
  /** @internal */
  readonly audit?: Pick<AuditTrail, "onAudit"> | null;
}

export interface InstanceParams {
  readonly workflowName: string;
  readonly instanceId: string;
}

/** Makes sure that an action on an instance is done no more than once. */
interface HandledOnce {
  readonly only?: InstanceRun | undefined;
  readonly receipt?: Receipt | undefined;
}

/** The instances that a caller sees. */
type SeenInstances = Pick<Scope, "sees">;

export interface HostParts {
  readonly app: Servable;
  readonly redact: Redaction;
  readonly stackTraces: boolean;
  readonly streams: EventStreams;
  readonly ticker: Ticker | null;
}

/** The application behind a handler, as routes use it. */
export class HttpHost {
  readonly parts: AnyFragment["parts"];
  readonly health: HealthCheck;
  readonly streams: EventStreams;
  /** Null if the handler doesn't serve ticks. */
  readonly ticker: Ticker | null;
  readonly jobs: Jobs;
  readonly #app: Servable;
  readonly #redact: Redaction;
  readonly #stackTraces: boolean;
  readonly #bindings: WorkflowBindings;

  constructor({ app, redact, stackTraces, streams, ticker }: HostParts) {
    this.parts = app.parts;
    this.health = new HealthCheck(app.parts);
    this.streams = streams;
    this.ticker = ticker;
    this.jobs = new Jobs(app.parts.workflows ?? withoutWorkflows(app.parts.store, app.parts.namespace));
    this.#app = app;
    this.#redact = redact;
    this.#stackTraces = stackTraces;
    this.#bindings = app.parts.workflows === null ? {} : createBindings(app.parts.workflows);
  }

  get workflows(): readonly RegisteredWorkflow[] {
    return this.parts.workflows?.workflows.all ?? [];
  }

  /** The instances of all workflows; null if there are no workflows. */
  get instances(): AllInstances | null {
    return this.parts.workflows === null ? null : createAllInstances(this.parts.workflows);
  }

  get dispatcherIds(): readonly string[] {
    return this.#app.subjects?.dispatcherIds ?? [];
  }

  /** Finds a workflow by its stored name; keys are for code. */
  workflow(name: string): {
    runtime: WorkflowRuntime;
    registered: RegisteredWorkflow;
    binding: BindingOf<AnyWorkflow>;
  } {
    const runtime = this.parts.workflows;
    const registered = runtime?.workflows.find(name);
    if (runtime === null || registered === undefined) {
      throw workflowNotFound(name);
    }
    return { runtime, registered, binding: this.#bindings[registered.key] as BindingOf<AnyWorkflow> };
  }

  /** Finds the workflow of stored instances by its name, whether or not this process has its code. */
  storedWorkflow(name: string): { readonly runtime: WorkflowRuntime; readonly stored: RegisteredWorkflow } {
    const runtime = this.parts.workflows;
    if (runtime === null || !isWorkflowName(name)) throw workflowNotFound(name);
    return { runtime, stored: runtime.workflows.stored(name) };
  }

  /** Throws if a name is neither in the code of this process nor in an instance: then it is most likely a wrong one. */
  async checkStored({ runtime, stored }: ReturnType<HttpHost["storedWorkflow"]>): Promise<void> {
    if (isRegistered(stored)) return;
    const { instances } = await listInstances(runtime, stored.name, { limit: 1 });
    if (instances.length === 0) throw workflowNotFound(stored.name);
  }

  /** Doesn't check that the instance exists: the operations on it do. */
  instance({ workflowName, instanceId }: InstanceParams, scope: SeenInstances, once: HandledOnce = {}): InstanceHandle {
    const { runtime, stored } = this.storedWorkflow(workflowName);
    const id = checkInstanceId(instanceId, runtime.workflows.settings);
    return new InstanceHandle(runtime, stored, id, { ...once, sees: (labels) => scope.sees(labels) });
  }

  /** The present runs of instances, in their order; null for one that doesn't exist, or that the caller doesn't see. */
  async findRuns(instances: readonly InstanceParams[], scope: SeenInstances): Promise<(InstanceRun | null)[]> {
    const records = await this.#find(instances);
    return records.map((record) =>
      record !== null && scope.sees(record.labels) ? { ref: record.ref, run: record.run } : null,
    );
  }

  async #find(instances: readonly InstanceParams[]): Promise<(InstanceRecord | null)[]> {
    const { workflows } = this.parts;
    if (workflows === null || instances.length === 0) return instances.map(() => null);
    const { namespace, store } = workflows;
    const names = instances.map(({ workflowName: name, instanceId: id }) => ({ namespace, name, id }));
    return store.instances.statements.find(names);
  }

  /** Throws `instance.not_found` for an instance that doesn't exist, or that the caller doesn't see. */
  async requireRun(instance: InstanceParams, scope: SeenInstances): Promise<InstanceRun> {
    const [run] = await this.findRuns([instance], scope);
    if (run === null || run === undefined) throw instanceNotFound(instance.workflowName, instance.instanceId);
    return run;
  }

  /** For an id that may be new: null if no instance has it. Throws if one has it that the caller doesn't see. */
  async findOwn(instance: InstanceParams, scope: SeenInstances): Promise<InstanceRun | null> {
    const [record = null] = await this.#find([instance]);
    if (record === null) return null;
    if (!scope.sees(record.labels)) throw alreadyExists(instance.workflowName, instance.instanceId);
    return { ref: record.ref, run: record.run };
  }

  async schedules(): Promise<ScheduleSummary[]> {
    return this.parts.workflows === null ? [] : new WorkflowSchedules(this.parts.workflows).list();
  }

  schedulesOf(workflowName: string): WorkflowSchedules {
    return new WorkflowSchedules(this.storedWorkflow(workflowName).runtime);
  }

  subjects(dispatcherId: string): SubjectLedger {
    const { store, namespace } = this.parts;
    return new SubjectLedger({
      profile: namespace,
      dispatcherId: checkDispatcherId(dispatcherId),
      store: async () => store,
      owner: "http", // it claims nothing
      settings: parseSettings({}),
    });
  }

  /** The texts of hidden errors could be guessed by searching for them. */
  checkErrorFilter({ error }: { readonly error?: string | undefined }, { payloads }: Pick<Scope, "payloads">): void {
    if (error === undefined || (payloads && this.#redact !== true)) return;
    throw invalidRequest("Errors are hidden here, so they can't be searched: leave out the filter error.");
  }

  /** How values of a resource are shown. */
  show(resource: HttpResource, { payloads }: Pick<Scope, "payloads">): ShowValue {
    return createShow(payloads ? this.#redact : true, resource, this.#stackTraces);
  }
}

function workflowNotFound(name: string): NotFoundError {
  return new NotFoundError(
    "workflow.not_found",
    `There is no workflow "${name.slice(0, 100)}" in the code of this process, and no instance of it that the call could be about.`,
  );
}
