import { bullMqOnPostgres } from "../hooks/bullmq.ts";
import type { HookContender } from "../hooks/contender.ts";
import { graphileWorker } from "../hooks/graphile-worker.ts";
import { makePayload } from "../hooks/payload.ts";
import { pgBoss } from "../hooks/pg-boss.ts";
import type { WorkflowContender } from "../workflows/contender.ts";
import { dbosDefaults } from "../workflows/dbos.ts";
import { openWorkflowDefaults } from "../workflows/openworkflow.ts";
import { STEPS } from "../workflows/order.ts";
import type { IdleContender } from "./contender.ts";

/** The peers of the other suites, each with hooks or workflows, whichever it has. */
export const PEERS: readonly IdleContender[] = [
  fromWorkflows(openWorkflowDefaults("sqlite")),
  ...[graphileWorker, pgBoss, bullMqOnPostgres].map(fromHooks),
  ...[dbosDefaults, openWorkflowDefaults("postgres")].map(fromWorkflows),
];

function fromWorkflows(contender: WorkflowContender): IdleContender {
  const { works: _, ...rest } = contender;
  return {
    ...rest,
    async open(database) {
      const session = await contender.open(database);
      return {
        work: () => session.runOne(STEPS),
        [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
      };
    },
  };
}

function fromHooks(contender: HookContender): IdleContender {
  const { works: _, ...rest } = contender;
  return {
    ...rest,
    async open(database) {
      const session = await contender.open(database);
      let onRun = () => {};
      const worker = await session.startWorker(() => onRun());
      return {
        async work() {
          await using producer = await session.openProducer();
          const ran = new Promise<void>((resolve) => {
            onRun = resolve;
          });
          await producer.enqueue(makePayload(1));
          await ran;
        },
        async [Symbol.asyncDispose]() {
          await worker[Symbol.asyncDispose]();
          await session[Symbol.asyncDispose]();
        },
      };
    },
  };
}
