import { createWorkerFetch } from "../../src/cloudflare/index.ts";
import { perdure } from "../../src/index.ts";

/**
 * node --import perdure/register run-program.ts PROGRAM DATABASE: has a Worker create an instance, and tells what came of it.
 */
const [program, database] = process.argv.slice(2) as [string, string];
const { default: worker, OrderWorkflow } = await import(program);

await using app = await perdure({ database, workflows: { ORDERS: OrderWorkflow } });
const fetch = createWorkerFetch(worker, app);
const { id, ...said } = (await (await fetch(new Request("http://localhost/?name=Ada"))).json()) as { id: string };
const result = await (await app.workflows.ORDERS.get(id)).result({ timeout: "1 minute" });
console.log(JSON.stringify({ ...said, result }));
