import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../support/embedded-postgres.ts";
import { ENGINES, type TestEngine } from "../support/engines.ts";
import { useProcessGroup } from "../support/process-group.ts";
import { waitUntil } from "../support/wait-until.ts";
import type { WorkerProcess } from "../support/worker-process.ts";

const postgres = ENGINES.find(({ dialect }) => dialect === "postgres") as TestEngine;
const NO_POLLING = { pollIntervalMs: 3_600_000 };
const group = useProcessGroup();

/** Triggers all the time until it is told to stop; gives what was accepted. */
function keepTriggering(): { accepted: string[]; stop(): Promise<void> } {
  const accepted: string[] = [];
  let stopping = false;
  const run = async () => {
    while (!stopping) {
      accepted.push(...(await group.trigger("note", 3)));
    }
  };
  const lanes = [run(), run(), run()];
  return {
    accepted,
    stop: async () => {
      stopping = true;
      await Promise.all(lanes);
    },
  };
}

/** Each of them runs something more. */
async function goOn(workers: readonly WorkerProcess[]): Promise<void> {
  const before = workers.map(({ runs }) => runs.length);
  await waitUntil("all went on", () => workers.every(({ runs }, index) => runs.length > (before[index] ?? 0)));
}

function expectAllRan(accepted: readonly string[]): void {
  const ran = new Set(group.runs.map(({ hookId }) => hookId));
  expect(accepted.filter((id) => !ran.has(id))).toEqual([]);
}

async function stopAll(workers: readonly WorkerProcess[]): Promise<void> {
  for (const worker of workers) worker.kill("SIGTERM");
  for (const worker of workers) expect(await worker.ended).toEqual({ code: 0, signal: null });
}

test("connections that the server ends lose nothing, and wake-ups work again afterwards", async () => {
  await group.open(postgres);
  const settings = { worker: { ...NO_POLLING, leaseMs: 3000 } };
  const workers = await Promise.all([group.start(settings), group.start(settings)]);
  const client = new Client({ connectionString: group.location });
  await client.connect();
  const OTHERS = "datname = current_database() and pid <> pg_backend_pid()";
  const LISTENING = `${OTHERS} and state = 'idle' and query like 'listen%'`;
  const terminate = (which: string) =>
    client.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${which}`);
  const bothListen = async () => {
    const { rowCount } = await client.query(`select from pg_stat_activity where ${LISTENING}`);
    return rowCount === workers.length;
  };

  const triggering = keepTriggering();
  for (let round = 0; round < 5; round++) {
    await goOn(workers);
    await terminate(OTHERS);
  }
  await triggering.stop();
  await group.emptied();
  expectAllRan(triggering.accepted);

  await waitUntil("both listened again", bothListen);
  await terminate(LISTENING);
  await waitUntil("both listened again", bothListen);
  await client.end();
  for (let round = 0; round < 5; round++) {
    const [id] = await group.trigger("note");
    await waitUntil("one of them ran it", () => group.runs.some(({ hookId }) => hookId === id));
  }
  await stopAll(workers);
});

let server: EmbeddedPostgres;

beforeAll(async () => {
  server = await startEmbeddedPostgres();
});

afterAll(() => server?.stop());

test.each(["fast", "immediate"] as const)(
  "a server that is restarted (%s) while processes work and trigger loses nothing that was accepted",
  async (mode) => {
    await group.openAt(server.url);
    const settings = { worker: { leaseMs: 3000, concurrency: 10 } };
    const workers = await Promise.all([group.start(settings), group.start(settings)]);
    const triggering = keepTriggering();
    for (let round = 0; round < 2; round++) {
      await goOn(workers);
      await server.shutDown(mode);
      await server.startAgain();
    }
    const accepted = triggering.accepted.length;
    await waitUntil("triggers were accepted again", () => triggering.accepted.length > accepted);
    await triggering.stop();
    await group.emptied();

    expectAllRan(triggering.accepted);
    for (const worker of workers) expect(worker.output).not.toContain(new URL(server.url).password);
    await stopAll(workers);
  },
);

test("callers wait for a server that is away for a while, and workers find it again", async () => {
  await group.openAt(server.url);
  const worker = await group.start({ worker: NO_POLLING });
  await server.shutDown("fast");
  const triggered = group.trigger("note", 20);
  await waitUntil("the worker has said so", () => worker.output.includes("could not be used"));
  await server.startAgain();
  const ids = await triggered;
  await group.emptied();

  expect(worker.runs.map(({ hookId }) => hookId).toSorted()).toEqual(ids.toSorted());
  await stopAll([worker]);
});
