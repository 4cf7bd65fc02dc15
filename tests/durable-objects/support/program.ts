/** A Worker as an application would have it: it is bundled, and runs in workerd without any flag of compatibility. */
import { defineHook, defineWorkflow, type WorkflowEvent } from "perdure";
import { createObjectRouter, type ObjectNamespace, PerdureObject } from "perdure/durable-object";

interface Env {
  readonly SHOP: ObjectNamespace;
}

const order = defineWorkflow(
  { name: "order" },
  async ({ payload, instanceId: id }: WorkflowEvent<{ nap: number }>, step) => {
    const first = await step.do("first", () => crypto.randomUUID());
    await step.sleep("nap", payload.nap);
    const second = await step.do("second", async () => {
      await fetch(`http://world/second/${id}`);
      return first;
    });
    return { first, second };
  },
);

const hang = defineWorkflow({ name: "hang" }, async (_event: WorkflowEvent<unknown>, step) =>
  step.do("hang", ({ attempt }) => (attempt === 1 ? new Promise<number>(() => {}) : attempt)),
);

const workflows = { order, hang };

const greet = defineHook({}, async () => {});

export class Shop extends PerdureObject.of({ workflows, hooks: { greet } }) {}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const router = createObjectRouter({ objects: env.SHOP, workflows, shards: 2 }).workflows;
    const { pathname } = new URL(request.url);
    const [, operation, key, id = ""] = pathname.split("/");
    const binding = key === "hang" ? router.hang : router.order;
    if (operation === "create") {
      const nap = Number(new URL(request.url).searchParams.get("nap"));
      await (binding as typeof router.order).create({ id, params: { nap } });
      return Response.json({ id });
    }
    const instance = await binding.get(id);
    const { entries } = await instance.history();
    return Response.json({ ...(await instance.status()), entries: entries.length });
  },
};
