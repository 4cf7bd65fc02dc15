/**
 * A process with a worker of ours, for the works that need several: `node process.ts <database>`. Over IPC it receives the
 * number of workflows to start, and reports how many have returned in it, its own or those of others.
 */
import { defineWorkflow, perdure } from "../../src/index.ts";
import { makeOrder, type Order, runOrder, STEPS, WORKFLOW_NAME } from "./order.ts";
import { TUNED } from "./perdure.ts";

const TELL_MILLISECONDS = 5;

let returned = 0;
const order = defineWorkflow({ name: WORKFLOW_NAME }, async (event: { payload: Order }, step) => {
  const result = await runOrder(event.payload, (name, body) => step.do(name, body as () => Promise<null>));
  returned++;
  return result;
});
const app = await perdure({ database: process.argv[2] ?? "", worker: TUNED, workflows: { order } });

process.on("disconnect", () => process.exit()); // the benchmark was interrupted, or has given this process up

let told = 0;
const telling = setInterval(() => {
  if (returned > told) process.send?.({ returned: returned - told });
  told = returned;
}, TELL_MILLISECONDS);

process.on("message", async ({ start }: { readonly start: number }) => {
  if (start > 0) {
    await Promise.all(
      Array.from({ length: start }, (_, index) => app.workflows.order.create({ params: makeOrder(STEPS, index) })),
    );
    return;
  }
  clearInterval(telling);
  await app.stop();
  process.exit();
});
process.send?.({ returned: 0 });
