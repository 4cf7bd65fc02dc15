import type { Engine } from "../harness/contender.ts";
import { loadPeer } from "../harness/load-peer.ts";
import type { Session, WorkflowContender } from "./contender.ts";
import { makeOrder, type Order, runOrder, STEPS, WORKFLOW_NAME } from "./order.ts";
import { Returns } from "./returns.ts";
import { WORK_NAMES } from "./work-names.ts";

interface Backend {
  stop(): Promise<void>;
  countWorkflowRuns(): Promise<{ completed: number }>;
}

type Step = { run(options: { name: string }, body: () => Promise<unknown>): Promise<unknown> };

interface Client {
  defineWorkflow(
    spec: { name: string },
    body: (context: { input: Order; step: Step }) => Promise<unknown>,
  ): { run(order: Order): Promise<{ result(): Promise<unknown> }> };
  newWorker(options: { concurrency?: number }): { start(): Promise<void>; stop(): Promise<void> };
}

/** It looks for results once a second, so more samples would show nothing new. */
const MOST_SAMPLES = 10;
const TUNED = { concurrency: 200 };

export function openWorkflow(engine: Engine): WorkflowContender {
  return {
    name: "openworkflow",
    role: "peer",
    packages: ["openworkflow"],
    engine,
    settings: `worker ${JSON.stringify(TUNED)}`,
    works: [WORK_NAMES.many, WORK_NAMES.costs, WORK_NAMES.costsInPostgres],
    maximumWorkflows: 2000,
    open: (database) => open(engine, database, TUNED),
  };
}

export function openWorkflowDefaults(engine: Engine): WorkflowContender {
  return {
    name: "openworkflow (defaults)",
    role: "peer",
    packages: ["openworkflow"],
    engine,
    settings: "worker concurrency 1; a result is looked for once a second",
    works: [WORK_NAMES.one, WORK_NAMES.manyByDefault, WORK_NAMES.steps],
    maximumSamples: MOST_SAMPLES,
    maximumWorkflows: 100,
    open: (database) => open(engine, database, {}),
  };
}

/** What `--sweep` tries: how many runs its worker has at once. */
export function openWorkflowVariants(engine: Engine): readonly WorkflowContender[] {
  return [10, 50, 200].map((concurrency) => ({
    ...openWorkflow(engine),
    name: `openworkflow ${JSON.stringify({ concurrency })}`,
    works: [WORK_NAMES.many],
    open: (database) => open(engine, database, { concurrency }),
  }));
}

async function open(engine: Engine, database: string, worker: { concurrency?: number }): Promise<Session> {
  const { OpenWorkflow } = await loadPeer<{ OpenWorkflow: new (options: { backend: Backend }) => Client }>(
    "openworkflow",
  );
  const backend = await connect(engine, database);
  const client = new OpenWorkflow({ backend });
  const returns = new Returns();
  const workflow = client.defineWorkflow({ name: WORKFLOW_NAME }, ({ input, step }) =>
    returns.note(runOrder(input, (name, body) => step.run({ name }, body))),
  );
  const running = client.newWorker(worker);
  await running.start();
  let started = 0;

  return {
    async runOne(steps) {
      const run = await workflow.run(makeOrder(steps));
      await run.result();
      started++;
    },
    async runMany(count) {
      await Promise.all(Array.from({ length: count }, (_, index) => workflow.run(makeOrder(STEPS, index))));
      started += count;
      await returns.untilFinished(started, async () => (await backend.countWorkflowRuns()).completed);
    },
    async [Symbol.asyncDispose]() {
      await running.stop();
      await backend.stop();
    },
  };
}

async function connect(engine: Engine, database: string): Promise<Backend> {
  type Connect = { connect(database: string): Backend | Promise<Backend> };
  if (engine === "sqlite") {
    return (await loadPeer<{ BackendSqlite: Connect }>("openworkflow/sqlite")).BackendSqlite.connect(database);
  }
  return (await loadPeer<{ BackendPostgres: Connect }>("openworkflow/postgres")).BackendPostgres.connect(database);
}
