import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { SeededRandomness } from "../simulation/random.ts";
import { type HookDefinitions, perdure, StoreError, type Workflows } from "../src/index.ts";
import { type Arena, openArena } from "./arena.ts";
import { scheduleFaults } from "./fault-schedule.ts";
import { Faults } from "./faults.ts";
import { Fleet } from "./fleet.ts";
import { type Entry, Ledger, ledgerPath, readLedgers } from "./ledger.ts";
import type { Points } from "./points.ts";
import type { ChaosEngine } from "./settings.ts";
import type { Account, ChaosApplication, Problem } from "./workload.ts";
import { WORKLOADS } from "./workloads.ts";

export interface ChaosOptions {
  readonly engine: ChaosEngine;
  readonly seed: number;
  readonly lengthMs: number;
  /** Where ledgers and the database file go. */
  readonly directory: string;
  /** Told what happens. */
  readonly note: (text: string) => void;
  /** Receives a function that ends everything at once. */
  readonly onStart: (killAll: () => void) => void;
}

export interface ChaosResult {
  /** Of each workload, by its name. */
  readonly accounts: Readonly<Record<string, Account>>;
  /** Problems of the processes and the queue, not of any one workload. */
  readonly problems: readonly Problem[];
  readonly faults: ReadonlyMap<string, number>;
  readonly processes: number;
  readonly entries: readonly Entry[];
}

/** If nothing gets done for this long, nothing will any more. */
const DRAIN_PATIENCE_MS = 60_000;
const LOOK_MS = 100;
const OBSERVER = "observer";
const HOURS = [0, 0, -7, 5] as const;
const HOUR_MS = 3_600_000;

/** Load and faults for a while, then neither; when everything has ended, the accounts. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { engine, seed, directory } = options;
  const begin = performance.now();
  const note = (text: string) => {
    const line = `${((performance.now() - begin) / 1000).toFixed(2).padStart(8)} s  ${text}`;
    appendFileSync(join(directory, "faults.log"), `${line}\n`);
    options.note(line);
  };
  const arena = await openArena(engine, directory);
  const random = new SeededRandomness(seed);
  const clockShift = () => (engine === "postgres" ? random.pick(HOURS) * HOUR_MS : 0); // one file has one clock
  const fleet = new Fleet({ engine, databases: arena.ways, directory, random, clockShift });
  options.onStart(() => fleet.killAll());
  try {
    const app = await openObserver(arena);
    fleet.start();
    const faults = new Faults(arena, fleet, note);
    await suffer(options, fleet, faults);
    const problems = await drain(fleet, app, directory, note);
    const entries = readLedgers(directory);
    const accounts = await takeAccounts(app, entries);
    await app.stop();
    const counts = countFaults(faults.counts, entries);
    return { accounts, problems: [...fleet.problems, ...problems], faults: counts, processes: fleet.started, entries };
  } finally {
    fleet.killAll();
    await arena.close();
  }
}

/** The accountant's own view of the database. It runs nothing. */
async function openObserver(arena: Arena): Promise<ChaosApplication> {
  const points = null as unknown as Points;
  const nothing = { write: () => {}, random: new SeededRandomness(0), points, directory: "" };
  const app = () => {
    throw new Error("The observer runs nothing.");
  };
  const working = { ...nothing, app };
  const hooks: HookDefinitions = Object.assign({}, ...WORKLOADS.map((one) => one.hooks(working)));
  const workflows: Workflows = Object.assign({}, ...WORKLOADS.map((one) => one.workflows?.(working)));
  const logger = { info() {}, warn() {}, error() {} }; // faults that hit the observer don't matter
  const observer = await perdure({ database: arena.database, hooks, workflows, worker: false, logger });
  for (const table of WORKLOADS.flatMap(({ tables }) => tables)) await observer.unitOfWork((uow) => uow.query(table));
  return observer;
}

async function suffer({ seed, engine, lengthMs }: ChaosOptions, fleet: Fleet, faults: Faults): Promise<void> {
  while (!fleet.ready && fleet.problems.length === 0) await delay(LOOK_MS);
  const begin = performance.now();
  const struck: Promise<void>[] = [];
  for (const fault of scheduleFaults(seed, engine, lengthMs)) {
    await delay(Math.max(begin + fault.atMs - performance.now(), 0));
    struck.push(faults.strike(fault));
  }
  await Promise.all(struck);
  await faults.calm();
}

/** Waits until producers are done and all work has ended. */
async function drain(
  fleet: Fleet,
  app: ChaosApplication,
  directory: string,
  note: (text: string) => void,
): Promise<Problem[]> {
  await fleet.stopProducing();
  note("producers are done");
  const entries = readLedgers(directory);
  const ledger = new Ledger(ledgerPath(directory, OBSERVER), OBSERVER);
  for (const { name, finish } of WORKLOADS) {
    await finish?.(app, ofWorkload(entries, name), (did, item, details) => ledger.write(name, did, item, details));
  }
  const left = await untilDone(app);
  const details = `${left} hooks, instances and subjects are left, and nothing happens any more`;
  const problems = left === 0 ? [] : [{ promise: "everything comes to its end", details, items: [] }];
  note(left === 0 ? "nothing is left to do" : details);
  await fleet.stop();
  return problems;
}

/** Returns how many are left when nothing happens any more. */
async function untilDone(app: ChaosApplication): Promise<number> {
  let fewest = Number.POSITIVE_INFINITY;
  let giveUpAt = 0;
  for (;;) {
    const left = (await countLeft(app)) ?? fewest;
    if (left === 0) return 0;
    if (left < fewest) giveUpAt = performance.now() + DRAIN_PATIENCE_MS;
    if (performance.now() > giveUpAt) return left;
    fewest = Math.min(fewest, left);
    await delay(LOOK_MS);
  }
}

async function countLeft(app: ChaosApplication): Promise<number | null> {
  try {
    const { pending, processing } = await app.durableHooks.statistics();
    let left = pending + processing;
    for (const workload of WORKLOADS) left += (await workload.left?.(app)) ?? 0;
    return left;
  } catch (error) {
    if (error instanceof StoreError && error.transient) return null;
    throw error;
  }
}

async function takeAccounts(app: ChaosApplication, entries: readonly Entry[]): Promise<Record<string, Account>> {
  const accounts: Record<string, Account> = {};
  for (const { name, collect, accounts: account } of WORKLOADS) {
    accounts[name] = account(ofWorkload(entries, name), await collect(app));
  }
  return accounts;
}

function ofWorkload(entries: readonly Entry[], name: string): Entry[] {
  return entries.filter(({ workload }) => workload === name);
}

/** A crash at a point that no process reached doesn't count as a fault. */
function countFaults(counts: ReadonlyMap<string, number>, entries: readonly Entry[]): Map<string, number> {
  const faults = new Map([...counts].filter(([name]) => !name.endsWith("at a point")));
  for (const { workload, did, item } of entries) {
    if (workload !== "chaos") continue;
    const name = `${did} ${item}`;
    faults.set(name, (faults.get(name) ?? 0) + 1);
  }
  return faults;
}
