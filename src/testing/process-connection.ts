import type { SqliteHandle } from "../store/sqlite/index.ts";
import type { ProcessLife } from "./process-life.ts";
import type { TestDatabase } from "./test-database.ts";

/** One process' connection to the shared database: of no use to it once it is dead. */
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
