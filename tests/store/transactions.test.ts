import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EngineTransaction } from "../../src/store/engine.ts";
import type { ClaimedHook } from "../../src/store/hooks/hook-records.ts";
import { DRIVERS } from "../support/engines.ts";
import { COMPLETED, RELEASED, useStore } from "../support/use-store.ts";

type SqlValue = Parameters<EngineTransaction["query"]>[1][number];

describe.each(DRIVERS)("transactions on $name", (engine) => {
  const fixture = useStore(engine);
  const placeholder = engine.dialect === "postgres" ? "$1" : "?";

  beforeAll(() => fixture.store.engine.transaction((tx) => tx.query("create table note (text text primary key)", [])));
  const write = (tx: EngineTransaction, text: string) =>
    tx.query(`insert into note (text) values (${placeholder})`, [text]);
  const notes = () =>
    fixture.store.engine.transaction(async (tx) =>
      (await tx.query("select text from note", [])).map(({ text }) => text),
    );
  afterAll(async () => expect(await notes()).not.toContain("never"));

  test("write hooks and the application's own rows together", async () => {
    const result = await fixture.store.engine.transaction(async (tx) => {
      await write(tx, "together");
      return tx.insertHooks([fixture.trigger({ id: "a" }), fixture.trigger({ id: "b", key: "k" })]);
    });

    expect(result).toMatchObject([{ result: "inserted" }, { result: "inserted" }]);
    expect(await notes()).toContain("together");
    expect(await fixture.ids()).toEqual(["a", "b"]);
  });

  test("leave nothing when the body throws, and pass its error on", async () => {
    const failure = new Error("no");
    const transaction = fixture.store.engine.transaction(async (tx) => {
      await write(tx, "never");
      await tx.insertHooks([fixture.trigger()]);
      throw failure;
    });

    await expect(transaction).rejects.toBe(failure);
    expect(await fixture.ids()).toEqual([]);
  });

  test("leave nothing when a statement fails", async () => {
    const transaction = fixture.store.engine.transaction(async (tx) => {
      await tx.insertHooks([fixture.trigger()]);
      await tx.query("select * from nowhere", []);
    });

    await expect(transaction).rejects.toThrow("nowhere");
    expect(await fixture.ids()).toEqual([]);
  });

  test("never say that they were committed when they weren't", async () => {
    const transaction = fixture.store.engine.transaction(async (tx) => {
      await tx.insertHooks([fixture.trigger({ id: "a" })]);
      await tx.query("select * from nowhere", []).catch(() => {});
    });

    // PostgreSQL rolls back at the first error, even if the caller catches it. SQLite goes on.
    if (engine.dialect === "postgres") {
      await expect(transaction).rejects.toMatchObject({ code: "transaction.rolled_back", transient: false });
    } else {
      await transaction;
    }
    expect(await fixture.ids()).toEqual(engine.dialect === "postgres" ? [] : ["a"]);
  });

  test("say that a caught error rolled them back, also if they write afterwards", async () => {
    const transaction = fixture.store.engine.transaction(async (tx) => {
      await tx.query("select * from nowhere", []).catch(() => {});
      await tx.insertHooks([fixture.trigger({ id: "a" })]);
    });

    if (engine.dialect === "postgres") {
      const cause = expect.objectContaining({ code: "25P02" });
      await expect(transaction).rejects.toMatchObject({ code: "transaction.rolled_back", transient: false, cause });
    } else {
      await transaction;
    }
    expect(await fixture.ids()).toEqual(engine.dialect === "postgres" ? [] : ["a"]);
  });

  test("can be used again after one failed", async () => {
    const failing = fixture.store.engine.transaction(async () => {
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow();

    await fixture.store.engine.transaction((tx) => write(tx, "afterwards"));
    expect(await notes()).toContain("afterwards");
  });

  test("settle hooks together with the application's own rows", async () => {
    await fixture.insert({ id: "a" });
    const { namespace, id, lock } = await fixture.claimOne();
    const settlement = { namespace, id, lock, keyed: false, outcome: COMPLETED };
    const failing = fixture.store.engine.transaction(async (tx) => {
      expect(await tx.settleHooks([settlement])).toEqual(["deleted"]);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await fixture.get("a")).toMatchObject({ status: "processing" });

    await fixture.store.engine.transaction((tx) => tx.settleHooks([settlement]));
    expect(await fixture.get("a")).toBeNull();
  });

  test("don't settle a hook that another worker has settled", async () => {
    await fixture.insertMany(2);
    const [deleted, released] = (await fixture.claim()) as [ClaimedHook, ClaimedHook];
    await fixture.settle(deleted, COMPLETED);
    await fixture.settle(released, RELEASED);

    const settlements = [deleted, released].map(({ namespace, id, lock }) => {
      return { namespace, id, lock, keyed: false, outcome: COMPLETED };
    });
    const results = await fixture.store.engine.transaction((tx) => tx.settleHooks(settlements));
    expect(results).toEqual(["lost", "lost"]);
    expect(await fixture.ids()).toEqual([released.id]);
  });

  test("pass the engine's own SQL on untouched", async () => {
    const [query, parameters]: [string, SqlValue[]] =
      engine.dialect === "postgres"
        ? [`select '{"a":1}'::jsonb ? 'a' as found, '?' as mark, $2::int - $1::int as difference`, [1, 3]]
        : ["select 1 as found, '$1' as mark, ?2 - ?1 as difference", [1, 3]];

    const [row] = await fixture.store.engine.transaction((tx) => tx.query(query, parameters));
    expect(row).toEqual(
      engine.dialect === "postgres"
        ? { found: true, mark: "?", difference: 2 }
        : { found: 1, mark: "$1", difference: 2 },
    );
  });

  test("take the values that applications have", async () => {
    const moment = new Date("2031-05-06T07:08:09.123Z");
    const values: SqlValue[] = ["text", 1.5, 2n ** 40n, true, null, new Uint8Array([0, 255]), moment];
    const types = ["text", "float8", "bigint", "boolean", "text", "bytea", "timestamptz"];
    const columns = values.map((_, index) =>
      engine.dialect === "postgres" ? `$${index + 1}::${types[index]} as c${index}` : `? as c${index}`,
    );

    const [row] = await fixture.store.engine.transaction((tx) => tx.query(`select ${columns.join(", ")}`, values));
    const { c2, c5, ...rest } = row as Record<string, unknown>;
    expect(Number(c2)).toBe(2 ** 40);
    expect(new Uint8Array(c5 as Uint8Array)).toEqual(new Uint8Array([0, 255]));
    expect(rest).toEqual(
      engine.dialect === "postgres"
        ? { c0: "text", c1: 1.5, c3: true, c4: null, c6: moment }
        : { c0: "text", c1: 1.5, c3: 1, c4: null, c6: moment.toISOString() },
    );
  });

  test("are seen by others only when they are committed", async () => {
    const inserted = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const transaction = fixture.store.engine.transaction(async (tx) => {
      await tx.insertHooks([fixture.trigger({ id: "a" })]);
      inserted.resolve();
      await gate.promise;
    });
    await inserted.promise;
    const seen = fixture.ids();
    if (engine.dialect === "postgres") expect(await seen).toEqual([]);
    gate.resolve();
    await transaction;

    // SQLite has one connection: everybody else waits their turn.
    if (engine.dialect === "sqlite") expect(await seen).toEqual(["a"]);
    expect(await fixture.claim()).toMatchObject([{ id: "a" }]);
  });

  test("refuse another inside one, which would wait for itself or not be part of it", async () => {
    const nested = fixture.store.engine.transaction(() => fixture.store.engine.transaction(async () => "inner"));

    await expect(nested).rejects.toMatchObject({ code: "transaction.nested" });
  });

  test("refuse writes inside one that would not be part of it", async () => {
    const waiting = fixture.store.engine.transaction(() => fixture.store.hooks.insert([fixture.trigger({ id: "a" })]));

    await expect(waiting).rejects.toMatchObject({ code: "transaction.nested" });
  });

  test("don't count as open for what they started and left behind", async () => {
    const gate = Promise.withResolvers<void>();
    let leftBehind: Promise<string> | undefined;
    await fixture.store.engine.transaction(async () => {
      leftBehind = gate.promise.then(() => fixture.store.engine.transaction(async () => "later"));
    });
    gate.resolve();

    expect(await leftBehind).toBe("later");
  });

  test("are refused when the store is closed", async () => {
    const { store } = fixture.database?.reopen() ?? fixture;
    await store.close();

    await expect(store.engine.transaction(async () => {})).rejects.toMatchObject({ code: "store.closed" });
    await expect(store.engine.migrate(async () => {})).rejects.toMatchObject({ code: "store.closed" });
    await expect(store.hooks.insert([fixture.trigger()])).rejects.toMatchObject({ code: "store.closed" });
  });
});
