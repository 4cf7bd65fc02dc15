import { HookBook } from "../books/hook-book.ts";
import { InstanceBook } from "../books/instance-book.ts";
import { Faults } from "../machines/faults.ts";
import { SimulatedDatabase } from "../machines/simulated-database.ts";
import { WakeupNetwork } from "../machines/simulated-wakeups.ts";
import type { SimulationOptions } from "../simulation-options.ts";
import { Lane, type Violation, World } from "../world.ts";
import { SubjectBook } from "./subject-book.ts";
import { PAGES, SubjectProcess } from "./subject-process.ts";

/** What all processes of one world share. */
export interface SubjectWorld {
  readonly world: World;
  readonly database: SimulatedDatabase;
  readonly hooks: HookBook;
  readonly instances: InstanceBook;
  readonly faults: Faults;
  readonly wakeups: WakeupNetwork;
  readonly book: SubjectBook;
  readonly options: SimulationOptions;
  /** Whether the faults have stopped. */
  readonly calm: () => boolean;
}

export interface SubjectSimulation {
  readonly violation: Violation | null;
  readonly trace: readonly string[];
  readonly changes: number;
  readonly refusals: number;
  readonly takeovers: number;
  readonly resets: number;
}

const LONGEST_CALM_MS = 3_600_000;
const PROCESSES = 3;

/**
 * A world of subjects: processes that handle them, operators who claim and change them by hand, syncs, and every fault that the
 * database and the processes can have. At the end the faults stop, and every subject must reach its last page.
 */
export async function simulateSubjects(seed: number, options: SimulationOptions = {}): Promise<SubjectSimulation> {
  const world = new World(seed);
  const { random } = world;
  let calm = false;
  const faults = new Faults(random.fork(), random.pick([0, 0.05, 0.15, 0.3]), undefined);
  const nobody = () => false;
  const hooks = new HookBook(world, nobody);
  const instances = new InstanceBook(world, nobody, hooks);
  const database = new SimulatedDatabase(world, hooks, instances, options);
  await database.migrate();
  const book = new SubjectBook(world, (text) => database.read(text));
  const wakeups = new WakeupNetwork(world, faults);
  const surroundings = { world, database, hooks, instances, faults, wakeups, book, options, calm: () => calm };
  const keys = Array.from({ length: random.integer(1, 6) }, (_, index) => `s${index}`);
  const processes: SubjectProcess[] = [];
  const fate = new Lane("fate");
  const start = () => {
    const process = new SubjectProcess(`p${processes.length + 1}`, surroundings);
    processes.push(process);
    process.loop.start();
  };
  const alive = () => processes.filter(({ lane }) => !lane.closed);
  let actions = random.integer(15, 50);
  const act = () => {
    if (alive().length < PROCESSES) start();
    const process = random.pick(alive());
    const action = random.weighted({ hand: 6, sync: 6, kill: 1, freeze: 2, outage: 1 });
    if (action === "hand") void process.claimByHand();
    if (action === "sync") void process.sync(keys);
    if (action === "kill") process.kill("by fate");
    if (action === "freeze") process.freeze(random.integer(1, 15_000));
    if (action === "outage") database.unavailableUntil = world.now + random.integer(1, 20_000);
    if (--actions > 0) world.schedule(fate, random.integer(0, 5000), act);
  };
  act();
  await world.runUntil(() => actions === 0, Number.POSITIVE_INFINITY);

  calm = true;
  faults.rate = 0;
  database.unavailableUntil = 0;
  start();
  void processes.at(-1)?.sync(keys);
  const done = () => keys.every((key) => (book.accounts.get(key)?.page ?? 0) >= PAGES);
  const ended = await world.runUntil(done, LONGEST_CALM_MS);
  if (!ended && world.violation === null)
    world.violate("every subject comes to its end", JSON.stringify([...book.accounts]));
  for (const { lane } of processes) world.close(lane);
  database.close();
  const { changes, refusals, takeovers, resets } = book;
  return { violation: world.violation, trace: world.trace, changes, refusals, takeovers, resets };
}
