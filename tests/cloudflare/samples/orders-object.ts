import { createObjectRouter, PerdureObject } from "../../../src/durable-object/index.ts";
import worker, { OrderWorkflow, PriceWorkflow } from "./orders.ts";

interface Env {
  readonly SHOP: DurableObjectNamespace;
  readonly API_KEY: string;
}

const workflows = {
  ORDERS: { name: "orders", workflow: OrderWorkflow },
  PRICES: { name: "prices", workflow: PriceWorkflow },
};

/** The same classes, whose base is Cloudflare's own, in objects of ours. */
export class Shop extends PerdureObject.of((env: Env) => ({
  workflows,
  env: (bindings: object) => ({ ...env, ...bindings }),
})) {}

export default {
  fetch(request: Request, env: Env): Promise<Response> {
    const router = createObjectRouter({ objects: env.SHOP, workflows, shards: 2 });
    return worker.fetch(request, { ...env, ...router.workflows } as never);
  },
};
