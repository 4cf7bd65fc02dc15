import type { BodyRun } from "./books/body-book.ts";
import { HookBook } from "./books/hook-book.ts";
import type { InstanceAccount } from "./books/instance-account.ts";
import { InstanceBook } from "./books/instance-book.ts";
import type { Run } from "./books/run-book.ts";
import { checkEnd } from "./checks/check-end.ts";
import { checkProgress, checkSchedules } from "./checks/check-progress.ts";
import { Faults } from "./machines/faults.ts";
import { SimulatedDatabase } from "./machines/simulated-database.ts";
import { type Role, SimulatedProcess, type Surroundings } from "./machines/simulated-process.ts";
import { WakeupNetwork } from "./machines/simulated-wakeups.ts";
import { drawProfile, type Profile } from "./profile.ts";
import { SeededRandomness } from "./random.ts";
import type { SimulationOptions } from "./simulation-options.ts";
import { askOlder, operate } from "./workloads/instance-calls.ts";
import { OpposedWriters } from "./workloads/opposed-writers.ts";
import { operateSchedule } from "./workloads/schedule-calls.ts";
import { WorkflowWorkload } from "./workloads/workflow-workload.ts";
import { Workload } from "./workloads/workload.ts";
import { Lane, type Violation, World } from "./world.ts";

export interface SimulationResult {
  readonly seed: number;
  readonly violation: Violation | null;
  readonly trace: readonly string[];
  readonly statistics: SimulationStatistics;
  /** The outcome of each workflow instance. */
  readonly instances: readonly InstanceAccount[];
}

export interface SimulationStatistics {
  readonly events: number;
  /** Of the database. */
  readonly calls: number;
  readonly virtualMs: number;
  readonly triggers: number;
  readonly runs: number;
  readonly instances: number;
  /** Calls of steps' functions. */
  readonly bodies: number;
  readonly deadLetters: number;
  readonly processes: number;
  readonly sentAgainTooLate: number;
  /** Hooks that were completed in transactions. */
  readonly transactions: number;
}

/** Everything must end within this time once the faults have stopped. */
const LONGEST_CALM_MS = 2 * 3_600_000;
const RESTART_MS = 1000;
const TICK_MS = 2000;
/** How long schedules fire after the faults have stopped. */
const SCHEDULED_MS = 120_000;
/** Every call is answered within this time. */
const LAST_ANSWERS_MS = 1000;

/** Makes the world of a seed, runs it until everything that was requested is done, and returns what went wrong. */
export async function simulate(seed: number, options: SimulationOptions = {}): Promise<SimulationResult> {
  const simulation = new Simulation(seed, options);
  try {
    return await simulation.run(seed);
  } finally {
    simulation.close();
  }
}

class Simulation {
  readonly #world: World;
  readonly #profile: Profile;
  readonly #options: SimulationOptions;
  readonly #faults: Faults;
  readonly #book: HookBook;
  readonly #instances: InstanceBook;
  readonly #database: SimulatedDatabase;
  readonly #surroundings: Surroundings;
  readonly #workload: Workload;
  readonly #workflows: WorkflowWorkload;
  readonly #writers: OpposedWriters;
  readonly #fate = new Lane("fate");
  readonly #processes: SimulatedProcess[] = [];
  #actionsLeft: number;
  #calm = false;

  constructor(seed: number, options: SimulationOptions) {
    const world = new World(seed);
    const profile = { ...drawProfile(seed, world.random), ...options.profile };
    const isAlive = (token: string) => this.#find(token)?.lane.closed === false;
    this.#world = world;
    this.#profile = profile;
    this.#options = options;
    this.#faults = new Faults(world.random.fork(), profile.faultRate, options.faultAt);
    this.#book = new HookBook(world, isAlive);
    this.#instances = new InstanceBook(world, isAlive, this.#book);
    this.#instances.endings.tells = profile.told;
    this.#instances.versions.mixed = profile.mixed;
    this.#database = new SimulatedDatabase(world, this.#book, this.#instances, options);
    this.#workload = new Workload(world.random.fork(), profile);
    this.#workflows = new WorkflowWorkload(world.random.fork(), profile);
    this.#writers = new OpposedWriters(new SeededRandomness(seed));
    this.#actionsLeft = profile.actions;
    this.#surroundings = {
      world,
      profile,
      options,
      database: this.#database,
      book: this.#book,
      instances: this.#instances,
      faults: this.#faults,
      wakeups: new WakeupNetwork(world, this.#faults),
      isGone: (owner) =>
        options.rashProcesses === true || (profile.sameMachine && this.#find(`${owner}#`)?.lane.closed === true),
      watchOverlap: (earlier, later) => this.#watchOverlap(earlier, later),
    };
  }

  async run(seed: number): Promise<SimulationResult> {
    const world = this.#world;
    world.note("world", `seed ${seed}: ${JSON.stringify(this.#profile)}`);
    await this.#database.migrate();
    for (let count = 0; count < this.#profile.processes; count++) this.#startProcess(this.#usual);
    if (this.#profile.ticking) this.#tick();
    if (this.#options.scenario === undefined) {
      this.#scheduleAction();
      await world.runUntil(() => this.#actionsLeft === 0, Number.POSITIVE_INFINITY);
    } else await this.#play(this.#options.scenario);
    this.#calmDown();
    await world.runUntil(() => this.#isIdle(), LONGEST_CALM_MS);
    if (this.#options.scenario !== undefined) {
      await world.runUntil(() => false, LAST_ANSWERS_MS);
      await world.runUntil(() => this.#isIdle(), LONGEST_CALM_MS);
    }
    if (world.violation === null) await checkEnd(this.#surroundings);
    const instances = [...this.#instances.accounts.values()];
    return { seed, violation: world.violation, trace: world.trace, statistics: this.#statistics(), instances };
  }

  close(): void {
    for (const { lane } of this.#processes) this.#world.close(lane);
    this.#database.close();
  }

  #find(token: string): SimulatedProcess | undefined {
    return this.#processes.find(({ name }) => token.startsWith(`${name}#`));
  }

  get #alive(): SimulatedProcess[] {
    return this.#processes.filter(({ lane }) => !lane.closed);
  }

  /** The role of most processes. */
  get #usual(): Role {
    return this.#profile.ticking && !this.#calm ? "client" : "worker";
  }

  /** Something outside triggers drains, again and again. */
  #tick(): void {
    this.#world.schedule(this.#fate, this.#world.random.integer(0, TICK_MS), () => {
      if (this.#calm) return;
      this.#startProcess("errand");
      this.#tick();
    });
  }

  #startProcess(role: Role): void {
    const process = new SimulatedProcess(`p${this.#processes.length + 1}`, role, this.#surroundings);
    this.#processes.push(process);
    process.start();
  }

  async #play(scenario: NonNullable<SimulationOptions["scenario"]>): Promise<void> {
    let over = false;
    this.#startProcess("client");
    const client = this.#processes.at(-1) as SimulatedProcess;
    this.#world.schedule(this.#fate, 0, () => {
      void scenario(client).finally(() => {
        over = true;
      });
    });
    await this.#world.runUntil(() => over, LONGEST_CALM_MS);
  }

  #scheduleAction(): void {
    this.#world.schedule(this.#fate, this.#world.random.integer(0, this.#profile.longestPauseMs), () => {
      this.#act();
      if (--this.#actionsLeft > 0) this.#scheduleAction();
    });
  }

  #act(): void {
    const { random } = this.#world;
    const alive = this.#alive;
    if (this.#profile.mixed) askOlder(this.#surroundings, alive);
    if (this.#profile.opposed && this.#profile.subject !== "hooks") this.#writers.act(alive);
    const process = alive.length === 0 ? undefined : random.pick(alive);
    const action = random.weighted({
      work: 30,
      start: 3,
      errand: 1,
      stop: 1,
      kill: 2,
      freeze: 2,
      jump: 1,
      outage: 1,
      wake: 2,
    });
    if (process === undefined) return this.#startProcess(this.#usual);
    switch (action) {
      case "start":
        if (alive.length > this.#profile.processes) return;
        return this.#startProcess(random.chance(0.25) ? "client" : this.#usual);
      case "errand":
        return this.#startProcess("errand");
      case "stop":
        if (!process.works) return;
        return void process.stop(random.pick([0, 500, 10_000]));
      case "kill":
        return process.kill("by fate");
      case "freeze":
        return process.freeze(random.integer(1, this.#profile.leaseMs * 2));
      case "jump":
        process.clock.skew += random.integer(-3_600_000, 3_600_000);
        return this.#world.note(process.name, `its clock is ${process.clock.skew} ms wrong now`);
      case "outage":
        return this.#breakDatabase(random.integer(1, 45_000), random.chance(0.3));
      case "wake":
        this.#world.note(process.name, "is woken for nothing");
        return process.loop.wake();
      default:
        return this.#work(process);
    }
  }

  #work(process: SimulatedProcess): void {
    const { subject } = this.#profile;
    const hooks = subject === "both" ? this.#world.random.chance(0.5) : subject === "hooks";
    if (hooks) this.#workload.act(process);
    else this.#workflows.act(process);
  }

  #breakDatabase(milliseconds: number, journalOnly: boolean): void {
    if (journalOnly) {
      this.#world.note("database", `refuses journals for ${2 * milliseconds} ms`);
      this.#database.journalRefusedUntil = this.#world.now + 2 * milliseconds;
      return;
    }
    this.#world.note("database", `is away for ${milliseconds} ms`);
    this.#database.unavailableUntil = this.#world.now + milliseconds;
  }

  /** The faults stop; handlers may still end their processes, which are started again. */
  #calmDown(): void {
    this.#world.note("world", "the faults stop");
    this.#calm = true;
    this.#instances.versions.rolledOut = true;
    this.#faults.rate = 0;
    this.#database.unavailableUntil = 0;
    this.#database.journalRefusedUntil = 0;
    for (const { lane } of this.#alive) lane.frozenUntil = 0;
    const calmSince = this.#world.now;
    const keepRunning = () => {
      while (this.#processes.filter(({ works }) => works).length < this.#profile.processes)
        this.#startProcess("worker");
      checkProgress(this.#surroundings, this.#processes, calmSince);
      this.#resumePaused();
      checkSchedules(this.#surroundings, this.#processes, calmSince);
      if (this.#world.now > calmSince + SCHEDULED_MS) this.#pauseSchedules();
      if (this.#options.scenario === undefined) this.#workflows.startOver(this.#processes.find(({ works }) => works));
      this.#world.schedule(this.#fate, RESTART_MS, keepRunning);
    };
    keepRunning();
  }

  /** Paused instances are resumed, so that they can end. */
  #resumePaused(): void {
    const process = this.#processes.find(({ works }) => works);
    for (const account of this.#instances.accounts.values()) {
      if (process === undefined || account.state !== "live" || !account.paused) continue;
      if (this.#world.random.chance(0.1)) void operate(process, account, "resume");
    }
  }

  /** Endless workflows are ended, too. */
  #pauseSchedules(): void {
    const process = this.#processes.find(({ works }) => works);
    const firing = [...this.#instances.schedules.accounts.values()].find(({ paused }) => !paused);
    if (process !== undefined && firing !== undefined) void operateSchedule(process, "pause", firing.workflow);
  }

  /** An owner that has lost a hook learns it as soon as possible, and may then ignore the result. */
  #watchOverlap(earlier: Run | BodyRun, later: Run | BodyRun): void {
    const { lane } = this.#find(`${earlier.process}#`) as SimulatedProcess;
    if (lane.closed) return;
    const thawed = Math.max(lane.frozenUntil - this.#world.now, 0);
    // An instance that was restarted has a new owner long before the old one's lease is over.
    const lease = "ref" in earlier ? this.#profile.leaseMs : 0;
    this.#world.schedule(lane, thawed + lease + this.#profile.leaseMs / 6 + 1, () => {
      if (lane.frozenUntil > this.#world.now) return this.#watchOverlap(earlier, later);
      if (earlier.ending !== "running" || earlier.aborted()) return;
      const details = `${earlier.key} runs in ${earlier.process} and in ${later.process}`;
      this.#world.violate("at most one owner", `${details}, and the first was not told to stop`);
    });
  }

  /** Nothing is waiting any more, and no process is about to write. */
  #isIdle(): boolean {
    for (const { state } of this.#book.accounts.values()) if (state === "live") return false;
    for (const { state } of this.#instances.accounts.values()) if (state === "live") return false;
    for (const { paused } of this.#instances.schedules.accounts.values()) if (!paused) return false;
    for (const { process } of this.#instances.asked) if (this.#find(`${process}#`)?.lane.closed === false) return false;
    for (const { answer, process } of this.#book.triggers.values()) {
      if (answer === "asked" && this.#find(`${process}#`)?.lane.closed === false) return false;
    }
    return true;
  }

  #statistics(): SimulationStatistics {
    const accounts = [...this.#book.accounts.values()];
    return {
      events: this.#world.steps,
      calls: this.#faults.calls,
      virtualMs: this.#world.age,
      triggers: this.#book.triggers.size,
      runs: this.#book.runs.runs.length,
      instances: this.#instances.accounts.size,
      bodies: this.#instances.bodies.runs.length,
      deadLetters: accounts.filter(({ state }) => state === "failed").length,
      processes: this.#processes.length,
      sentAgainTooLate: this.#book.sentAgainTooLate,
      transactions: this.#book.runs.ledger.size,
    };
  }
}
