import { Application } from "../src/app/perdure.ts";
import { createDurableHooksProcessor } from "../src/fragment/create-processor.ts";
import { defineFragment } from "../src/fragment/define-fragment.ts";
import type { Fragment } from "../src/fragment/fragment.ts";
import { instantiate } from "../src/fragment/instantiate.ts";
import type { Logger } from "../src/logger.ts";
import { DispatchLoop } from "../src/queue/dispatch-loop.ts";
import type { Processor } from "../src/queue/processor.ts";
import { Store } from "../src/store/store.ts";
import type { Faults } from "./faults.ts";
import { createHooks, DEFAULT_LIMIT, type SimulatedHooks } from "./handlers.ts";
import type { HookBook } from "./hook-book.ts";
import { NAMESPACE } from "./names.ts";
import type { Profile } from "./profile.ts";
import { SimulatedClock } from "./simulated-clock.ts";
import { SimulatedConnection } from "./simulated-connection.ts";
import type { SimulatedDatabase } from "./simulated-database.ts";
import type { WakeupNetwork } from "./simulated-wakeups.ts";
import type { TriggerRecord } from "./trigger-record.ts";
import { Lane, type World } from "./world.ts";

/** What all processes of a world share. */
export interface Surroundings {
  readonly world: World;
  readonly database: SimulatedDatabase;
  readonly book: HookBook;
  readonly faults: Faults;
  readonly wakeups: WakeupNetwork;
  readonly profile: Profile;
  /** Whether the process that holds this token is known to have ended. */
  readonly isGone: (owner: string) => boolean;
}

/** A process with a store, a dispatcher and handlers of its own: what it keeps in memory dies with it. */
export class SimulatedProcess {
  readonly name: string;
  readonly surroundings: Surroundings;
  readonly lane: Lane;
  readonly clock: SimulatedClock;
  readonly fragment: Fragment<SimulatedHooks, unknown>;
  readonly application: Application<SimulatedHooks>;
  readonly loop: DispatchLoop;
  stopping = false;
  readonly #connection: SimulatedConnection;

  constructor(name: string, surroundings: Surroundings) {
    const { world, database, book, faults, wakeups, profile, isGone } = surroundings;
    this.name = name;
    this.surroundings = surroundings;
    this.lane = new Lane(name);
    this.clock = new SimulatedClock(world, this.lane);
    this.clock.skew = world.random.chance(0.3) ? world.random.integer(-7_200_000, 7_200_000) : 0;
    const crash = (reason: string) => this.kill(reason);
    this.#connection = new SimulatedConnection({
      world,
      database,
      book,
      faults,
      lane: this.lane,
      clock: this.clock,
      wakeups: wakeups.join(this.lane, profile.connected),
      crash,
    });
    const logger = this.#logger();
    const store = new Store({ engine: this.#connection, randomness: world.random.fork(), logger });
    const definition = defineFragment(NAMESPACE)
      .provideHooks(() => createHooks(() => this))
      .build();
    const durableHooks = { stuckProcessingTimeoutMinutes: 1 };
    this.fragment = instantiate(definition).withOptions({ databaseAdapter: { store }, durableHooks }).build();
    this.application = new Application(this.fragment, null, false);
    this.loop = new DispatchLoop({
      processor: createDurableHooksProcessor(this.fragment) as Processor,
      owner: { name, isGone },
      concurrency: profile.concurrency,
      leaseMs: profile.leaseMs,
      pollIntervalMs: 2000,
      logger,
      onError: (error, { attempt }) => {
        if (attempt === null) world.note(name, `reports: ${error instanceof Error ? error.message : String(error)}`);
      },
    });
  }

  start(): void {
    this.surroundings.world.note(this.name, `starts${this.clock.skew === 0 ? "" : `, ${this.clock.skew} ms wrong`}`);
    this.loop.start();
  }

  /** At once and without a word. */
  kill(reason: string): void {
    if (this.lane.closed) return;
    this.surroundings.world.note(this.name, `killed: ${reason}`);
    this.#end();
  }

  /** Stands still, and doesn't notice. */
  freeze(milliseconds: number): void {
    this.surroundings.world.note(this.name, `stands still for ${milliseconds} ms`);
    this.lane.frozenUntil = this.surroundings.world.now + milliseconds;
  }

  /** As on SIGTERM. Afterwards it must own nothing, if the database could be told. */
  async stop(deadlineMs: number): Promise<void> {
    this.stopping = true;
    const { world } = this.surroundings;
    world.note(this.name, `stops within ${deadlineMs} ms`);
    await this.loop.stop(deadlineMs);
    world.note(this.name, "has stopped");
    this.#end();
  }

  /** Triggers a hook with an id of its own: however often, it happens once. */
  async triggerOnce(id: string): Promise<void> {
    const record = this.ask({ ownId: id });
    await this.application.hooks.work.trigger({ n: record.n, plan: record.plan }, { id });
    record.answer = "acknowledged";
  }

  /** Enters a trigger into the ledger before it is sent. */
  ask(trigger: Partial<TriggerRecord>): TriggerRecord {
    const { triggers } = this.surroundings.book;
    const record: TriggerRecord = {
      n: triggers.size + 1,
      process: this.name,
      name: "work",
      key: null,
      ownId: null,
      via: "trigger",
      processAt: null,
      maxAttempts: DEFAULT_LIMIT + 1,
      plan: ["succeed"],
      answer: "asked",
      accepted: false,
      ...trigger,
    };
    triggers.set(record.n, record);
    return record;
  }

  #end(): void {
    this.surroundings.world.close(this.lane);
    this.#connection.died();
  }

  #logger(): Logger {
    const note = (message: string) => this.surroundings.world.note(this.name, `logs: ${message}`);
    return { info: note, warn: note, error: note };
  }
}
