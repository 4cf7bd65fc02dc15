import type { Clock } from "../clock.ts";
import type { Logger } from "../logger.ts";
import { Meter } from "../monitoring/meters/meter.ts";
import type { Randomness } from "../randomness.ts";
import type { Engine } from "./engine.ts";
import { StoredHooks } from "./hooks/stored-hooks.ts";
import { createIdGenerator } from "./identifiers.ts";
import { StoredInstances } from "./instances/stored-instances.ts";
import { Rounds } from "./queue/rounds.ts";
import { WorkBoard } from "./queue/work-board.ts";
import { StoredStreams } from "./streams/stored-streams.ts";
import { StoredSubjects } from "./subjects/stored-subjects.ts";
import { StoredWorkers } from "./workers/stored-workers.ts";

export interface StoreOptions {
  readonly engine: Engine;
  readonly randomness: Randomness;
  readonly logger: Logger;
  readonly stackTraces?: boolean;
}

/** One database, as the concepts use it. Everything that shares a database in a process shares its store. */
export class Store {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly logger: Logger;
  /** Whether operators and the log see where errors were thrown. */
  readonly stackTraces: boolean;
  readonly createId: () => string;
  readonly hooks: StoredHooks;
  readonly instances: StoredInstances;
  readonly subjects: StoredSubjects;
  readonly streams: StoredStreams;
  readonly work: WorkBoard;
  readonly workers: StoredWorkers;
  readonly rounds: Rounds;
  readonly meter: Meter;

  constructor({ engine, randomness, logger, stackTraces = true }: StoreOptions) {
    this.engine = engine;
    this.clock = engine.clock;
    this.randomness = randomness;
    this.logger = logger;
    this.stackTraces = stackTraces;
    this.createId = createIdGenerator(engine.clock, randomness);
    this.meter = new Meter(engine.clock);
    this.hooks = new StoredHooks(engine, this.meter);
    this.instances = new StoredInstances(engine, this.meter);
    this.subjects = new StoredSubjects(engine);
    this.streams = new StoredStreams(engine);
    this.work = new WorkBoard(engine.wakeups);
    this.rounds = new Rounds(engine.clock);
    this.workers = new StoredWorkers(engine.workers, engine.clock);
  }

  async close(): Promise<void> {
    await Promise.all([this.hooks.idle(), this.instances.idle(), this.subjects.idle(), this.streams.idle()]);
    await this.engine.close();
    this.work.close();
  }
}

/**
 * A database that a user chose: made by `sqlite(...)` or `postgres(...)`. The code that made it closes it, after the
 * dispatchers and applications that use it were stopped.
 *
 * @example
 * await using databaseAdapter = sqlite("app.db");
 * const fragment = instantiate(definition).withConfig({}).withOptions({ databaseAdapter }).build();
 */
export interface DatabaseAdapter extends AsyncDisposable {
  /** @internal */
  readonly store: Store;
  /**
   * Waits for what is being written, and closes the file or the connections that the adapter opened. A database or a pool that
   * you gave it stays open. Calls after that are refused with `store.closed`; a second close does nothing.
   */
  close(): Promise<void>;
}

export function createAdapter(store: Store): DatabaseAdapter {
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= store.close();
    return closing;
  };
  return { store, close, [Symbol.asyncDispose]: close };
}
