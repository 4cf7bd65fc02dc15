import type { AnyWorkflow } from "../workflows/define/workflow-types.ts";
import type {
  AllInstanceCounts,
  BindingOf,
  InstanceListOptions,
  InstancePage,
} from "../workflows/instances/workflow-binding.ts";
import { type ClientOptions, parseClientOptions } from "./client-options.ts";
import { RemoteBinding } from "./remote-binding.ts";
import { RemoteInstances } from "./remote-instances.ts";
import { Transport } from "./transport.ts";
import { WorkflowNames } from "./workflow-names.ts";

/** What a client needs to know of an application: its types. */
export interface ServedApplication {
  readonly workflows: object;
}

/** An application on a server, with the shape that it has in process. */
export interface Client<App extends ServedApplication> {
  /** Each workflow by its key. */
  readonly workflows: App["workflows"];
  /** The instances of all workflows. */
  readonly instances: {
    list(options?: InstanceListOptions): Promise<InstancePage>;
    counts(): Promise<AllInstanceCounts>;
  };
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
  // Which there are only the server knows. What is awaited by mistake isn't a promise.
  const workflows = new Proxy(
    {},
    { get: (_target, key) => (typeof key === "string" && key !== "then" ? find(key) : undefined) },
  );
  return { workflows: workflows as App["workflows"], instances: new RemoteInstances(transport) };
}
