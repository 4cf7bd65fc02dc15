import { DatabaseSync } from "node:sqlite";
import type { Engine } from "../harness/contender.ts";
import { openPostgresCount } from "../harness/postgres-count.ts";
import type { Session, WorkflowContender } from "./contender.ts";
import { makeOrder, type Order, runOrder, STEPS, WORKFLOW_NAME } from "./order.ts";
import { Returns } from "./returns.ts";
import { WORK_NAMES } from "./work-names.ts";

/** Room for a few batches of commits at a time: more only keeps more in memory. */
export const TUNED = { concurrency: 2000 };

export const COUNT_FINISHED: Readonly<Record<Engine, string>> = {
  sqlite: "select count(*) as count from perdure_instance where outcome = 'complete'",
  postgres: "select count(*) as count from perdure.instance where outcome = 'complete'",
};

/** Ours, as a user gets it: no setting is changed. */
export function perdureDefaults(engine: Engine): WorkflowContender {
  return {
    name: "perdure (defaults)",
    role: "ours",
    engine,
    settings: "worker concurrency 100",
    works: [WORK_NAMES.one, WORK_NAMES.manyByDefault, WORK_NAMES.steps],
    open: (database) => open(engine, database, {}),
  };
}

export function perdureTuned(engine: Engine): WorkflowContender {
  return {
    name: "perdure",
    role: "ours",
    engine,
    settings: `worker ${JSON.stringify(TUNED)}`,
    works: [WORK_NAMES.many, WORK_NAMES.costs, WORK_NAMES.costsInPostgres, WORK_NAMES.inFlight, WORK_NAMES.processes],
    open: (database) => open(engine, database, TUNED),
  };
}

async function open(engine: Engine, database: string, worker: { concurrency?: number }): Promise<Session> {
  // Imported here, so that a package that doesn't even load is reported like any other contender that fails.
  const { defineWorkflow, perdure } = await import("../../src/index.ts");
  const returns = new Returns();
  const order = defineWorkflow({ name: WORKFLOW_NAME }, (event: { payload: Order }, step) =>
    returns.note(runOrder(event.payload, (name, body) => step.do(name, body as () => Promise<null>))),
  );
  const app = await perdure({ database, worker, workflows: { order } });
  const finished =
    engine === "postgres"
      ? await openPostgresCount(database, COUNT_FINISHED.postgres)
      : openSqliteCount(database, COUNT_FINISHED.sqlite);
  let started = 0;

  return {
    async runOne(steps) {
      const instance = await app.workflows.order.create({ params: makeOrder(steps) });
      await instance.result();
      started++;
    },
    async runMany(count) {
      const calls = Array.from({ length: count }, (_, index) =>
        app.workflows.order.create({ params: makeOrder(STEPS, index) }),
      );
      await Promise.all(calls);
      started += count;
      await returns.untilFinished(started, () => finished.count());
    },
    async runInFlight(count, width) {
      await returns.inFlight(count, width, (index) => app.workflows.order.create({ params: makeOrder(STEPS, index) }));
      started += count;
      await returns.untilFinished(started, () => finished.count());
    },
    async [Symbol.asyncDispose]() {
      await finished[Symbol.asyncDispose]();
      await app.stop();
    },
  };
}

function openSqliteCount(path: string, sql: string) {
  const database = new DatabaseSync(path, { timeout: 5000 });
  const statement = database.prepare(sql);
  return {
    count: async () => Number(statement.get()?.["count"]),
    [Symbol.asyncDispose]: async () => database.close(),
  };
}
