/**
 * A process of the harness: runs due work, creates work, or both, and records what happens. It follows its parent's commands
 * over the channel between them, and ends when that is closed.
 */
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { SeededRandomness } from "../simulation/random.ts";
import { type HookDefinitions, perdure, StoreError, type SubjectsDefinition, type Workflows } from "../src/index.ts";
import { postgres } from "../src/store/postgres/index.ts";
import { sqlite } from "../src/store/sqlite/index.ts";
import type { DatabaseAdapter } from "../src/store/store.ts";
import { Ledger } from "./ledger.ts";
import { openOwnTransactions } from "./own-transactions.ts";
import { Points, watchStore } from "./points.ts";
import { LEASE_MS, type ProcessMessage, type ProcessRequest, type ProcessSettings } from "./settings.ts";
import type { ChaosApplication, WorkingProcess, Workload } from "./workload.ts";
import { WORKLOADS } from "./workloads.ts";
import { shiftClock } from "./wrong-clock.ts";

const START_AGAIN_MS = 200;
const GRACE_MS = 5000;
const NOT_ENDED_BY_ITSELF = 70;
const WORKER = { concurrency: 10, leaseMs: LEASE_MS, pollIntervalMs: 500 };
/** After this time, a handler that waits for ever because its connection has gone silent is given up. */
const STUCK_MINUTES = 0.15;

const settings = JSON.parse(process.argv[2] ?? "") as ProcessSettings;
const { name, engine, database } = settings;
if (settings.clockShiftMs !== 0) shiftClock(settings.clockShiftMs);
const ledger = new Ledger(settings.ledger, name);
const random = new SeededRandomness(settings.seed);
const points = new Points(ledger);
let app: ChaosApplication | undefined;
let stoppingToProduce = false;

function say(message: ProcessMessage): void {
  if (process.connected) process.send?.(message);
}

function writeFor(workload: Workload) {
  return (did: string, item: string, details?: Readonly<Record<string, unknown>>) =>
    ledger.write(workload.name, did, item, details);
}

function appNow(): ChaosApplication {
  if (app === undefined) throw new Error("The application is starting; another attempt will find it.");
  return app;
}

function workingFor(workload: Workload): WorkingProcess {
  const directory = dirname(settings.ledger);
  return { random: random.fork(), points, write: writeFor(workload), directory, app: appNow };
}

/** The database may be unavailable when a process starts. */
async function start(): Promise<{ app: ChaosApplication; adapter: DatabaseAdapter }> {
  const hooks: HookDefinitions = Object.assign({}, ...WORKLOADS.map((one) => one.hooks(workingFor(one))));
  const workflows: Workflows = Object.assign({}, ...WORKLOADS.map((one) => one.workflows?.(workingFor(one))));
  const subjects: Record<string, SubjectsDefinition> = Object.assign(
    {},
    ...WORKLOADS.map((one) => one.subjects?.(workingFor(one))),
  );
  for (;;) {
    let adapter: DatabaseAdapter | undefined;
    try {
      adapter = engine === "postgres" ? postgres(database) : sqlite(database);
      watchStore(adapter.store, points);
      for (const workload of WORKLOADS) workload.watch?.(adapter.store, writeFor(workload));
      const worker = settings.works && WORKER;
      const stuckProcessingTimeoutMinutes = STUCK_MINUTES;
      const options = { database: adapter, hooks, workflows, subjects, worker, stuckProcessingTimeoutMinutes };
      return { app: await perdure(options), adapter };
    } catch (error) {
      await adapter?.store.close();
      if (!(error instanceof StoreError && error.transient)) throw error;
      await delay(START_AGAIN_MS);
    }
  }
}

async function produce(running: ChaosApplication): Promise<void> {
  const ownTransactions = openOwnTransactions(engine, database);
  const stopping = () => stoppingToProduce;
  await Promise.all(
    WORKLOADS.map((workload) =>
      workload.produce({
        name,
        random: random.fork(),
        app: running,
        ownTransactions,
        write: writeFor(workload),
        stopping,
      }),
    ),
  );
  await ownTransactions.close();
}

async function main(): Promise<void> {
  const { app: running, adapter } = await start();
  app = running;
  const produced = settings.produces ? produce(running) : Promise.resolve();
  say({ say: "ready" });
  const stop = async () => {
    stoppingToProduce = true;
    await produced;
    await running.stop({ deadlineMs: LEASE_MS });
    await adapter.store.close();
    process.disconnect();
  };
  process.on("SIGTERM", () => void stop());
  await produced;
  if (settings.produces) say({ say: "stopped producing" });
}

function answer(request: ProcessRequest): void {
  if (request.do === "arm") points.arm(request.point, request.action);
  if (request.do === "disarm") points.disarm();
  if (request.do === "shift clock") shiftClock(request.milliseconds);
  if (request.do === "stop producing") stoppingToProduce = true;
}

process.on("message", (request: ProcessRequest) => answer(request));
// The parent is gone, or we have stopped and something still keeps the process alive; the exit code tells the parent about the
// latter.
process.on("disconnect", () => setTimeout(() => process.exit(NOT_ENDED_BY_ITSELF), GRACE_MS).unref());
await main();
