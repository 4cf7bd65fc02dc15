import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { InstanceStatements } from "../../src/store/instances/instance-statements.ts";
import { migrateEngine } from "../../src/store/migrate-store.ts";
import { type SqliteHandle, sqlite } from "../../src/store/sqlite/index.ts";
import type { Store } from "../../src/store/store.ts";

describe("reads of SQLite while another process writes", () => {
  let directory: string;
  let ours: DatabaseSync;
  let theirs: DatabaseSync;
  let store: Store;
  let instances: InstanceStatements;
  let beforeRead: (text: string) => void;

  const run = { ref: "ref-1", run: 1 };
  const name = { namespace: "app", name: "checkout", id: "a" };

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "perdure-snapshots-"));
    ours = open();
    theirs = open();
    beforeRead = () => {};
    store = sqlite(watched(ours)).store;
    await migrateEngine(store.engine, []);
    instances = store.engine.instances;
    await instances.insert([
      {
        ...name,
        ref: run.ref,
        params: "1",
        version: 0,
        parent: null,
        traits: null,
        lease: { lock: "mine", leaseMs: 1000 },
      },
    ]);
    const entry = { kind: "completed", type: "do", name: "charge", count: 1, attempt: 1, value: "1" } as const;
    const entries = [{ ...entry, dueAt: null, event: null, parent: null }];
    await instances.commit([
      { ...run, lock: "mine", instance: name, position: 1, entries, outcome: { kind: "running" } },
    ]);
  });
  afterEach(async () => {
    await store.close();
    ours.close();
    theirs.close();
    rmSync(directory, { recursive: true, force: true });
  });

  function open(): DatabaseSync {
    const database = new DatabaseSync(join(directory, "test.db"));
    database.exec("pragma journal_mode = wal");
    return database;
  }

  /** A handle that tells before it reads. */
  function watched(database: DatabaseSync): SqliteHandle {
    return {
      exec: (text) => database.exec(text),
      prepare: (text) => {
        const statement = database.prepare(text);
        return {
          all: (...parameters) => {
            beforeRead(text);
            return statement.all(...parameters);
          },
          run: (...parameters) => statement.run(...parameters),
        };
      },
      close: () => database.close(),
      get isTransaction() {
        return database.isTransaction;
      },
    };
  }

  /** What the other process does just before we read this table. */
  function meanwhile(table: string, sql: string): void {
    beforeRead = (text) => {
      if (!text.includes(`from ${table}`)) return;
      beforeRead = () => {};
      theirs.exec(sql);
    };
  }

  test("load all of an instance that is deleted at the same time, or nothing", async () => {
    meanwhile("perdure_journal", "delete from perdure_instance; delete from perdure_journal");

    expect(await instances.load([{ ...run, instance: name }])).toMatchObject([
      { ...run, entries: [{ name: "charge" }] },
    ]);
    expect(await instances.load([{ ...run, instance: name }])).toEqual([]);
  });

  test.each(["load", "loadEvents"] as const)("%s no event without the wake that it was", async (read) => {
    await instances.sendEvents([{ ...name, eventId: "first", type: "t", payload: "1" }]);
    meanwhile(
      "perdure_event",
      `insert into perdure_event (ref, run, id, sequence, type, payload, at) values ('ref-1', 1, 'second', 2, 't', '2', 0);
       update perdure_instance set wakes = 2`,
    );
    const load = () =>
      read === "load"
        ? instances.load([{ ...run, instance: name }])
        : instances.loadEvents([{ ...run, instance: name, after: 0 }]);

    expect(await load()).toMatchObject([{ wakes: 1, events: [{ id: "first" }] }]);
    expect(await load()).toMatchObject([{ wakes: 2, events: [{ id: "first" }, { id: "second" }] }]);
  });
});
