import { EmailMessage } from "cloudflare:email";
import { env as shared } from "cloudflare:workers";
import { greet } from "./lib";
import { OrderWorkflow } from "./order";

export { OrderWorkflow };

interface Env {
  ORDERS: Workflow<{ name: string }>;
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const name = new URL(request.url).searchParams.get("name") ?? "nobody";
    const instance = await env.ORDERS.create({ params: { name } });
    const mail = new EmailMessage("shop@example.org", "ada@example.org", greet(name));
    return Response.json({ id: instance.id, to: mail.to, shared: "ORDERS" in (shared as object) });
  },
};
