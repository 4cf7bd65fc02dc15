import { invalidToken } from "../errors.ts";
import { checkHookId } from "../hooks/names.ts";
import type { Explanation } from "../monitoring/explanation.ts";
import type { Health } from "../monitoring/health.ts";
import type { WorkerSummary } from "../monitoring/list-workers.ts";
import type { AnyWorkflow } from "../workflows/define/workflow-types.ts";
import type { BindingOf } from "../workflows/instances/typed-bindings.ts";
import type { AllInstanceCounts, InstanceListOptions, InstancePage } from "../workflows/instances/workflow-binding.ts";
import { type ClientOptions, parseClientOptions } from "./client-options.ts";
import { RemoteBinding } from "./remote-binding.ts";
import { Transport } from "./transport.ts";
import {
  fromWireExplanation,
  fromWireHealth,
  fromWirePage,
  fromWireWorker,
  toListQuery,
  toWire,
  type WireExplanation,
  type WirePage,
  type WireWorker,
} from "./wire.ts";
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
  readonly instances: {
    list(options?: InstanceListOptions): Promise<InstancePage>;
    counts(): Promise<AllInstanceCounts>;
  };
  /**
   * Ends the wait of a token with a payload, see `step.createToken`. The token is the permission: the client needs no credentials.
   * Throws `token.used` if the token was used before, `token.revoked` if its wait is over, and `token.invalid` if it isn't one.
   */
  completeToken(token: string, payload?: unknown): Promise<void>;
  /** The workers of all processes that run hooks or workflows of the application. */
  workers(): Promise<WorkerSummary[]>;
  /** Says why a hook isn't further than it is. Throws `hook.not_found`. */
  explainHook(id: string): Promise<Explanation>;
  /** Whether the process that answers can do its work. */
  health(): Promise<Health>;
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
  const transport = new Transport(settings);
  const names = new WorkflowNames(settings.names, transport);
  const bindings = new Map<string, RemoteBinding>();
  const find = (key: string) => {
    const binding = bindings.get(key) ?? new RemoteBinding(transport, () => names.find(key));
    bindings.set(key, binding);
    return binding;
  };
  // Only the server knows which workflows there are. `then` is none, so that an awaited client isn't taken for a promise.
  const workflows = new Proxy(
    {},
    { get: (_target, key) => (typeof key === "string" && key !== "then" ? find(key) : undefined) },
  );
  return {
    workflows: workflows as App["workflows"],
    instances: new RemoteInstances(transport),
    completeToken: async (token, payload) => {
      if (typeof token !== "string" || token === "") throw invalidToken();
      const body = payload === undefined ? {} : { payload: toWire(payload) };
      await transport.send({ method: "POST", path: ["tokens", token], body });
    },
    explainHook: async (id) => {
      const { body } = await transport.send({ method: "GET", path: ["hooks", checkHookId(id), "explain"] });
      return fromWireExplanation(body as WireExplanation);
    },
    health: async () => {
      const { body } = await transport.send({ method: "GET", path: ["health", "ready"], accepts: 503 });
      return fromWireHealth(body);
    },
    workers: async () => {
      const { body } = await transport.send({ method: "GET", path: ["workers"] });
      return (body as { workers: WireWorker[] }).workers.map(fromWireWorker);
    },
  };
}

/** The instances of all workflows on a server. */
class RemoteInstances {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  async list(options: InstanceListOptions = {}): Promise<InstancePage> {
    const query = toListQuery(options);
    const { body } = await this.#transport.send({ method: "GET", path: ["instances"], query });
    return fromWirePage(body as WirePage);
  }

  async counts(): Promise<AllInstanceCounts> {
    const { body } = await this.#transport.send({ method: "GET", path: ["stats"] });
    return (body as { instances: AllInstanceCounts }).instances;
  }
}
