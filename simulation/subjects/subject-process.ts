import { StoreError } from "../../src/errors.ts";
import { Store } from "../../src/store/store.ts";
import { parseSettings } from "../../src/subjects/dispatcher-settings.ts";
import { SubjectDispatcher } from "../../src/subjects/subject-dispatcher.ts";
import { SubjectLedger } from "../../src/subjects/subject-ledger.ts";
import { SubjectLoop } from "../../src/subjects/subject-loop.ts";
import type { HandleSubject, SubjectState } from "../../src/subjects/subject-state.ts";
import { SimulatedClock } from "../machines/simulated-clock.ts";
import { SimulatedConnection } from "../machines/simulated-connection.ts";
import { createSubjectStatements } from "../machines/simulated-subjects.ts";
import { Lane } from "../world.ts";
import type { SubjectWorld } from "./simulate-subjects.ts";

export interface Cursor {
  readonly page: number;
}

export const PAGES = 4;
const LEASE_MS = 6000;
const SILENT = { info: () => {}, warn: () => {}, error: () => {} };

/** A process that handles subjects by itself, and in which operators claim and change some by hand. */
export class SubjectProcess {
  readonly lane: Lane;
  readonly dispatcher: SubjectDispatcher<Cursor>;
  readonly loop: SubjectLoop;
  readonly #surroundings: SubjectWorld;

  constructor(name: string, surroundings: SubjectWorld) {
    const { world, database, hooks, instances, faults, wakeups, book, options } = surroundings;
    this.#surroundings = surroundings;
    this.lane = new Lane(name);
    const clock = new SimulatedClock(world, this.lane);
    clock.skew = world.random.integer(-3_600_000, 3_600_000);
    const connection = new SimulatedConnection({
      world,
      database,
      book: hooks,
      instances,
      faults,
      lane: this.lane,
      simulation: options,
      interpose: undefined,
      clock,
      wakeups: wakeups.join(this.lane, world.random.chance(0.7)),
      stall: () => this.freeze(world.random.integer(1, LEASE_MS * 2)),
      crash: (reason) => this.kill(reason),
    });
    const subjects = createSubjectStatements(connection.wire, database.engine.subjects, { book, process: name });
    const engine = new Proxy(connection, {
      get: (target, property) => (property === "subjects" ? subjects : Reflect.get(target, property, target)),
    });
    const store = new Store({ engine, randomness: world.random.fork(), logger: SILENT });
    const settings = parseSettings({ retries: { delay: "1 second", maxDelay: "20 seconds" } });
    const scope = { profile: "simulated", dispatcherId: "pages" };
    const ledger = new SubjectLedger({ ...scope, owner: name, settings, store: async () => store });
    this.dispatcher = new SubjectDispatcher<Cursor>(ledger);
    this.loop = new SubjectLoop({
      ledger,
      store,
      handle: ((subject, context) => this.#handle(subject as SubjectState<Cursor>, context)) as HandleSubject,
      limit: world.random.integer(1, 4),
      leaseMs: LEASE_MS,
      concurrency: world.random.integer(1, 4),
      everyMs: 30_000,
      prepare: async () => {},
      onProgress: () => {},
    });
  }

  kill(reason: string): void {
    this.#surroundings.world.note(this.lane.name, `killed: ${reason}`);
    this.#surroundings.world.close(this.lane);
  }

  freeze(milliseconds: number): void {
    this.#surroundings.world.note(this.lane.name, `stands still for ${milliseconds} ms`);
    this.lane.frozenUntil = this.#surroundings.world.now + milliseconds;
  }

  /** Claims by hand, works for a while, possibly for too long, and writes the outcome. */
  async claimByHand(): Promise<void> {
    const { world } = this.#surroundings;
    await this.#tolerant(async () => {
      const claimed = await this.dispatcher.claimDueSubjects({ limit: world.random.integer(1, 3), leaseMs: LEASE_MS });
      for (const one of claimed) {
        let { revision } = one;
        const { subjectKey } = one;
        const page = (one.cursor?.page ?? 0) + 1;
        await world.delay(this.lane, world.random.integer(0, LEASE_MS * 2));
        if (world.random.chance(0.5)) {
          const extension = world.random.chance(0.5) ? { leaseMs: LEASE_MS } : {};
          const askedAt = world.now;
          ({ revision } = await this.dispatcher.checkpointSubject({
            subjectKey,
            revision,
            cursor: { page },
            ...extension,
          }));
          this.#surroundings.book.acknowledged(subjectKey, page, askedAt);
          await world.delay(this.lane, world.random.integer(0, LEASE_MS * 2));
        }
        const end = world.random.pick(["complete", "fail", "release", "leave"] as const);
        const nextDueAt = world.now + world.random.integer(0, 10_000);
        if (end === "complete")
          await this.dispatcher.completeSubject({ subjectKey, revision, cursor: { page }, nextDueAt });
        if (end === "fail") await this.dispatcher.failSubject({ subjectKey, revision, error: "by hand" });
        if (end === "release") await this.dispatcher.releaseSubject({ subjectKey, revision });
      }
    });
  }

  async sync(keys: readonly string[]): Promise<void> {
    const { random } = this.#surroundings.world;
    const subjects = keys.map((subjectKey) => ({
      subjectKey,
      meta: random.integer(1, 3),
      group: random.pick(["a", "b", null]),
      cursor: { page: 1 },
    }));
    const retire = random.chance(0.1);
    const keepProgress = this.#surroundings.calm() || random.chance(0.6);
    await this.#tolerant(() => this.dispatcher.syncSubjects({ subjects, keepProgress, retire }));
  }

  /** One page after the other, each of which takes its time, and may go wrong. */
  async #handle(
    { subjectKey, cursor }: SubjectState<Cursor>,
    { checkpoint, signal }: { checkpoint(cursor: Cursor): Promise<void>; signal: AbortSignal },
  ): Promise<undefined> {
    const { world, book, calm } = this.#surroundings;
    for (let page = cursor?.page ?? 1; page < PAGES; page++) {
      await world.delay(this.lane, world.random.integer(0, LEASE_MS));
      if (!calm() && world.random.chance(0.1)) throw new Error("the API is down");
      if (!calm() && world.random.chance(0.03)) this.kill("by its handler");
      if (world.random.chance(0.7)) signal.throwIfAborted(); // others don't care
      const askedAt = world.now;
      await checkpoint({ page: page + 1 });
      book.acknowledged(subjectKey, page + 1, askedAt);
    }
  }

  /** Conflicts and an unreachable database are expected; no other error is. */
  async #tolerant(body: () => Promise<unknown>): Promise<void> {
    try {
      await body();
    } catch (error) {
      if (error instanceof StoreError || (error as { code?: string }).code === "subject.revision_conflict") return;
      this.#surroundings.world.violate("only the store fails", String(error));
    }
  }
}
