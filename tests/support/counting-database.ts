import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { SqliteHandle } from "../../src/store/sqlite/index.ts";

/** A handle of `node:sqlite` that writes down each statement that it runs. */
export function openCountingDatabase(path: string, texts: string[]): SqliteHandle & { close(): void } {
  const database = new DatabaseSync(path);
  database.exec("pragma journal_mode = wal");
  return {
    exec: (text) => {
      texts.push(text);
      database.exec(text);
    },
    prepare: (text) => countRuns(database.prepare(text), text, texts),
    close: () => database.close(),
    get isTransaction() {
      return database.isTransaction;
    },
  };
}

function countRuns(statement: StatementSync, text: string, texts: string[]): ReturnType<SqliteHandle["prepare"]> {
  return {
    all: (...parameters) => {
      texts.push(text);
      return statement.all(...parameters);
    },
    run: (...parameters) => {
      texts.push(text);
      return statement.run(...parameters);
    },
  };
}
