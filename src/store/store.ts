import type { Clock } from "../clock.ts";
import { createIdGenerator } from "../identifiers.ts";
import type { Logger } from "../logger.ts";
import type { Randomness } from "../randomness.ts";
import type { Engine } from "./engine.ts";
import { StoredHooks } from "./stored-hooks.ts";
import { StoredInstances } from "./stored-instances.ts";
import { StoredStreams } from "./stored-streams.ts";
import { StoredSubjects } from "./stored-subjects.ts";
import { WorkBoard } from "./work-board.ts";

export interface StoreOptions {
  readonly engine: Engine;
  readonly randomness: Randomness;
  readonly logger: Logger;
}

/** One database, as the concepts use it. Everything that shares a database in a process shares its store. */
export class Store {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly logger: Logger;
  readonly createId: () => string;
  readonly hooks: StoredHooks;
  readonly instances: StoredInstances;
  readonly subjects: StoredSubjects;
  readonly streams: StoredStreams;
  readonly work: WorkBoard;

  constructor({ engine, randomness, logger }: StoreOptions) {
    this.engine = engine;
    this.clock = engine.clock;
    this.randomness = randomness;
    this.logger = logger;
    this.createId = createIdGenerator(engine.clock, randomness);
    this.hooks = new StoredHooks(engine);
    this.instances = new StoredInstances(engine);
    this.subjects = new StoredSubjects(engine);
    this.streams = new StoredStreams(engine);
    this.work = new WorkBoard(engine.wakeups);
  }

  async close(): Promise<void> {
    await Promise.all([this.hooks.idle(), this.instances.idle(), this.subjects.idle(), this.streams.idle()]);
    await this.engine.close();
    this.work.close();
  }
}

/** A database that a user chose: made by `sqlite(...)` or `postgres(...)`. */
export interface DatabaseAdapter {
  readonly store: Store;
}
