import type { ActivityOptions, ActivityReport } from "../monitoring/activity-report.ts";
import type { Health } from "../monitoring/health.ts";
import type { LineListOptions, LinePage } from "../monitoring/list-lines.ts";
import type { UnclaimedWork } from "../monitoring/list-unclaimed.ts";
import type { WorkerSummary } from "../monitoring/list-workers.ts";
import type { Metrics } from "../monitoring/metrics.ts";
import type { AnyWorkflow } from "../workflows/define/workflow-types.ts";
import type { WorkflowInstance } from "../workflows/instances/instance.ts";
import type { BindingOf } from "../workflows/instances/typed-bindings.ts";
import { type CallOptions, parseCallOptions } from "./call-options.ts";
import { type ClientOptions, parseClientOptions } from "./client-options.ts";
import { Connection } from "./connection.ts";
import { RemoteApplication } from "./remote-application.ts";
import { RemoteBinding } from "./remote-binding.ts";
import { type ClientHooks, RemoteHooks } from "./remote-hooks.ts";
import { offerInstance } from "./remote-instance.ts";
import { type ClientInstances, RemoteInstances } from "./remote-instances.ts";
import { type ClientJobs, RemoteJobs } from "./remote-jobs.ts";
import { type ClientSchedules, RemoteSchedules } from "./remote-schedules.ts";
import { type ClientSubjects, RemoteSubjectDispatcher } from "./remote-subjects.ts";
import { Transport } from "./transport.ts";
import { WorkflowNames } from "./workflow-names.ts";

/** The part of an application's type that a client uses. */
export interface ServedApplication {
  readonly workflows: object;
}

/** An application on a server, with the interface that it has in process. */
export interface Client<App extends ServedApplication> {
  /** Each workflow by its key. */
  readonly workflows: App["workflows"];
  /** The instances of all workflows. */
  readonly instances: ClientInstances;
  /** Lists, redrives, discards and cancels hooks. */
  readonly durableHooks: ClientHooks;
  /** Acts on all instances or hooks that match a filter. */
  readonly jobs: ClientJobs;
  /** Lists, pauses and resumes the schedules of workflows, and runs them now. */
  readonly schedules: ClientSchedules;
  /** Lists subjects, releases them and makes them due. */
  readonly subjects: ClientSubjects;
  /**
   * Ends the wait of a token with a payload, see `step.createToken`. The token is the permission: the client needs no
   * credentials. Throws `token.used` if the token was used before, `token.revoked` if its wait is over, and `token.invalid` if
   * it isn't one.
   */
  completeToken(token: string, payload?: unknown): Promise<void>;
  /** The workers of all processes that run hooks or workflows of the application. */
  workers(): Promise<WorkerSummary[]>;
  /** The names under which hooks or instances are due and that no live worker runs. */
  unclaimed(): Promise<UnclaimedWork[]>;
  /** One page of the lines of instances that share a limit: who is inside, and who waits. */
  lines(options?: LineListOptions): Promise<LinePage>;
  /** Whether the process that answers can do its work. */
  health(): Promise<Health>;
  /** What the process that answers has done, and what the database says about the work of all processes. */
  metrics(): Promise<Metrics>;
  /** What the process that answers has started and finished in each of the last minutes. */
  activity(options?: ActivityOptions): Promise<ActivityReport>;
  /**
   * The same client with a signal or a timeout for each call, also for the calls of instances that it returns.
   *
   * @example
   * await client.with({ signal, timeout: "5 seconds" }).workflows.checkout.create({ params });
   */
  with(options: CallOptions): Client<App>;
  /** The same instance with a signal or a timeout for each call. */
  with<Instance extends Pick<WorkflowInstance, "id" | "workflowName">>(
    options: CallOptions,
    instance: Instance,
  ): Instance;
}

/**
 * A client of an application that `createHttpHandler` serves. It runs in browsers, in Node and in Workers.
 *
 * @example
 * import type { app } from "./server.ts";
 * const client = createClient<typeof app>({ baseUrl: "https://example.org/perdure", token });
 * const order = await client.workflows.checkout.create({ params: { total: 12 } });
 * console.log(await order.result());
 */
export function createClient<
  App extends ServedApplication = { readonly workflows: Record<string, BindingOf<AnyWorkflow>> },
>(options: ClientOptions): Client<App> {
  const settings = parseClientOptions(options);
  const connection = new Connection({ transport: new Transport(settings), limits: null, call: null });
  return connect(connection, new WorkflowNames(settings.names, connection));
}

function connect<App extends ServedApplication>(connection: Connection, names: WorkflowNames): Client<App> {
  const bindings = new Map<string, RemoteBinding>();
  const find = (key: string) => {
    const make = (one: Connection) => new RemoteBinding(one, () => names.find(key));
    const binding = bindings.get(key) ?? connection.offer(make);
    bindings.set(key, binding);
    return binding;
  };
  // Only the server knows which workflows there are. `then` is none, so that an awaited client isn't taken for a promise.
  const workflows = new Proxy(
    {},
    { get: (_target, key) => (typeof key === "string" && key !== "then" ? find(key) : undefined) },
  );
  const application = connection.offer((one) => new RemoteApplication(one));
  return {
    workflows: workflows as App["workflows"],
    instances: connection.offer((one) => new RemoteInstances(one, names)),
    durableHooks: connection.offer((one) => new RemoteHooks(one)),
    jobs: connection.offer((one) => new RemoteJobs(one, names)),
    schedules: connection.offer((one) => new RemoteSchedules(one, names)),
    subjects: {
      dispatcherIds: () => application.dispatcherIds(),
      dispatcher: (id) => connection.offer((one) => new RemoteSubjectDispatcher(one, id)),
    },
    completeToken: (token, payload) => application.completeToken(token, payload),
    workers: () => application.workers(),
    unclaimed: () => application.unclaimed(),
    lines: (options) => application.lines(options),
    health: () => application.health(),
    metrics: () => application.metrics(),
    activity: (options) => application.activity(options),
    with: createWith<App>(connection, names),
  };
}

function createWith<App extends ServedApplication>(connection: Connection, names: WorkflowNames): Client<App>["with"] {
  return ((options: CallOptions, instance?: WorkflowInstance) => {
    const limited = connection.with(parseCallOptions(options));
    return instance === undefined
      ? connect(limited, names)
      : offerInstance(limited, instance.workflowName, instance.id);
  }) as Client<App>["with"];
}
