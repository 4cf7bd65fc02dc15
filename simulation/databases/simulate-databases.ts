import { HookBook } from "../books/hook-book.ts";
import { InstanceBook } from "../books/instance-book.ts";
import { Faults } from "../machines/faults.ts";
import { SimulatedDatabase } from "../machines/simulated-database.ts";
import { WakeupNetwork } from "../machines/simulated-wakeups.ts";
import { Lane, type Violation, World } from "../world.ts";
import { DatabasesProcess, type WrapSources } from "./databases-process.ts";

/** One of the databases that each process of a world uses, with its accounts. */
export interface UsedDatabase {
  readonly name: string;
  readonly database: SimulatedDatabase;
  readonly hooks: HookBook;
  readonly instances: InstanceBook;
  readonly faults: Faults;
  readonly wakeups: WakeupNetwork;
  /** Since when it can be used; infinite while it can't. */
  usableSince: number;
}

export interface DatabasesSimulation {
  readonly violation: Violation | null;
  readonly trace: readonly string[];
  /** How many hooks ran while the other database couldn't be used. */
  readonly runsBeside: number;
  readonly drains: number;
}

const PROCESSES = 2;
const LONGEST_CALM_MS = 600_000;
/** Within this time a hook runs in a database that can be used: longer than the slowest poll. */
const PATIENCE_MS = 40_000;

/**
 * A world of processes with two databases each, one of which becomes unavailable now and then: work in the other one must still
 * run, and drains must not fail. At the end everything in both has run.
 */
export async function simulateDatabases(seed: number, wrapSources?: WrapSources): Promise<DatabasesSimulation> {
  const world = new World(seed);
  const { random } = world;
  const used = await Promise.all(["one", "two"].map((name) => openDatabase(world, name)));
  const [one, two] = used as [UsedDatabase, UsedDatabase];
  const processes: DatabasesProcess[] = [];
  const fate = new Lane("fate");
  let drains = 0;
  const start = (role: "worker" | "errand") => {
    const process = new DatabasesProcess(`p${processes.length + 1}`, world, [one, two], wrapSources);
    processes.push(process);
    if (role === "worker") return process.loop.start();
    drains++;
    void process.drain();
  };
  let actions = random.integer(20, 50);
  const act = () => {
    const action = random.weighted({ trigger: 10, away: 2, drain: 2, kill: 1 });
    const workers = processes.filter(({ works }) => works);
    const broken = random.pick(used);
    if (action === "away") takeAway(world, fate, broken, random.integer(1000, 300_000));
    if (action === "trigger") void random.pick(workers).trigger(random.pick(used));
    if (action === "drain") start("errand");
    if (action === "kill") {
      random.pick(workers).kill();
      start("worker");
    }
    checkLateness(world, used, processes);
    if (--actions > 0) world.schedule(fate, random.integer(0, 20_000), act);
  };
  for (let count = 0; count < PROCESSES; count++) start("worker");
  act();
  await world.runUntil(() => actions === 0, Number.POSITIVE_INFINITY);
  for (const { database } of used) database.unavailableUntil = 0;
  const done = () => used.every(({ hooks }) => [...hooks.accounts.values()].every(({ state }) => state !== "live"));
  if (!(await world.runUntil(done, LONGEST_CALM_MS)) && world.violation === null)
    world.violate("an idle world has no due work", "some hooks haven't run");
  const runsBeside = processes.reduce((sum, process) => sum + process.runsBeside, 0);
  for (const { lane } of processes) world.close(lane);
  for (const { database } of used) database.close();
  return { violation: world.violation, trace: world.trace, runsBeside, drains };
}

async function openDatabase(world: World, name: string): Promise<UsedDatabase> {
  const hooks = new HookBook(world, () => false);
  const instances = new InstanceBook(world, () => false, hooks);
  const faults = new Faults(world.random.fork(), 0, undefined);
  const database = new SimulatedDatabase(world, hooks, instances, {});
  await database.migrate();
  const wakeups = new WakeupNetwork(world, faults);
  return { name, database, hooks, instances, faults, wakeups, usableSince: world.now };
}

function takeAway(world: World, fate: Lane, broken: UsedDatabase, milliseconds: number): void {
  const until = world.now + milliseconds;
  world.note(`database ${broken.name}`, `is away for ${milliseconds} ms`);
  broken.database.unavailableUntil = Math.max(broken.database.unavailableUntil, until);
  broken.usableSince = Number.POSITIVE_INFINITY;
  world.schedule(fate, milliseconds, () => {
    if (broken.database.unavailableUntil <= world.now) broken.usableSince = world.now;
  });
}

/** Work that is due in an available database runs soon, whatever happens to the other one. */
function checkLateness(world: World, used: readonly UsedDatabase[], processes: readonly DatabasesProcess[]): void {
  const since = world.now - PATIENCE_MS;
  if (!processes.some(({ works, startedAt }) => works && startedAt < since)) return;
  for (const { name, hooks, usableSince } of used) {
    if (usableSince > since) continue;
    for (const { id, state, availableAt } of hooks.accounts.values()) {
      if (state !== "live" || availableAt > since) continue;
      world.violate(
        "databases don't hold up each other",
        `${id} in ${name} is due since ${world.now - availableAt} ms`,
      );
    }
  }
}
