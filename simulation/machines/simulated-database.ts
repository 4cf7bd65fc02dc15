import { DatabaseSync } from "node:sqlite";
import { RELAY } from "../../src/store/hooks/relay.ts";
import { migrateEngine } from "../../src/store/migrate-store.ts";
import { driverOf, type SqliteValue } from "../../src/store/sqlite/drivers/driver.ts";
import { WriteMutex } from "../../src/store/sqlite/drivers/write-mutex.ts";
import { SqliteEngine } from "../../src/store/sqlite/engine.ts";
import { noWakeups } from "../../src/store/sqlite/wakeups.ts";
import { ENDING_HOOK_NAMES } from "../books/ending-book.ts";
import type { HookAccount } from "../books/hook-account.ts";
import type { HookBook } from "../books/hook-book.ts";
import type { InstanceBook } from "../books/instance-book.ts";
import { numberOf } from "../books/trigger-record.ts";
import { InstanceCheck } from "../checks/check-instances.ts";
import { HOOK_NAMES, NAMESPACE } from "../names.ts";
import type { SimulationOptions } from "../simulation-options.ts";
import { Lane, type World } from "../world.ts";
import { FaultyDriver } from "./faulty-driver.ts";
import { DatabaseClock } from "./simulated-clock.ts";

/** The tables of the application: what transactions and handlers write, without a constraint that would hide a second write. */
const TABLES = `
create table effect (n integer not null);
create table ledger (key text not null);
create table handled (key text not null);
create table settled (key text not null);`;

const ROWS = "select id, name, lock, available_at, error, payload, next_payload from perdure_hook";

interface StoredRow {
  readonly id: string;
  readonly name: string;
  readonly lock: string | null;
  readonly available_at: number | null;
  readonly error: string | null;
  readonly payload: string;
  readonly next_payload: string | null;
}

/**
 * The database that all simulated processes share: real SQLite in memory, with a time of its own. After every call it is
 * compared with the answers that callers got.
 */
export class SimulatedDatabase {
  readonly engine: SqliteEngine;
  readonly lane: Lane = new Lane("database");
  /** Until then every call fails. */
  unavailableUntil = 0;
  /** Until then nothing can be written to journals. */
  journalRefusedUntil = 0;
  readonly #world: World;
  readonly #book: HookBook;
  readonly #driver: FaultyDriver;
  readonly #mutex = new WriteMutex();
  readonly #instances: InstanceCheck;
  #transactionsChecked = 0;

  constructor(
    world: World,
    book: HookBook,
    instances: InstanceBook,
    { wrapDriver = (driver) => driver }: SimulationOptions,
  ) {
    this.#world = world;
    this.#book = book;
    this.#instances = new InstanceCheck(world, instances, (text, parameters) => this.read(text, parameters));
    this.#driver = new FaultyDriver(wrapDriver(driverOf(new DatabaseSync(":memory:"), { owned: true })));
    const clock = new DatabaseClock(world, this.lane);
    this.engine = new SqliteEngine({
      driver: this.#driver,
      clock,
      randomness: world.random.fork(),
      wakeups: noWakeups,
    });
  }

  async migrate(): Promise<void> {
    await migrateEngine(this.engine, []);
    this.#driver.execute(TABLES);
  }

  /** One call at a time, recorded before anything else can happen. A broken call leaves nothing behind. */
  run<Result>(
    call: () => Promise<Result>,
    record: (result: Result) => void,
    breakAfter: number | null = null,
  ): Promise<Result> {
    return this.#mutex.run(async () => {
      this.#driver.breakAfter(breakAfter);
      try {
        const result = await call();
        record(result);
        return result;
      } finally {
        this.#driver.breakAfter(null);
        await this.#check();
      }
    });
  }

  /** Straight from the tables, for the checks. */
  read(text: string, parameters: SqliteValue[] = []): Record<string, unknown>[] {
    return this.#driver.all(text, parameters);
  }

  close(): void {
    this.#driver.close();
  }

  /** Rows and accounts must be the same hooks in the same states. */
  async #check(): Promise<void> {
    if (this.#driver.transactions === this.#transactionsChecked) return;
    this.#transactionsChecked = this.#driver.transactions;
    const rows = this.read(ROWS) as unknown as StoredRow[];
    const unknown = new Map(rows.map((row) => [row.id, row]));
    for (const account of this.#book.accounts.values()) {
      const row = unknown.get(account.id);
      unknown.delete(account.id);
      this.#compare(account, row);
    }
    for (const { id, payload, name } of unknown.values()) {
      this.#world.violate("nothing appears by itself", `the row ${id} of ${name}: ${payload}`);
    }
    await this.#checkNextWake(rows);
    await this.#instances.check(this.engine.instances);
  }

  #compare(account: HookAccount, row: StoredRow | undefined): void {
    const { id, n, nextN } = account;
    const state = row === undefined ? "gone" : stateOf(row);
    if (state === "gone" && account.state === "completed" && account.purgeAt <= this.#world.now) account.state = "gone";
    if (state !== account.state) {
      this.#world.violate("nothing accepted is lost", `${id} (#${n}) should be ${account.state}, but it is ${state}`);
    }
    if (row === undefined || state !== "live") return;
    if (row.lock !== account.lock) {
      this.#world.violate("at most one owner", `${id} belongs to ${account.lock}, but ${row.lock} has it`);
    }
    if (row.available_at !== account.availableAt) {
      const late = Number(row.available_at) - account.availableAt;
      this.#world.violate("everything has its time", `${id} (#${n}) is due, or its lease ends, ${late} ms late`);
    }
    const storedNext = row.next_payload === null ? null : numberOf({ name: row.name, payload: row.next_payload });
    const stored = this.#book.numberOf(row);
    if (stored !== n || storedNext !== nextN) {
      const found = `#${stored}, then #${storedNext}`;
      this.#world.violate(
        "keys never lose the last trigger",
        `${id} should run #${n}, then #${nextN}, but will ${found}`,
      );
    }
  }

  async #checkNextWake(rows: readonly StoredRow[]): Promise<void> {
    const times = rows.flatMap((row) => (row.available_at === null ? [] : [row.available_at]));
    const expected = times.length === 0 ? null : Math.min(...times) - this.#world.now;
    const scopes = [{ namespace: NAMESPACE, names: [...HOOK_NAMES, ...ENDING_HOOK_NAMES, RELAY] }];
    const told = await this.engine.hooks.nextWake(scopes, { takeOver: true });
    if (told === expected) return;
    this.#world.violate("a next wake for everything that waits", `in ${expected} ms, but the database says ${told}`);
  }
}

function stateOf({ available_at, error }: StoredRow): HookAccount["state"] {
  if (available_at !== null) return "live";
  return error === null ? "completed" : "failed";
}
