import { createObjectRouter, type ObjectNamespace, PerdureObject } from "../../../src/durable-object/index.ts";
import { defineWorkflow } from "../../../src/workflows/define/define-workflow.ts";
import { type OrderStep, runOrder, untilComplete } from "./order.ts";

const orders = defineWorkflow({ name: "orders" }, (_event, step) => runOrder(step as unknown as OrderStep));
const workflows = { orders };

/** On ours, in Durable Objects. */
export class Orders extends PerdureObject.of({ workflows }) {}

export default {
  async fetch(request: Request, env: { readonly OBJECTS: ObjectNamespace }): Promise<Response> {
    const { count, shards } = (await request.json()) as { count: number; shards: number };
    const router = createObjectRouter({ objects: env.OBJECTS, workflows, shards, prefix: `of-${shards}` });
    const instances = await Promise.all(Array.from({ length: count }, () => router.workflows.orders.create()));
    await untilComplete(instances);
    return new Response("done");
  },
};
