import { defineHook, defineWorkflow, perdure } from "../../src/index.ts";
import type { Engine } from "../harness/contender.ts";
import type { IdleContender, IdleSession } from "./contender.ts";

/** None of this is due during the measurement. */
const ONCE_A_YEAR = "0 0 1 1 *";

/** Ours with everything that a worker looks after: hooks, workflows with limits and a schedule, and subjects. */
export function perdureWithEverything(engine: Engine): IdleContender {
  return {
    name: "perdure",
    role: "ours",
    engine,
    settings: "defaults; hooks, workflows with limits and a schedule, a sleeping instance, subjects",
    open,
  };
}

async function open(database: string): Promise<IdleSession> {
  const app = await perdure({
    database,
    hooks: { sendMail: defineHook({}, async (_payload: null) => {}) },
    workflows: {
      order: defineWorkflow({ name: "order" }, async (_event, step) => step.do("pay", async () => 1)),
      limited: defineWorkflow({ name: "limited", concurrency: { limit: 1 } }, async (_event, step) =>
        step.do("pay", async () => 1),
      ),
      reminder: defineWorkflow({ name: "reminder" }, async (_event, step) => step.sleep("later", "300 days")),
      report: defineWorkflow({ name: "report", schedules: [{ cron: ONCE_A_YEAR }] }, async () => 1),
    },
  });
  app.subjects.define("inventory", { every: "1 day", discover: async () => [], handle: async () => {} });
  await app.workflows.reminder.create();
  return {
    async work() {
      await app.hooks.sendMail.trigger(null);
      for (const workflow of [app.workflows.order, app.workflows.limited]) {
        const instance = await workflow.create();
        await instance.result();
      }
    },
    [Symbol.asyncDispose]: () => app.stop(),
  };
}
