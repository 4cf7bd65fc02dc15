// biome-ignore lint/style/useImportType: as people write it, and as Node keeps it, which only strips what says that it is a type
import {
  env as moduleEnv,
  WorkflowEntrypoint,
  WorkflowEvent,
  WorkflowStep,
  WorkflowStepConfig,
} from "cloudflare:workers";
import { NonRetryableError } from "cloudflare:workflows";

/** As people write them: with types that are imported like values, a constructor, private parts, helpers, children. */
type Env = {
  ORDERS: Workflow<Params>;
  PRICES: Workflow<{ from: number }>;
  API_KEY: string;
};

type Params = { email: string; items: string[] };

const patiently: WorkflowStepConfig = { retries: { limit: 100, delay: "0.1 seconds", backoff: "constant" } };

export class OrderWorkflow extends WorkflowEntrypoint<Env, Params> {
  #steps = 0;
  readonly #labels = new Map<string, string>();

  constructor(ctx: ExecutionContext, env: Env) {
    super(ctx, env);
    this.#labels.set("key", env.API_KEY);
  }

  async run(event: WorkflowEvent<Params>, step: WorkflowStep) {
    const begun = await step.do("my first step", async () => {
      this.#steps++;
      return { event, files: event.payload.items.map((item) => `${item}.pdf`) };
    });
    this.ctx.waitUntil(Promise.reject(new Error("nobody waits for it")));

    const answer = await step.do("some other step", async () => {
      const response = Response.json({ files: begun.files.length });
      return await response.json<{ files: number }>();
    });
    await step.sleep("wait on something", "1 second");
    await step.do("a call that fails at first", patiently, async (ctx) => {
      if (ctx.attempt < 2) throw new Error("The storage is busy.");
    });

    const refused = await this.#refuse(step, event.payload.email);
    const child = await step.do("start a child", async () => {
      const instance = await this.env.PRICES.create({ params: { from: 20 } });
      return instance.id;
    });
    const price = await step.do("await the child", patiently, async () => {
      const { status, output } = await (await this.env.PRICES.get(child)).status();
      if (status !== "complete") throw new Error("It isn't done yet.");
      return output as number;
    });
    const sizes = await Promise.all(begun.files.map((file) => step.do(`size of ${file}`, async () => file.length)));
    const approval = await step.waitForEvent<{ by: string }>("wait for approval", {
      type: "approval",
      timeout: "1 minute",
    });
    return {
      answer,
      refused,
      price,
      sizes,
      by: approval.payload.by,
      label: this.#labels.get("key"),
      counted: this.#steps > 0,
      email: begun.event.payload.email,
      dated: begun.event.timestamp instanceof Date,
      module: (moduleEnv as Env).API_KEY,
    };
  }

  async #refuse(step: WorkflowStep, email: string): Promise<boolean> {
    try {
      await step.do("validate", async () => {
        throw new NonRetryableError(`${email} is no address`);
      });
      return false;
    } catch (error) {
      return error instanceof Error && error.message.includes("is no address");
    }
  }
}

export class PriceWorkflow extends WorkflowEntrypoint<Env, { from: number }> {
  async run(event: Readonly<WorkflowEvent<{ from: number }>>, step: WorkflowStep) {
    let total = 0;
    for (let turn = 0; turn < 3; turn++) total += await step.do("add", async () => event.payload.from + turn);
    return total;
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const id = searchParams.get("instanceId");
    if (id === null) {
      const params = { email: "ada", items: ["one", "three"] };
      const instance = await env.ORDERS.create({ id: crypto.randomUUID(), params });
      return Response.json({ id: instance.id });
    }
    const instance = await env.ORDERS.get(id);
    if (pathname === "/approve") await instance.sendEvent({ type: "approval", payload: { by: "Eve" } });
    return Response.json({ id, details: await instance.status() });
  },
};
