import { CommitOutcomeUnknownError, StoreError } from "../src/errors.ts";
import type { Dialect } from "../src/store/dialect.ts";
import type { Engine, EngineTransaction, HookStatements, InsertResult } from "../src/store/engine.ts";
import type { ForeignInsert } from "../src/store/foreign-transaction.ts";
import type { HookInsert } from "../src/store/hook-records.ts";
import type { AppliedMigration } from "../src/store/migration.ts";
import { toRelay } from "../src/store/relay.ts";
import { schemaMigrations } from "../src/store/sqlite/schema.ts";
import type { Fault, Faults } from "./faults.ts";
import type { HookBook } from "./hook-book.ts";
import type { SimulatedClock } from "./simulated-clock.ts";
import type { SimulatedDatabase } from "./simulated-database.ts";
import type { SimulatedWakeups } from "./simulated-wakeups.ts";
import type { Lane, World } from "./world.ts";

export interface ConnectionOptions {
  readonly world: World;
  readonly database: SimulatedDatabase;
  readonly book: HookBook;
  readonly faults: Faults;
  readonly lane: Lane;
  readonly clock: SimulatedClock;
  readonly wakeups: SimulatedWakeups;
  /** Makes the process stand still for a while. */
  readonly stall: () => void;
  /** Ends the process. */
  readonly crash: (reason: string) => void;
}

/** A call that has arrived. */
interface Sent {
  readonly fault: Fault;
  readonly sentAt: number;
}

const IN_TIME_MS = 1000;

/** One process' way to the database: every call takes its time, and may go wrong in every way that a network allows. */
export class SimulatedConnection implements Engine {
  readonly dialect: Dialect = "sqlite";
  readonly flushesInFlight: number;
  readonly clock: SimulatedClock;
  readonly hooks: HookStatements;
  readonly wakeups: SimulatedWakeups;
  readonly schemaMigrations = schemaMigrations;
  /** Whether all calls so far were answered in time. */
  unharmed = true;
  readonly #options: ConnectionOptions;
  /** By the parameters that they were given out with. */
  readonly #foreignInserts = new Map<ForeignInsert["parameters"], HookInsert>();

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.clock = options.clock;
    this.wakeups = options.wakeups;
    this.flushesInFlight = options.world.random.integer(1, 2);
    this.hooks = this.#statements();
  }

  refuseNesting(): void {}

  /** Like PostgreSQL: a trigger with a key is relayed. */
  foreignInsert(hook: HookInsert): ForeignInsert {
    const insert = hook.key === null ? hook : toRelay(hook);
    const foreign = this.#options.database.engine.foreignInsert(insert);
    this.#foreignInserts.set(foreign.parameters, insert);
    return foreign;
  }

  async transaction<Result>(body: (transaction: EngineTransaction) => Promise<Result>): Promise<Result> {
    const { database, world, lane, faults } = this.#options;
    const sent = await this.#arrive("transaction");
    const { fault } = sent;
    if (fault === "broken") return this.#fail(unavailable());
    await world.delay(lane, faults.latency()); // it has begun; nobody waits for it yet
    const records: (() => void)[] = [];
    const commit = () =>
      database.engine.transaction(async (transaction) => {
        const died = new Promise<never>((_, reject) => this.#onDeath.push(() => reject(new Error("simulated: gone"))));
        if (lane.closed) this.#die();
        const result = await Promise.race([body(this.#recording(transaction, records)), died]);
        if (fault === "crash-middle") this.#crash("before a commit");
        if (lane.closed) await died;
        return result;
      });
    try {
      const result = await database.run(commit, () => {
        for (const record of records) record();
      });
      world.note(lane.name, `transaction committed${fault === "none" ? "" : ` (${fault})`}`);
      return await this.#reply(sent, result, () => new CommitOutcomeUnknownError());
    } catch (error) {
      if (lane.closed) return never();
      throw error;
    }
  }

  readonly #onDeath: (() => void)[] = [];

  /** The database notices that the process is gone: what it had begun is rolled back. */
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

  #crash(reason: string): void {
    this.#options.crash(reason);
  }

  #recording(transaction: EngineTransaction, records: (() => void)[]): EngineTransaction {
    const { world, lane, faults, book } = this.#options;
    const answer = async <Result>(result: Result): Promise<Result> => {
      await world.delay(lane, faults.latency());
      return result;
    };
    return {
      query: async (text, parameters) => {
        const rows = await transaction.query(text, parameters);
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
        const at = world.now;
        records.push(() => book.settled(settlements, results, { at, mayBeResent: false }));
        return answer(results);
      },
    };
  }

  #statements(): HookStatements {
    const { world, book, database } = this.#options;
    const { hooks } = database.engine;
    return {
      insert: (inserts) =>
        this.#call(
          `insert ${inserts.length}`,
          () => hooks.insert(inserts),
          (results) => book.inserted(inserts, results),
        ),
      claim: (request) =>
        this.#call(
          `claim for ${request.lock}`,
          () => hooks.claim(request),
          (claimed) => book.claimed(request, claimed),
        ),
      renew: (leases, leaseMs) =>
        this.#call(
          `renew ${leases.map(({ lock }) => lock).join(", ")}`,
          () => hooks.renew(leases, leaseMs),
          (held) => book.renewed(leases, held, leaseMs),
        ),
      settle: (settlements) =>
        this.#call(
          `settle ${settlements.map(({ id, lock, outcome }) => `${id} of ${lock} as ${outcome.kind}`).join(", ")}`,
          () => hooks.settle(settlements),
          (results) => book.settled(settlements, results, { at: world.now, mayBeResent: true }),
        ),
      nextWake: (scopes, options) => this.#call("next wake", () => hooks.nextWake(scopes, options)),
      leaseTokens: (namespaces) => this.#call("lease tokens", () => hooks.leaseTokens(namespaces)),
      expireLeases: (namespaces, locks) =>
        this.#call(
          `expire ${locks.join(", ")}`,
          () => hooks.expireLeases(namespaces, locks),
          () => book.expired(locks),
        ),
      get: (reference) => this.#call("get", () => hooks.get(reference)),
      list: (filter) => this.#call("list", () => hooks.list(filter)),
      statistics: (namespace) => this.#call("statistics", () => hooks.statistics(namespace)),
      redrive: (namespace, ids) =>
        this.#call(
          "redrive",
          () => hooks.redrive(namespace, ids),
          (redriven) => book.redriven(redriven),
        ),
      discard: (namespace, ids) =>
        this.#call(
          "discard",
          () => hooks.discard(namespace, ids),
          (discarded) => book.discarded(discarded),
        ),
      cancel: (namespace, target) =>
        this.#call(
          "cancel",
          () => hooks.cancel(namespace, target),
          ({ cancelled, running }) => book.cancelled(cancelled, running),
        ),
      purge: (namespace, limit) => this.#call("purge", () => hooks.purge(namespace, limit)),
    };
  }

  async #call<Result>(
    name: string,
    call: () => Promise<Result>,
    record: (result: Result) => void = () => {},
  ): Promise<Result> {
    const { world, database, lane, faults } = this.#options;
    const sent = await this.#arrive(name);
    const { fault } = sent;
    const breaks = fault === "broken" || fault === "crash-middle";
    try {
      const result = await database.run(call, record, breaks ? faults.statements() : null);
      world.note(lane.name, `${name} -> ${summary(result)}${fault === "none" ? "" : ` (${fault})`}`);
      return await this.#reply(sent, result, unavailable);
    } catch (error) {
      world.note(lane.name, `${name} failed: ${error instanceof Error ? error.message : String(error)} (${fault})`);
      if (fault === "crash-middle") this.#crash("in the middle of a call");
      return this.#fail(error);
    }
  }

  /** The way there. Rejects if the database can't be reached; what a dead process has sent may arrive or not. */
  async #arrive(name: string): Promise<Sent> {
    const { world, database, lane, faults } = this.#options;
    if (lane.closed) return never();
    const sent = { fault: faults.draw(), sentAt: world.now };
    const { fault } = sent;
    if (fault !== "none" || world.now < database.unavailableUntil) this.unharmed = false;
    if (fault === "stall") this.#options.stall();
    const diesWithProcess = world.random.chance(0.5);
    await world.delay(database.lane, fault === "late" ? faults.slowness() : faults.latency());
    if (lane.closed && diesWithProcess) return never();
    if (fault === "crash-before") {
      this.#crash(`before ${name}`);
      return never();
    }
    if (fault === "refused") {
      world.note(lane.name, `${name} is refused`);
      return this.#fail(new StoreError("store.rejected", "simulated: refused", { transient: false }));
    }
    if (fault !== "unavailable" && world.now >= database.unavailableUntil) return sent;
    world.note(lane.name, `${name} failed: the database is away`);
    return this.#fail(unavailable());
  }

  /** The way back. */
  async #reply<Result>({ fault, sentAt }: Sent, result: Result, lost: () => StoreError): Promise<Result> {
    const { world, lane, faults } = this.#options;
    if (world.now - sentAt > IN_TIME_MS) this.unharmed = false;
    if (fault === "crash-after" || fault === "crash-middle") this.#crash("before an answer");
    await world.delay(lane, fault === "slow" ? faults.slowness() : faults.latency());
    if (fault === "lost") throw lost();
    return result;
  }

  async #fail(error: unknown): Promise<never> {
    const { world, lane, faults } = this.#options;
    await world.delay(lane, faults.latency());
    throw error;
  }
}

function unavailable(): StoreError {
  return new StoreError("store.unavailable", "simulated: the connection broke", { transient: true });
}

function never(): Promise<never> {
  return new Promise(() => {});
}

function summary(result: unknown): string {
  if (!Array.isArray(result)) return JSON.stringify(result);
  return `[${result.map((item) => describeItem(item)).join(", ")}]`;
}

function describeItem(item: unknown): string {
  if (typeof item !== "object" || item === null) return String(item);
  const { id, result, attempts, lock } = item as Record<string, unknown>;
  return [result, id, lock, attempts === undefined ? undefined : `attempt ${attempts}`]
    .filter((part) => part !== undefined)
    .join(" ");
}
