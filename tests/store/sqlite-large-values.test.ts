import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sqliteMigrations } from "../../src/store/sqlite/index.ts";

/** What users give us is in these, and may be large. */
const LARGE_COLUMNS = ["params", "output", "payload", "next_payload", "value", "data", "cursor", "meta", "error"];

describe("large values on SQLite", () => {
  let database: DatabaseSync;

  beforeEach(() => {
    database = new DatabaseSync(":memory:");
    database.exec(sqliteMigrations());
  });
  afterEach(() => database.close());

  test("are never in a b-tree that is searched by anything but row numbers", () => {
    const searched = database
      .prepare("select name from pragma_table_list where type = 'table' and wr and name <> 'perdure_label'") // those are short
      .all()
      .filter(({ name }) =>
        database
          .prepare("select name from pragma_table_info(?)")
          .all(String(name))
          .some((column) => LARGE_COLUMNS.includes(String(column.name))),
      );

    expect(searched).toEqual([]);
  });

  test("come after all columns that others than their owner read", () => {
    const columns = (table: string) =>
      database
        .prepare("select name from pragma_table_info(?)")
        .all(table)
        .map(({ name }) => String(name));

    expect(columns("perdure_hook").slice(-2)).toEqual(["payload", "next_payload"]);
    expect(columns("perdure_instance").slice(-2)).toEqual(["params", "output"]);
    expect(columns("perdure_journal").slice(-1)).toEqual(["value"]);
  });
});
