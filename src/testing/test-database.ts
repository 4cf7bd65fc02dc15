import { DatabaseSync } from "node:sqlite";
import type { SqliteHandle } from "../store/sqlite/index.ts";
import type { ProcessLife } from "./process-life.ts";

const COMMIT = /^\s*(commit|end)\b/i;

/**
 * The database of a test, in memory. It outlives the processes that use it. The application's own transactions on it are
 * observed too, where they are committed by `exec("commit")`.
 */
export class TestDatabase extends DatabaseSync {
  #onCommit: ((perform: () => void) => void) | undefined;

  constructor() {
    super(":memory:");
  }

  /** Asked to perform each commit of the application's own transactions. */
  observe(onCommit: (perform: () => void) => void): void {
    this.#onCommit = onCommit;
  }

  override exec(text: string): void {
    if (this.#onCommit !== undefined && COMMIT.test(text)) this.#onCommit(() => super.exec(text));
    else super.exec(text);
  }

  /** The same, unobserved. */
  execute(text: string): void {
    super.exec(text);
  }

  /** How many rows were ever changed: a commit that changes none is none. */
  totalChanges(): number {
    return Number(this.prepare("select total_changes() as total").get()?.total);
  }

  /** Ends the open transaction, if there is one, when its process dies. */
  abandonTransaction(): void {
    try {
      super.exec("rollback");
    } catch {
      // there was none
    }
  }
}

/** One process' connection to the shared database, which is useless once the process is dead. */
export function createProcessConnection(
  database: TestDatabase,
  life: ProcessLife,
  commit: (perform: () => void) => void,
): SqliteHandle {
  const whileAlive = <Result>(body: () => Result): Result => {
    life.refuseDead();
    return body();
  };
  return {
    exec: (text) =>
      whileAlive(() => (text === "commit" ? commit(() => database.execute(text)) : database.execute(text))),
    prepare: (text) => {
      const statement = whileAlive(() => database.prepare(text));
      return {
        all: (...parameters) => whileAlive(() => statement.all(...parameters)),
        run: (...parameters) => whileAlive(() => statement.run(...parameters)),
      };
    },
    close: () => {},
    get isTransaction() {
      return !life.dead && database.isTransaction;
    },
  };
}
