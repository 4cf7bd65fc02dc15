import { CommitOutcomeUnknownError } from "../../src/errors.ts";
import type { Dialect } from "../../src/store/dialect.ts";
import type { Engine, EngineTransaction, TransactionOptions } from "../../src/store/engine.ts";
import type { ForeignInstances, ForeignStatement, ForeignTransaction } from "../../src/store/foreign-transaction.ts";
import type { HookInsert } from "../../src/store/hooks/hook-records.ts";
import type { HookStatements, InsertResult } from "../../src/store/hooks/hook-statements.ts";
import { triggerRelay } from "../../src/store/hooks/relay.ts";
import type { InstanceStatements } from "../../src/store/instances/instance-statements.ts";
import type { AppliedMigration } from "../../src/store/migration.ts";
import type { RequestStatements } from "../../src/store/request-statements.ts";
import type { ScheduleStatements } from "../../src/store/schedules/schedule-statements.ts";
import { schemaMigrations } from "../../src/store/sqlite/schema.ts";
import type { StreamStatements } from "../../src/store/streams/stream-statements.ts";
import type { SubjectStatements } from "../../src/store/subjects/subject-statements.ts";
import type { WorkerStatements } from "../../src/store/workers/worker-statements.ts";
import type { HookBook } from "../books/hook-book.ts";
import type { InstanceBook } from "../books/instance-book.ts";
import type { SimulationOptions } from "../simulation-options.ts";
import { readHooks, readInstances } from "./older-process.ts";
import type { SimulatedClock } from "./simulated-clock.ts";
import { createInstanceStatements } from "./simulated-instances.ts";
import { createScheduleStatements } from "./simulated-schedules.ts";
import { createStatements } from "./simulated-statements.ts";
import { createStreamStatements } from "./simulated-streams.ts";
import { createSubjectStatements } from "./simulated-subjects.ts";
import type { SimulatedWakeups } from "./simulated-wakeups.ts";
import { never, unavailable, Wire, type WireOptions } from "./wire.ts";

export interface ConnectionOptions extends WireOptions {
  readonly book: HookBook;
  readonly instances: InstanceBook;
  readonly clock: SimulatedClock;
  readonly wakeups: SimulatedWakeups;
  readonly simulation: SimulationOptions;
}

/** What a transaction has done so far. */
interface Doing {
  /** For the books, when it is committed. */
  readonly records: (() => void)[];
  /** To be done again, when the commit arrives later. */
  readonly statements: ((transaction: EngineTransaction) => Promise<unknown>)[];
  /** How much later that is at most. */
  lateMs: number;
}

/** How late a commit can arrive. One that settles a hook may come when another process has the hook. */
const LATE_MS = 3000;
const LATE_SETTLEMENT_MS = 40_000;

/** One process' connection to the database. */
export class SimulatedConnection implements Engine {
  readonly dialect: Dialect = "sqlite";
  readonly flushesInFlight: number;
  readonly clock: SimulatedClock;
  readonly hooks: HookStatements;
  readonly instances: InstanceStatements;
  readonly schedules: ScheduleStatements;
  readonly streams: StreamStatements;
  readonly subjects: SubjectStatements;
  readonly requests: RequestStatements;
  readonly jobs: Engine["jobs"];
  readonly workers: WorkerStatements;
  readonly backlog: Engine["backlog"];
  readonly wakeups: SimulatedWakeups;
  readonly schemaMigrations = schemaMigrations;
  readonly wire: Wire;
  readonly #options: ConnectionOptions;
  /** By the parameters that they were given out with. */
  readonly #foreignInserts = new Map<ForeignStatement["parameters"], HookInsert>();

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.clock = options.clock;
    this.wakeups = options.wakeups;
    this.flushesInFlight = options.world.random.integer(1, 2);
    this.wire = new Wire(options);
    const { wrapEngine, wrapHooks, wrapInstances, wrapStreams } = options.simulation;
    const { engine } = options.database;
    const stored = wrapEngine?.(engine.instances, (text) => options.database.read(text)) ?? engine.instances;
    const { name } = options.lane;
    const instances = readInstances(
      createInstanceStatements(this.wire, stored, options.instances),
      options.instances,
      name,
    );
    this.instances = wrapInstances?.(instances) ?? instances;
    const streams = wrapStreams?.(engine.streams) ?? engine.streams;
    this.schedules = createScheduleStatements(this.wire, engine.schedules, options.instances.schedules);
    this.streams = createStreamStatements(this.wire, streams, options.instances.streams);
    this.requests = engine.requests;
    this.jobs = engine.jobs;
    this.workers = engine.workers;
    this.backlog = engine.backlog;
    this.subjects = createSubjectStatements(this.wire, engine.subjects);
    const hooks = createStatements(this.wire, options.world, options.database, options.book);
    const read = readHooks(hooks, options.book, options.instances, name);
    this.hooks = wrapHooks?.(read) ?? read;
  }

  refuseNesting(): void {}

  /** Like PostgreSQL: a trigger with a key is relayed. */
  foreignInsert(hook: HookInsert): ForeignStatement {
    const insert = hook.key === null ? hook : triggerRelay(hook).hook;
    const foreign = this.#options.database.engine.foreignInsert(insert);
    this.#foreignInserts.set(foreign.parameters, insert);
    return foreign;
  }

  foreignInstances(transaction: ForeignTransaction): ForeignInstances {
    return this.#options.database.engine.foreignInstances(transaction);
  }

  /** If an owner's commit breaks, the owner gets no answer; the commit may arrive later, or never. */
  async transaction<Result>(
    body: (transaction: EngineTransaction) => Promise<Result>,
    { owned = false }: TransactionOptions = {},
  ): Promise<Result> {
    const { database, world, lane, faults } = this.#options;
    const sent = await this.wire.arrive("transaction");
    const { fault } = sent;
    if (fault === "broken" && !owned) return this.wire.fail(unavailable());
    await world.delay(lane, faults.latency()); // it has begun; no caller waits for it yet
    const doing: Doing = { records: [], statements: [], lateMs: LATE_MS };
    const record = () => {
      for (const one of doing.records.splice(0)) one();
    };
    const commit = () =>
      database.engine.transaction(async (transaction) => {
        const died = new Promise<never>((_, reject) => this.#onDeath.push(() => reject(new Error("simulated: gone"))));
        if (lane.closed) this.#die();
        const result = await Promise.race([body(this.#recording(transaction, doing)), died]);
        if (fault === "broken") throw new CommitOutcomeUnknownError();
        if (fault === "crash-middle") this.wire.crash("before a commit");
        if (lane.closed) await died;
        return result;
      });
    try {
      const result = await database.run(commit, record);
      world.note(lane.name, `transaction committed${fault === "none" ? "" : ` (${fault})`}`);
      return await this.wire.reply(sent, result, () => new CommitOutcomeUnknownError());
    } catch (error) {
      if (lane.closed) return never();
      if (error instanceof CommitOutcomeUnknownError && fault === "broken") this.#arriveLate(doing, record);
      throw error;
    }
  }

  /** The commit was on its way when its owner gave it up. */
  #arriveLate({ statements, lateMs }: Doing, record: () => void): void {
    const { database, world, lane } = this.#options;
    if (world.random.chance(0.5)) return;
    const perform = () =>
      database.engine.transaction(async (transaction) => {
        for (const statement of statements) await statement(transaction);
      });
    void world
      .delay(database.lane, world.random.integer(0, lateMs))
      .then(() => database.run(perform, record))
      .then(
        () => world.note(lane.name, "transaction committed late"),
        () => world.note(lane.name, "transaction that came late is refused"),
      );
  }

  readonly #onDeath: (() => void)[] = [];

  /** The database notices that the process is gone, and rolls its transaction back. */
  died(): void {
    this.#die();
  }

  migrate(): Promise<void> {
    return Promise.reject(new Error("The simulated database is migrated before the processes start."));
  }

  appliedMigrations(): Promise<AppliedMigration[]> {
    return this.#options.database.engine.appliedMigrations();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #die(): void {
    for (const tell of this.#onDeath.splice(0)) tell();
  }

  #recording(engine: EngineTransaction, doing: Doing): EngineTransaction {
    const { records, statements } = doing;
    const { simulation, database, instances } = this.#options;
    const wrap = (one: EngineTransaction) => simulation.wrapTransaction?.(one, (text) => database.read(text)) ?? one;
    const transaction = wrap(engine);
    const { world, lane, faults, book } = this.#options;
    const answer = async <Result>(result: Result): Promise<Result> => {
      await world.delay(lane, faults.latency());
      return result;
    };
    return {
      client: transaction.client,
      interrupted: false,
      commitInstance: async (commit) => {
        const result = await transaction.commitInstance(commit);
        let [written, late] = [result, false];
        records.push(() => {
          instances.commits.committed([commit], [written], false);
          instances.ledger.committed(commit, written, late);
        });
        statements.push(async (later) => {
          [written, late] = [await wrap(later).commitInstance(commit), true];
          if (written.result === "superseded") throw new Error("simulated: superseded");
        });
        return answer(result);
      },
      query: async (text, parameters) => {
        const rows = await transaction.query(text, parameters);
        statements.push((late) => late.query(text, parameters));
        const hook = this.#foreignInserts.get(parameters);
        if (hook !== undefined) {
          const result: InsertResult = { result: "inserted", id: hook.id, at: world.now };
          records.push(() => book.inserted([hook], [result]));
        }
        return answer(rows);
      },
      insertHooks: async (hooks) => {
        const results = await transaction.insertHooks(hooks);
        records.push(() => book.inserted(hooks, results));
        return answer(results);
      },
      settleHooks: async (settlements) => {
        const results = await transaction.settleHooks(settlements);
        doing.lateMs = LATE_SETTLEMENT_MS;
        let [written, at, late] = [results, world.now, false];
        records.push(() => {
          const keys = settlements.map((settlement) => book.keyOf(settlement));
          book.settled(settlements, written, { at, mayBeResent: false });
          for (const [index, key] of keys.entries()) book.runs.ledger.committed(key, written[index] ?? "lost", late);
        });
        statements.push(async (later) => {
          [written, at, late] = [await wrap(later).settleHooks(settlements), world.now, true];
          if (written.includes("lost")) throw new Error("simulated: superseded");
        });
        return answer(results);
      },
      takeRelays: async (relay) => {
        const taken = await transaction.takeRelays(relay);
        const settlement = { ...relay, keyed: false, outcome: { kind: "completed", keepMs: 0 } } as const;
        const at = world.now;
        const result = taken.length === 0 ? "lost" : "deleted";
        records.push(() => book.settled([settlement], [result], { at, mayBeResent: false }));
        return answer(taken);
      },
      insertInstances: async (instances) => {
        const results = await transaction.insertInstances(instances);
        records.push(() => this.#options.instances.inserted(instances, results));
        return answer(results);
      },
      sendEvents: async (events) => answer(await transaction.sendEvents(events)),
      joinLines: async (refs) => answer(await transaction.joinLines(refs)),
    };
  }
}
