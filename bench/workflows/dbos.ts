import { loadPeer } from "../harness/load-peer.ts";
import { openPostgresCount } from "../harness/postgres-count.ts";
import type { Session, WorkflowContender } from "./contender.ts";
import { makeOrder, type Order, runOrder, STEPS, WORKFLOW_NAME } from "./order.ts";
import { Returns } from "./returns.ts";
import { WORK_NAMES } from "./work-names.ts";

interface Dbos {
  setConfig(config: object): void;
  launch(): Promise<void>;
  shutdown(): Promise<void>;
  registerWorkflow<Result>(body: (order: Order) => Promise<Result>, config: object): (order: Order) => Promise<Result>;
  runStep(body: () => Promise<unknown>, config: object): Promise<unknown>;
  startWorkflow(
    workflow: (order: Order) => Promise<unknown>,
  ): (order: Order) => Promise<{ getResult(): Promise<unknown> }>;
}

/** Its pool is 10 by default; 50 was the fastest of what `--sweep` tries. */
const TUNED = { systemDatabasePoolSize: 50 };
const SILENT = { info() {}, debug() {}, warn() {}, error() {} };
const COUNT_FINISHED = "select count(*) as count from dbos.workflow_status where status = 'SUCCESS'";
const MOST_WORKFLOWS = 2000;

/** Registered once: it knows its workflows by the process, not by the database. */
let registered: ((order: Order) => Promise<unknown>) | undefined;
let returns = new Returns();

export const dbosDefaults: WorkflowContender = {
  name: "dbos (defaults)",
  role: "peer",
  packages: ["@dbos-inc/dbos-sdk"],
  engine: "postgres",
  settings: "pool of 10; workflows are started directly, not through a queue, which is its fastest way",
  works: [WORK_NAMES.one, WORK_NAMES.manyByDefault, WORK_NAMES.steps],
  maximumWorkflows: MOST_WORKFLOWS,
  open: (url) => open(url, {}),
};

export const dbos: WorkflowContender = {
  name: "dbos",
  role: "peer",
  packages: ["@dbos-inc/dbos-sdk"],
  engine: "postgres",
  settings: `${JSON.stringify(TUNED)}; started directly`,
  works: [WORK_NAMES.many, WORK_NAMES.costs, WORK_NAMES.costsInPostgres],
  maximumWorkflows: MOST_WORKFLOWS,
  open: (url) => open(url, TUNED),
};

/** What `--sweep` tries: the size of its pool. */
export const dbosVariants: readonly WorkflowContender[] = [10, 20, 50].map((systemDatabasePoolSize) => ({
  ...dbos,
  name: `dbos ${JSON.stringify({ systemDatabasePoolSize })}`,
  works: [WORK_NAMES.many],
  open: (url) => open(url, { systemDatabasePoolSize }),
}));

async function open(url: string, settings: object): Promise<Session> {
  const { DBOS } = await loadPeer<{ DBOS: Dbos }>("@dbos-inc/dbos-sdk");
  registered ??= DBOS.registerWorkflow(
    (order: Order) => returns.note(runOrder(order, (name, body) => DBOS.runStep(body, { name }))),
    { name: WORKFLOW_NAME },
  );
  const start = registered;
  returns = new Returns();
  DBOS.setConfig({ name: "bench", systemDatabaseUrl: url, logger: SILENT, ...settings });
  await DBOS.launch();
  const finished = await openPostgresCount(url, COUNT_FINISHED);
  let started = 0;

  return {
    async runOne(steps) {
      const handle = await DBOS.startWorkflow(start)(makeOrder(steps));
      await handle.getResult();
      started++;
    },
    async runMany(count) {
      await Promise.all(
        Array.from({ length: count }, (_, index) => DBOS.startWorkflow(start)(makeOrder(STEPS, index))),
      );
      started += count;
      await returns.untilFinished(started, () => finished.count());
    },
    async [Symbol.asyncDispose]() {
      await finished[Symbol.asyncDispose]();
      await DBOS.shutdown();
    },
  };
}
