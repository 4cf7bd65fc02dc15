import { loadPeer } from "../harness/load-peer.ts";
import { openPostgresCount } from "../harness/postgres-count.ts";
import { progress } from "../harness/progress.ts";
import type { HookContender, Session } from "./contender.ts";
import { HOOK_NAME } from "./hook-row.ts";
import type { Payload } from "./payload.ts";
import { WORK_NAMES } from "./work-names.ts";

interface PgBossModule {
  PgBoss: new (options: object) => PgBoss;
}

interface PgBoss {
  on(event: "error", listener: (error: unknown) => void): void;
  start(): Promise<unknown>;
  stop(options: { graceful: boolean }): Promise<void>;
  createQueue(name: string, options: object): Promise<void>;
  send(name: string, data: unknown): Promise<string | null>;
  insert(name: string, jobs: readonly { data: unknown }[]): Promise<unknown>;
  work(name: string, options: object, handler: (jobs: readonly { data: Payload }[]) => Promise<void>): Promise<string>;
}

interface Settings {
  readonly instance: object;
  readonly queue: object;
  readonly work: object;
}

/**
 * Its documentation: bigger batches and several workers for throughput, bursts to leave no pause between full batches, and
 * LISTEN/NOTIFY for latency. A batch's handler settles the whole batch at once, its fastest way.
 */
const TUNED: Settings = {
  instance: { useListenNotify: true },
  queue: { notify: true },
  work: { batchSize: 1000, localConcurrency: 4, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 },
};

const DEFAULTS: Settings = { instance: {}, queue: {}, work: {} };

/** Completed jobs stay in the table, and are purged later. */
const COUNT_UNSETTLED = "select count(*) as count from pgboss.job where state < 'completed'";

const JOBS_PER_CALL = 1000;

export const pgBoss: HookContender = {
  name: "pg-boss",
  role: "peer",
  packages: ["pg-boss"],
  engine: "postgres",
  settings: JSON.stringify({ ...TUNED.instance, ...TUNED.queue, ...TUNED.work }),
  open: (url) => open(url, TUNED),
};

/** Its latency isn't measured: with a poll every two seconds it is one second on average, and takes long to show. */
export const pgBossDefaults: HookContender = {
  name: "pg-boss (defaults)",
  role: "peer",
  packages: ["pg-boss"],
  engine: "postgres",
  settings: "batchSize 1, localConcurrency 1, pollingIntervalSeconds 2, no LISTEN/NOTIFY; without the latency",
  works: [WORK_NAMES.enqueueSequential, WORK_NAMES.enqueueConcurrent, WORK_NAMES.drain, WORK_NAMES.idle],
  maximumDrain: 3,
  open: (url) => open(url, DEFAULTS),
};

/** What `--sweep` tries: the size of a batch, how many are worked on at once, and how often is polled. */
export const pgBossVariants: readonly HookContender[] = [
  { batchSize: 200, localConcurrency: 4 },
  { batchSize: 1000, localConcurrency: 1 },
  { batchSize: 1000, localConcurrency: 4 },
  { batchSize: 1000, localConcurrency: 8 },
  { batchSize: 5000, localConcurrency: 4 },
  { batchSize: 1000, localConcurrency: 4, pollingIntervalSeconds: 2 },
].map((variant) => ({
  ...pgBoss,
  name: `pg-boss ${JSON.stringify(variant)}`,
  settings: JSON.stringify({ ...TUNED.work, ...variant }),
  works: [WORK_NAMES.drain],
  open: (url) => open(url, { ...TUNED, work: { ...TUNED.work, ...variant } }),
}));

async function open(url: string, settings: Settings): Promise<Session> {
  const { PgBoss } = await loadPeer<PgBossModule>("pg-boss");
  const start = async (options: object) => {
    const boss = new PgBoss({ connectionString: url, ...settings.instance, ...options });
    boss.on("error", (error) => progress(`  pg-boss: ${(error as { message?: string }).message ?? String(error)}`));
    await boss.start();
    return boss;
  };

  const setup = await start({ supervise: false, schedule: false });
  await setup.createQueue(HOOK_NAME, settings.queue);
  await setup.stop({ graceful: false });
  const unsettled = await openPostgresCount(url, COUNT_UNSETTLED);

  return {
    async openProducer() {
      const boss = await start({ supervise: false, schedule: false, useListenNotify: false });
      return {
        enqueue: async (payload) => void (await boss.send(HOOK_NAME, payload)),
        async enqueueMany(payloads) {
          for (let start = 0; start < payloads.length; start += JOBS_PER_CALL) {
            const jobs = payloads.slice(start, start + JOBS_PER_CALL).map((data) => ({ data }));
            await boss.insert(HOOK_NAME, jobs);
          }
        },
        [Symbol.asyncDispose]: () => boss.stop({ graceful: false }),
      };
    },
    async startWorker(onRun) {
      const boss = await start({});
      await boss.work(HOOK_NAME, settings.work, async (jobs) => {
        for (const job of jobs) onRun(job.data);
      });
      return { [Symbol.asyncDispose]: () => boss.stop({ graceful: false }) };
    },
    countUnsettled: () => unsettled.count(),
    [Symbol.asyncDispose]: () => unsettled[Symbol.asyncDispose](),
  };
}
