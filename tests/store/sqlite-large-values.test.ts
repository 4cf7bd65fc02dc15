import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { schemaMigrations } from "../../src/store/sqlite/schema/index.ts";
import { MIGRATIONS_TABLE } from "../../src/store/sqlite/schema/migrations.ts";

/** What users give us is in these, and may be large. */
const LARGE_COLUMNS = ["params", "output", "payload", "next_payload", "value", "data", "cursor", "meta", "error"];

describe("large values on SQLite", () => {
  let database: DatabaseSync;

  beforeEach(() => {
    database = new DatabaseSync(":memory:");
    database.exec(MIGRATIONS_TABLE);
  });
  afterEach(() => database.close());

  const migrate = (first: number, last = Number.POSITIVE_INFINITY) => {
    for (const { number, sql } of schemaMigrations) if (number >= first && number <= last) database.exec(sql);
  };

  test("are never in a b-tree that is searched by anything but row numbers", () => {
    migrate(1);
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
    migrate(1);
    const columns = (table: string) =>
      database
        .prepare("select name from pragma_table_info(?)")
        .all(table)
        .map(({ name }) => String(name));

    expect(columns("perdure_hook").slice(-2)).toEqual(["payload", "next_payload"]);
    expect(columns("perdure_instance").slice(-2)).toEqual(["params", "output"]);
    expect(columns("perdure_journal").slice(-1)).toEqual(["value"]);
  });

  test("and all else are kept when a database from before gets row numbers", () => {
    const { number } = schemaMigrations.find(({ name }) => name === "row numbers") ?? { number: 0 };
    migrate(1, number - 1);
    database.exec(`insert into perdure_instance (ref, namespace, name, id, class, available_at, created_at, params, labels, slot_key)
        values ('ref', 'app', 'order', 'one', 1, 5, 3, '{"a":1}', '{"b":"c"}', 'slot');
      insert into perdure_journal (ref, run, position, kind, type, name, count, attempt, at, value, began)
        values ('ref', 1, 1, 'completed', 'do', 'charge', 0, 1, 4, '7', 2);
      insert into perdure_hook (namespace, id, name, class, available_at, attempts, created_at, triggered_at, payload, latest_at)
        values ('app', 'hook', 'greet', 1, 5, 0, 1, 2, '"x"', 9)`);
    const columns = () =>
      database
        .prepare(
          `select list.name || '.' || info.name as name from pragma_table_list as list, pragma_table_xinfo(list.name) as info
          where list.name like 'perdure%' order by 1`,
        )
        .all();
    const before = columns();
    migrate(number, number);

    expect(columns()).toEqual(before);
    expect(database.prepare("select * from perdure_instance").get()).toMatchObject({
      ref: "ref",
      params: '{"a":1}',
      labels: '{"b":"c"}',
      slot_key: "slot",
      available_at: 5,
      status: "queued",
    });
    expect(database.prepare("select * from perdure_journal").get()).toMatchObject({ value: "7", began: 2, at: 4 });
    expect(database.prepare("select * from perdure_hook").get()).toMatchObject({ payload: '"x"', latest_at: 9 });
  });
});
