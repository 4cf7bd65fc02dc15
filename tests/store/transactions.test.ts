import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EngineTransaction } from "../../src/store/engine.ts";
import type { ClaimedHook } from "../../src/store/hook-records.ts";
import { ENGINES } from "../support/engines.ts";
import { COMPLETED, RELEASED, useStore } from "../support/use-store.ts";

type SqlValue = Parameters<EngineTransaction["query"]>[1][number];

describe.each(ENGINES)("transactions on $name", (engine) => {
  const test = useStore(engine);
  const placeholder = engine.dialect === "postgres" ? "$1" : "?";

  beforeAll(() => test.store.engine.transaction((tx) => tx.query("create table note (text text primary key)", [])));
  const write = (tx: EngineTransaction, text: string) =>
    tx.query(`insert into note (text) values (${placeholder})`, [text]);
  const notes = () =>
    test.store.engine.transaction(async (tx) => (await tx.query("select text from note", [])).map(({ text }) => text));
  afterAll(async () => expect(await notes()).not.toContain("never"));

  it("write hooks and the application's own rows together", async () => {
    const result = await test.store.engine.transaction(async (tx) => {
      await write(tx, "together");
      return tx.insertHooks([test.trigger({ id: "a" }), test.trigger({ id: "b", key: "k" })]);
    });

    expect(result).toMatchObject([{ result: "inserted" }, { result: "inserted" }]);
    expect(await notes()).toContain("together");
    expect(await test.ids()).toEqual(["a", "b"]);
  });

  it("leave nothing when the body throws, and pass its error on", async () => {
    const failure = new Error("no");
    const transaction = test.store.engine.transaction(async (tx) => {
      await write(tx, "never");
      await tx.insertHooks([test.trigger()]);
      throw failure;
    });

    await expect(transaction).rejects.toBe(failure);
    expect(await test.ids()).toEqual([]);
  });

  it("leave nothing when a statement fails", async () => {
    const transaction = test.store.engine.transaction(async (tx) => {
      await tx.insertHooks([test.trigger()]);
      await tx.query("select * from nowhere", []);
    });

    await expect(transaction).rejects.toThrow("nowhere");
    expect(await test.ids()).toEqual([]);
  });

  it("never say that they were committed when they weren't", async () => {
    const transaction = test.store.engine.transaction(async (tx) => {
      await tx.insertHooks([test.trigger({ id: "a" })]);
      await tx.query("select * from nowhere", []).catch(() => {});
    });

    // PostgreSQL rolls back at the first error, whoever catches it. SQLite goes on.
    if (engine.dialect === "postgres") {
      await expect(transaction).rejects.toMatchObject({ code: "transaction.rolled_back", transient: false });
    } else {
      await transaction;
    }
    expect(await test.ids()).toEqual(engine.dialect === "postgres" ? [] : ["a"]);
  });

  it("can be used again after one failed", async () => {
    const failing = test.store.engine.transaction(async () => {
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow();

    await test.store.engine.transaction((tx) => write(tx, "afterwards"));
    expect(await notes()).toContain("afterwards");
  });

  it("settle hooks together with the application's own rows", async () => {
    await test.insert({ id: "a" });
    const { namespace, id, lock } = await test.claimOne();
    const settlement = { namespace, id, lock, keyed: false, outcome: COMPLETED };
    const failing = test.store.engine.transaction(async (tx) => {
      expect(await tx.settleHooks([settlement])).toEqual(["deleted"]);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await test.get("a")).toMatchObject({ status: "processing" });

    await test.store.engine.transaction((tx) => tx.settleHooks([settlement]));
    expect(await test.get("a")).toBeNull();
  });

  it("don't settle what somebody else has settled", async () => {
    await test.insertMany(2);
    const [deleted, released] = (await test.claim()) as [ClaimedHook, ClaimedHook];
    await test.settle(deleted, COMPLETED);
    await test.settle(released, RELEASED);

    const settlements = [deleted, released].map(({ namespace, id, lock }) => {
      return { namespace, id, lock, keyed: false, outcome: COMPLETED };
    });
    const results = await test.store.engine.transaction((tx) => tx.settleHooks(settlements));
    expect(results).toEqual(["lost", "lost"]);
    expect(await test.ids()).toEqual([released.id]);
  });

  it("pass the engine's own SQL on untouched", async () => {
    const [query, parameters]: [string, SqlValue[]] =
      engine.dialect === "postgres"
        ? [`select '{"a":1}'::jsonb ? 'a' as found, '?' as mark, $2::int - $1::int as difference`, [1, 3]]
        : ["select 1 as found, '$1' as mark, ?2 - ?1 as difference", [1, 3]];

    const [row] = await test.store.engine.transaction((tx) => tx.query(query, parameters));
    expect(row).toEqual(
      engine.dialect === "postgres"
        ? { found: true, mark: "?", difference: 2 }
        : { found: 1, mark: "$1", difference: 2 },
    );
  });

  it("take the values that applications have", async () => {
    const moment = new Date("2031-05-06T07:08:09.123Z");
    const values: SqlValue[] = ["text", 1.5, 2n ** 40n, true, null, new Uint8Array([0, 255]), moment];
    const types = ["text", "float8", "bigint", "boolean", "text", "bytea", "timestamptz"];
    const columns = values.map((_, index) =>
      engine.dialect === "postgres" ? `$${index + 1}::${types[index]} as c${index}` : `? as c${index}`,
    );

    const [row] = await test.store.engine.transaction((tx) => tx.query(`select ${columns.join(", ")}`, values));
    const { c2, c5, ...rest } = row as Record<string, unknown>;
    expect(Number(c2)).toBe(2 ** 40);
    expect(new Uint8Array(c5 as Uint8Array)).toEqual(new Uint8Array([0, 255]));
    expect(rest).toEqual(
      engine.dialect === "postgres"
        ? { c0: "text", c1: 1.5, c3: true, c4: null, c6: moment }
        : { c0: "text", c1: 1.5, c3: 1, c4: null, c6: moment.toISOString() },
    );
  });

  it("are seen by others only when they are committed", async () => {
    const inserted = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const transaction = test.store.engine.transaction(async (tx) => {
      await tx.insertHooks([test.trigger({ id: "a" })]);
      inserted.resolve();
      await gate.promise;
    });
    await inserted.promise;
    const seen = test.ids();
    if (engine.dialect === "postgres") expect(await seen).toEqual([]);
    gate.resolve();
    await transaction;

    // SQLite has one connection: everybody else waits their turn.
    if (engine.dialect === "sqlite") expect(await seen).toEqual(["a"]);
    expect(await test.claim()).toMatchObject([{ id: "a" }]);
  });

  it("refuse another inside of one on SQLite, which would wait for itself", async () => {
    const nested = test.store.engine.transaction(() => test.store.engine.transaction(async () => "inner"));

    if (engine.dialect === "sqlite") {
      await expect(nested).rejects.toMatchObject({ code: "transaction.nested" });
    } else {
      expect(await nested).toBe("inner");
    }
  });

  it("refuse to wait inside of one for what can only happen after it, on SQLite", async () => {
    const waiting = test.store.engine.transaction(() => test.store.hooks.insert([test.trigger({ id: "a" })]));

    if (engine.dialect === "sqlite") {
      await expect(waiting).rejects.toMatchObject({ code: "transaction.nested" });
    } else {
      expect(await waiting).toMatchObject([{ result: "inserted" }]);
    }
  });

  it("don't count as open for what they started and left behind", async () => {
    const gate = Promise.withResolvers<void>();
    let leftBehind: Promise<string> | undefined;
    await test.store.engine.transaction(async () => {
      leftBehind = gate.promise.then(() => test.store.engine.transaction(async () => "later"));
    });
    gate.resolve();

    expect(await leftBehind).toBe("later");
  });

  it("are refused when the store is closed", async () => {
    const { store } = test.database?.reopen() ?? test;
    await store.close();

    await expect(store.engine.transaction(async () => {})).rejects.toMatchObject({ code: "store.closed" });
    await expect(store.engine.migrate(async () => {})).rejects.toMatchObject({ code: "store.closed" });
    await expect(store.hooks.insert([test.trigger()])).rejects.toMatchObject({ code: "store.closed" });
  });
});
