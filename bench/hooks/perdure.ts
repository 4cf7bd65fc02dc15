import { DatabaseSync } from "node:sqlite";
import type { Engine } from "../harness/contender.ts";
import { openPostgresCount } from "../harness/postgres-count.ts";
import type { HookContender, Producer, Session } from "./contender.ts";
import { HOOK_NAME } from "./hook-row.ts";
import type { Payload } from "./payload.ts";

/** How many calls are under way at once when many hooks are wanted; each is still a call of its own. */
const CALLS_IN_FLIGHT = 1000;

/** A settled hook is deleted, or is no longer due at any time. */
const COUNT_UNSETTLED: Readonly<Record<Engine, string>> = {
  sqlite: "select count(*) as count from perdure_hook where available_at is not null",
  postgres: "select count(*) as count from perdure.hook where available_at is not null",
};

/** Ours, as a user gets it: no setting is changed. */
export function perdureContender(engine: Engine): HookContender {
  return {
    name: "perdure",
    role: "ours",
    engine,
    settings: "defaults",
    open: (database) => open(engine, database),
  };
}

async function open(engine: Engine, database: string): Promise<Session> {
  // Imported here, so that a package that doesn't even load is reported like any other contender that fails.
  const { defineHook, perdure } = await import("../../src/index.ts");
  const start = (worker: boolean, onRun: (payload: Payload) => void) =>
    perdure({
      database,
      worker,
      hooks: { [HOOK_NAME]: defineHook({}, async (payload: Payload) => onRun(payload)) },
    });
  type App = Awaited<ReturnType<typeof start>>;

  const setup = await start(false, () => {}); // migrates
  await setup.stop();
  const unsettled =
    engine === "postgres" ? await openPostgresCount(database, COUNT_UNSETTLED.postgres) : openSqliteCounter(database);
  let workerApp: App | undefined;

  const producerOf = (app: App, close: () => Promise<void>): Producer => ({
    enqueue: async (payload) => void (await app.hooks[HOOK_NAME].trigger(payload)),
    async enqueueMany(payloads) {
      for (let start = 0; start < payloads.length; start += CALLS_IN_FLIGHT) {
        const calls = payloads.slice(start, start + CALLS_IN_FLIGHT);
        await Promise.all(calls.map((payload) => app.hooks[HOOK_NAME].trigger(payload)));
      }
    },
    [Symbol.asyncDispose]: close,
  });

  return {
    async openProducer() {
      // An embedded database is used in the process that works: no other process could wake it.
      if (engine === "sqlite" && workerApp !== undefined) return producerOf(workerApp, async () => {});
      const app = await start(false, () => {});
      return producerOf(app, () => app.stop());
    },
    async startWorker(onRun) {
      const app = await start(true, onRun);
      workerApp = app;
      return {
        async [Symbol.asyncDispose]() {
          workerApp = undefined;
          await app.stop();
        },
      };
    },
    countUnsettled: () => unsettled.count(),
    [Symbol.asyncDispose]: () => unsettled[Symbol.asyncDispose](),
  };
}

function openSqliteCounter(path: string) {
  const database = new DatabaseSync(path, { timeout: 5000 });
  return {
    count: async () => Number(database.prepare(COUNT_UNSETTLED.sqlite).get()?.["count"]),
    [Symbol.asyncDispose]: async () => database.close(),
  };
}
