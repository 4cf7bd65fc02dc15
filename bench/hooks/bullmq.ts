import { loadPeer } from "../harness/load-peer.ts";
import { makeId } from "../harness/make-id.ts";
import type { HookContender, Session } from "./contender.ts";
import { HOOK_NAME } from "./hook-row.ts";
import type { Payload } from "./payload.ts";
import { WORK_NAMES } from "./work-names.ts";

interface BullMq extends Classes {
  withBackend(factory: unknown): Classes;
  readonly createPostgresBackend: unknown;
}

interface Classes {
  readonly Queue: new (name: string, options: object) => Queue;
  readonly Worker: new (
    name: string,
    process: (job: { data: Payload }) => Promise<void>,
    options: object,
  ) => Closable & { waitUntilReady(): Promise<unknown> };
}

interface Closable {
  on(event: "error", listener: (error: Error) => void): unknown;
  close(): Promise<void>;
}

interface Queue extends Closable {
  waitUntilReady(): Promise<unknown>;
  add(name: string, payload: Payload, options: object): Promise<unknown>;
  addBulk(jobs: readonly object[]): Promise<unknown>;
  getJobCounts(...states: string[]): Promise<Record<string, number>>;
  obliterate(options: object): Promise<void>;
}

interface Tuning {
  readonly concurrency?: number;
}

const TUNED: Tuning = { concurrency: 100 };
/** Deletes completed jobs, as ours and the other peers do. */
const REMOVE = { removeOnComplete: true };
const JOBS_PER_CALL = 1000;
const UNSETTLED = ["waiting", "active", "delayed", "prioritized"];

/** On the PostgreSQL that all contenders use. */
export const bullMqOnPostgres = onPostgres("bullmq", TUNED);

function onPostgres(name: string, tuning: Tuning): HookContender {
  return {
    name,
    role: "peer",
    packages: ["bullmq"],
    engine: "postgres",
    settings: `its backend for PostgreSQL, worker ${JSON.stringify(tuning)}, finished jobs removed`,
    maximumDrain: 5000,
    async open(url) {
      const bullMq = await loadPeer<BullMq>("bullmq");
      const classes = bullMq.withBackend(bullMq.createPostgresBackend);
      return open(classes, { connection: { connectionString: url, migrate: true } }, tuning);
    },
  };
}

/** On Redis, for scale: it isn't the application's database. A Redis isn't installed from npm, so it has to be provided. */
export function bullMqOnRedis(url: string, name = "bullmq (Redis)", tuning = TUNED): HookContender {
  return {
    name,
    role: "peer",
    packages: ["bullmq", "ioredis"],
    engine: "postgres",
    settings: `the Redis of REDIS_URL as it is configured, worker ${JSON.stringify(tuning)}, finished jobs removed`,
    works: [WORK_NAMES.enqueueSequential, WORK_NAMES.enqueueConcurrent, WORK_NAMES.drain, WORK_NAMES.latency],
    async open() {
      const connection = { url, maxRetriesPerRequest: null };
      return open(await loadPeer<BullMq>("bullmq"), { connection, prefix: makeId(Date.now()) }, tuning);
    },
  };
}

/** What `--sweep` tries: how many jobs run at once. */
export function bullMqVariants(redis: string | undefined): readonly HookContender[] {
  const concurrencies = [20, 100, 300];
  const nameOf = (concurrency: number) => `bullmq ${JSON.stringify({ concurrency })}`;
  const variants = [
    ...concurrencies.map((concurrency) => onPostgres(nameOf(concurrency), { concurrency })),
    ...(redis === undefined
      ? []
      : concurrencies.map((concurrency) => bullMqOnRedis(redis, `${nameOf(concurrency)} (Redis)`, { concurrency }))),
  ];
  return variants.map((variant) => ({ ...variant, works: [WORK_NAMES.drain] }));
}

async function open({ Queue, Worker }: Classes, options: object, tuning: Tuning): Promise<Session> {
  const openQueue = async () => {
    const queue = new Queue(HOOK_NAME, options);
    queue.on("error", () => {}); // told by the call that fails
    await queue.waitUntilReady();
    return queue;
  };
  const setup = await openQueue();
  return {
    async openProducer() {
      const queue = await openQueue();
      return {
        enqueue: async (payload) => void (await queue.add(HOOK_NAME, payload, REMOVE)),
        async enqueueMany(payloads) {
          for (let start = 0; start < payloads.length; start += JOBS_PER_CALL) {
            const jobs = payloads.slice(start, start + JOBS_PER_CALL);
            await queue.addBulk(jobs.map((data) => ({ name: HOOK_NAME, data, opts: REMOVE })));
          }
        },
        [Symbol.asyncDispose]: () => queue.close(),
      };
    },
    async startWorker(onRun) {
      const worker = new Worker(HOOK_NAME, async (job) => onRun(job.data), { ...options, ...tuning });
      worker.on("error", () => {});
      await worker.waitUntilReady();
      return { [Symbol.asyncDispose]: () => worker.close() };
    },
    async countUnsettled() {
      const counts = await setup.getJobCounts(...UNSETTLED);
      return Object.values(counts).reduce((sum, count) => sum + count, 0);
    },
    async [Symbol.asyncDispose]() {
      await setup.obliterate({ force: true });
      await setup.close();
    },
  };
}
