import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setEnv } from "../../src/cloudflare/index.ts";
import { perdure } from "../../src/index.ts";

/**
 * node --import perdure/register run-orders.ts: serves the sample as its Worker would, and tells its port. Ends with its input.
 */
const { default: worker, OrderWorkflow, PriceWorkflow } = await import("./samples/orders.ts" as string);
setEnv({ API_KEY: "key" });

const app = await perdure({
  database: ":memory:",
  workflows: {
    ORDERS: { name: "orders", workflow: OrderWorkflow },
    PRICES: { name: "prices", workflow: PriceWorkflow },
  },
  env: (workflows: object) => ({ ...workflows, API_KEY: "key" }),
});
const server = createServer(async ({ url }, response) => {
  const answer: Response = await worker.fetch(new Request(`http://shop${url}`), { ...app.workflows, API_KEY: "key" });
  response.end(await answer.text());
});
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
process.stdin.resume().on("end", async () => {
  server.close();
  await app.stop();
});
