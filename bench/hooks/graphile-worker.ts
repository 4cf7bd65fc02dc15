import { loadPeer } from "../harness/load-peer.ts";
import { openPostgresCount } from "../harness/postgres-count.ts";
import type { HookContender, Session } from "./contender.ts";
import { HOOK_NAME } from "./hook-row.ts";
import type { Payload } from "./payload.ts";
import { WORK_NAMES } from "./work-names.ts";

interface GraphileWorker {
  run(options: object): Promise<{ stop(): Promise<void> }>;
  makeWorkerUtils(options: object): Promise<WorkerUtils>;
  Logger: new (factory: () => () => void) => object;
}

interface WorkerUtils {
  migrate(): Promise<void>;
  addJob(task: string, payload: unknown): Promise<unknown>;
  addJobs(jobs: readonly { identifier: string; payload: unknown }[]): Promise<unknown>;
  release(): Promise<void>;
}

/**
 * The settings of its own performance test, https://worker.graphile.org/docs/performance, but for the local queue: there it is
 * 500, and its documentation says that for very fast tasks a much higher number may make sense. Here 2,000 is up to twice as
 * fast. With the local queue, a pool of 10 was the fastest of what `--sweep` tries.
 */
const TUNED = {
  concurrentJobs: 24,
  maxPoolSize: 10,
  localQueue: { size: 2000 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
};

/** Its tasks delete their row when they are done. */
const COUNT_UNSETTLED = "select count(*) as count from graphile_worker._private_jobs";

const JOBS_PER_CALL = 1000;

export const graphileWorker: HookContender = {
  name: "graphile-worker",
  role: "peer",
  packages: ["graphile-worker"],
  engine: "postgres",
  settings: JSON.stringify(TUNED),
  open: (url) => open(url, TUNED),
};

export const graphileWorkerDefaults: HookContender = {
  name: "graphile-worker (defaults)",
  role: "peer",
  packages: ["graphile-worker"],
  engine: "postgres",
  settings: "concurrentJobs 1, maxPoolSize 10, no local queue, no batching",
  maximumDrain: 500,
  open: (url) => open(url, {}),
};

/** What `--sweep` tries: the size of the local queue, and how many jobs run at once. */
export const graphileWorkerVariants: readonly HookContender[] = [
  { concurrentJobs: 24, localQueue: { size: 500 } },
  { concurrentJobs: 24, localQueue: { size: 2000 } },
  { concurrentJobs: 24, localQueue: { size: 5000 } },
  { concurrentJobs: 100, localQueue: { size: 2000 } },
  { concurrentJobs: 24, localQueue: { size: 2000 }, maxPoolSize: 25 },
].map((variant) => ({
  ...graphileWorker,
  name: `graphile-worker ${JSON.stringify(variant)}`,
  settings: JSON.stringify({ ...TUNED, ...variant }),
  works: [WORK_NAMES.drain],
  open: (url) => open(url, { ...TUNED, ...variant }),
}));

async function open(url: string, settings: object): Promise<Session> {
  process.env["NO_LOG_SUCCESS"] = "1"; // as in its own performance test; read when it is imported
  const { run, makeWorkerUtils, Logger } = await loadPeer<GraphileWorker>("graphile-worker");
  const preset = { worker: { connectionString: url, logger: new Logger(() => () => {}), ...settings } };

  const setup = await makeWorkerUtils({ preset });
  await setup.migrate();
  await setup.release();
  const unsettled = await openPostgresCount(url, COUNT_UNSETTLED);

  return {
    async openProducer() {
      const utils = await makeWorkerUtils({ preset });
      return {
        enqueue: async (payload) => void (await utils.addJob(HOOK_NAME, payload)),
        async enqueueMany(payloads) {
          for (let start = 0; start < payloads.length; start += JOBS_PER_CALL) {
            const jobs = payloads.slice(start, start + JOBS_PER_CALL);
            await utils.addJobs(jobs.map((payload) => ({ identifier: HOOK_NAME, payload })));
          }
        },
        [Symbol.asyncDispose]: () => utils.release(),
      };
    },
    async startWorker(onRun) {
      const taskList = { [HOOK_NAME]: async (payload: Payload) => onRun(payload) };
      const runner = await run({ preset, taskList, parsedCronItems: [], noHandleSignals: true });
      return { [Symbol.asyncDispose]: () => runner.stop() };
    },
    countUnsettled: () => unsettled.count(),
    [Symbol.asyncDispose]: () => unsettled[Symbol.asyncDispose](),
  };
}
