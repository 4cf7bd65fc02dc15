import type { SqliteDriver } from "../../src/store/sqlite/drivers/driver.ts";

const SQLITE_IOERR = 10;

/** A driver that can break down in the middle of a flush. */
export class FaultyDriver implements SqliteDriver {
  /** How many transactions were begun: nothing else writes. */
  transactions = 0;
  readonly #driver: SqliteDriver;
  /** How many more statements succeed; null if all do. */
  #statementsLeft: number | null = null;
  /** Wraps transactions only if the driver has them: one that is broken on purpose may have none. */
  #open = false;

  constructor(driver: SqliteDriver) {
    this.#driver = driver;
  }

  get handle(): object {
    return this.#driver.handle;
  }

  /** The next write fails after this many statements, or at its commit. */
  breakAfter(statements: number | null): void {
    this.#statementsLeft = statements;
  }

  execute(text: string): void {
    if (text === "commit" && this.#statementsLeft !== null) this.#break();
    this.#open = false;
    this.#driver.execute(text);
  }

  all(text: string, parameters: Parameters<SqliteDriver["all"]>[1]): Record<string, unknown>[] {
    this.#count();
    return this.#driver.all(text, parameters);
  }

  run(text: string, parameters: Parameters<SqliteDriver["run"]>[1]): number {
    this.#count();
    return this.#driver.run(text, parameters);
  }

  begin(): void {
    this.#driver.begin();
    this.transactions++;
    this.#open = true;
  }

  inTransaction(): boolean {
    return this.#driver.inTransaction();
  }

  close(): void {
    this.#driver.close();
  }

  #count(): void {
    if (this.#statementsLeft === null || !this.#open) return;
    if (this.#statementsLeft-- <= 0) this.#break();
  }

  #break(): never {
    this.#statementsLeft = null;
    throw Object.assign(new Error("simulated: disk I/O error"), { errcode: SQLITE_IOERR });
  }
}
