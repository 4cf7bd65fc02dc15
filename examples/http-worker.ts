/** An application in a Durable Object, behind a Worker. One object for each tenant: a workflow of one never sees another's. */
import { DurableObject } from "cloudflare:workers";
import {
  createDurableHooksProcessor,
  defineWorkflow,
  instantiate,
  migrate,
  type WorkflowEvent,
  workflowsFragment,
} from "perdure";
import { createDurableHooksDispatcherDurableObject, type DurableHooksHandler } from "perdure/dispatchers/cloudflare-do";
import { durableObject, type ObjectState } from "perdure/durable-object";
import { createHttpHandler, type HttpHandler } from "perdure/http";

export interface Env {
  /** Tokens are signed with it: see `tenantOf`. */
  readonly SECRET: string;
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
    // The Worker alone reaches this object, and only with a token of this tenant.
    this.#handler = createHttpHandler(fragment, { basePath: "/perdure", authorize: () => true });
  }

  fetch(request: Request): Promise<Response> {
    return this.#handler(request);
  }

  alarm(): Promise<void> {
    return this.#dispatcher.alarm();
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const tenant = await tenantOf(request, env.SECRET);
    if (tenant === null)
      return Response.json({ code: "http.unauthenticated", message: "Who are you?" }, { status: 401 });
    return env.TENANTS.getByName(tenant).fetch(request);
  },
};

/**
 * The tenant that the caller's token was made for; null where it wasn't made by us. A token is `<tenant>.<HMAC-SHA-256 of the
 * tenant, in hexadecimal digits>`. Never take the tenant from a header or a path: the holder of one token would choose another
 * tenant.
 */
async function tenantOf(request: Request, secret: string): Promise<string | null> {
  const [, tenant, digits] = TOKEN.exec(request.headers.get("authorization") ?? "") ?? [];
  if (tenant === undefined || digits === undefined) return null;
  const encoder = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["verify"]);
  const signature = Uint8Array.from(digits.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
  return (await crypto.subtle.verify("HMAC", key, signature, encoder.encode(tenant))) ? tenant : null;
}

const TOKEN = /^Bearer ([\w-]{1,64})\.([0-9a-f]{64})$/;
