import { setTimeout as sleep } from "node:timers/promises";
import { defineWorkflow, perdure } from "../../src/index.ts";
import { makeOrder, type Order, runOrder, STEPS, WORKFLOW_NAME } from "../workflows/order.ts";
import { Returns } from "../workflows/returns.ts";

const PAUSE_MILLISECONDS = 5;
const UNTIL_LATER = "300 days";
/** One fails on purpose. */
const SILENT = { info() {}, warn() {}, error() {} };

/** An application with workflows that finish, fail and sleep. */
export type GrowthApplication = Awaited<ReturnType<typeof startApplication>>;

export async function startApplication(database: string, concurrency: number) {
  const returns = new Returns();
  const order = defineWorkflow({ name: WORKFLOW_NAME }, (event: { payload: Order }, step) =>
    returns.note(runOrder(event.payload, (name, body) => step.do(name, body as () => Promise<null>))),
  );
  const failing = defineWorkflow({ name: "failing" }, async (_event, step) => {
    await step.do("first", async () => 1);
    throw new TypeError("out of stock");
  });
  const reminder = defineWorkflow({ name: "reminder" }, async (_event, step) => step.sleep("later", UNTIL_LATER));
  const app = await perdure({
    database,
    worker: { concurrency },
    workflows: { order, failing, reminder },
    logger: SILENT,
  });
  let started = 0;

  return {
    app,
    /** Creates one instance of each workflow for a filler to copy, and returns their ids. */
    async createOriginals(): Promise<Readonly<Record<"order" | "failing" | "reminder", string>>> {
      started++;
      const finished = await app.workflows.order.create({ params: makeOrder(STEPS) });
      await finished.result();
      const failed = await app.workflows.failing.create();
      await failed.result().catch(() => {});
      const sleeping = await app.workflows.reminder.create();
      // Its own status is that already while its owner still writes it down.
      while ((await app.workflows.reminder.list({ status: "waiting" })).instances.length === 0) {
        await sleep(PAUSE_MILLISECONDS);
      }
      return { order: finished.id, failing: failed.id, reminder: sleeping.id };
    },
    /** Runs this many three-step workflows, with never more than `width` of them unreturned. */
    async runInFlight(count: number, width: number): Promise<void> {
      started += count;
      await returns.inFlight(count, width, (index) => app.workflows.order.create({ params: makeOrder(STEPS, index) }));
      await returns.untilFinished(started, async () => started);
    },
    [Symbol.asyncDispose]: () => app.stop(),
  };
}
