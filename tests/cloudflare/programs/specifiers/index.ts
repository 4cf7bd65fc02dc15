import { WorkerEntrypoint } from "cloudflare:workers";
import { OrderWorkflow } from "./order.js";
import { Env } from "./types.js";

export { OrderWorkflow };

export default class extends WorkerEntrypoint<Env> {
  async fetch(request: Request): Promise<Response> {
    const name = new URL(request.url).searchParams.get("name") ?? "nobody";
    const instance = await this.env.ORDERS.create({ params: { name } });
    return Response.json({ id: instance.id });
  }
}
