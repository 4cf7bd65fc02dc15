/**
 * Triggers hooks as fast as one process can while it runs them, stops in the middle, starts again and finishes. It runs by
 * itself, under a limit of memory that what it floods would not fit into.
 */
import { type Application, defineHook, type HookDefinition, perdure } from "../../src/index.ts";
import type { FloodReport, FloodSettings } from "./flood-settings.ts";

type FloodedApplication = Application<{ count: HookDefinition<number, number> }>;

const settings = JSON.parse(process.argv[2] ?? "") as FloodSettings;
const runs = new Uint8Array(settings.hooks);
let ran = 0;
let accepted = 0;
let peakHeap = 0;

const count = defineHook(async (index: number) => {
  await new Promise((resolve) => setImmediate(resolve)); // slower than a trigger: a queue builds up
  runs[index] = (runs[index] as number) + 1;
  if (runs[index] === 1) ran++;
});

function start(): Promise<FloodedApplication> {
  return perdure({ database: settings.database, hooks: { count }, worker: { concurrency: 500 } });
}

async function flood(app: FloodedApplication, from: number, to: number): Promise<void> {
  let next = from;
  const call = async () => {
    while (next < to) {
      await app.hooks.count.trigger(next++);
      accepted++;
      if (accepted % 100 === 0) measure();
    }
  };
  await Promise.all(Array.from({ length: settings.callers }, call));
}

function measure(): void {
  peakHeap = Math.max(peakHeap, process.memoryUsage().heapUsed);
}

async function left(app: FloodedApplication): Promise<number> {
  const { pending, processing, failed } = await app.durableHooks.statistics();
  return pending + processing + failed;
}

const started = performance.now();
const middle = Math.floor(settings.hooks / 2);
const first = await start();
await flood(first, 0, middle);
const leftAtStop = await left(first);
await first.stop({ deadlineMs: 0 });

const second = await start();
await flood(second, middle, settings.hooks);
while (ran < accepted) {
  measure();
  await new Promise((resolve) => setTimeout(resolve, 5));
}
await second.stop();

const observer = await perdure({ database: settings.database, hooks: { count }, worker: false });
const report: FloodReport = {
  accepted,
  ran,
  ranAgain: runs.filter((times) => times > 1).length,
  leftAtStop,
  leftAtEnd: await left(observer),
  seconds: (performance.now() - started) / 1000,
  peakHeapMegabytes: Math.round(peakHeap / 2 ** 20),
};
await observer.stop();
process.stdout.write(JSON.stringify(report));
