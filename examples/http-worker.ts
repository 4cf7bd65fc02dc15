/** An application in a Durable Object, behind a Worker. One object for each tenant: a workflow of one never sees another's. */
import { DurableObject } from "cloudflare:workers";
import {
  createDurableHooksDispatcherDurableObject,
  type DurableHooksHandler,
} from "../src/dispatchers/cloudflare-do.ts";
import { durableObject, type ObjectState } from "../src/durable-object/index.ts";
import { bearerToken, createHttpHandler, type HttpHandler } from "../src/http/index.ts";
import {
  createDurableHooksProcessor,
  defineWorkflow,
  instantiate,
  migrate,
  type WorkflowEvent,
  workflowsFragment,
} from "../src/index.ts";

export interface Env {
  readonly TOKEN: string;
  readonly TENANTS: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
}

const approval = defineWorkflow({ name: "approval" }, async (_event: WorkflowEvent<unknown>, step) => {
  await step.do("ask", async () => "asked");
  const { payload } = await step.waitForEvent<unknown>("answer", { type: "approved" });
  return payload;
});

export class Tenant extends DurableObject<Env> {
  readonly #handler: HttpHandler;
  readonly #dispatcher: DurableHooksHandler;

  constructor(state: ObjectState, env: Env) {
    super(state, env);
    const fragment = instantiate(workflowsFragment)
      .withConfig({ workflows: { approval } })
      .withOptions({ databaseAdapter: durableObject(state) })
      .build();
    void state.blockConcurrencyWhile(() => migrate(fragment));
    const processor = createDurableHooksProcessor(fragment);
    this.#dispatcher = createDurableHooksDispatcherDurableObject({ createProcessor: () => processor })(state, env);
    this.#handler = createHttpHandler(fragment, { basePath: "/perdure", authorize: bearerToken(env.TOKEN) });
  }

  fetch(request: Request): Promise<Response> {
    return this.#handler(request);
  }

  alarm(): Promise<void> {
    return this.#dispatcher.alarm();
  }
}

export default {
  fetch(request: Request, env: Env): Promise<Response> {
    const tenant = request.headers.get("x-tenant") ?? "default";
    return env.TENANTS.getByName(tenant).fetch(request);
  },
};
