import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { RunUnitOfWork, UnitOfWork } from "../../src/index.ts";
import type { Dialect } from "../../src/store/dialect.ts";
import { DRIVERS } from "../support/engines.ts";
import { Gate, recordCalls } from "./support/handlers.ts";
import { eventually, type TestProcess, useHooks } from "./support/use-hooks.ts";

const REPLIES = "create table replies (note bigint references notes (id) deferrable initially deferred)";
const TABLES: Record<Dialect, string[]> = {
  sqlite: ["create table notes (id integer primary key, text text, bytes blob)", REPLIES],
  postgres: ["create table notes (id bigint primary key, text text, bytes bytea)", REPLIES],
};

describe.each(DRIVERS)("units of work on $name", (engine) => {
  const fixture = useHooks(engine);
  const greet = recordCalls<string>();
  let process: TestProcess<{ greet: typeof greet.definition }>;
  let unitOfWork: RunUnitOfWork<{ greet: typeof greet.definition }>;

  beforeAll(async () => {
    await fixture.database?.store.engine.transaction(async (transaction) => {
      for (const table of TABLES[engine.dialect]) await transaction.query(table, []);
    });
  });
  beforeEach(async () => {
    greet.calls.splice(0);
    greet.payloads.splice(0);
    process = fixture.process({ greet: greet.definition });
    unitOfWork = process.unitOfWork;
    await unitOfWork((uow) => uow.sql`delete from notes`);
  });

  const texts = () =>
    unitOfWork(async (uow) => (await uow.sql<{ text: string }>`select text from notes order by id`).map((r) => r.text));

  test("give what their function gives", async () => {
    expect(await unitOfWork(async () => 42)).toBe(42);
    expect(await unitOfWork(async () => undefined)).toBeUndefined();
  });

  test("commit when their function resolves", async () => {
    await unitOfWork(async (uow) => {
      await uow.sql`insert into notes (id, text) values (${1}, ${"ada"})`;
      expect(await uow.sql`select text from notes where id = ${1}`).toEqual([{ text: "ada" }]);
    });

    expect(await texts()).toEqual(["ada"]);
  });

  test("can be taken apart", async () => {
    await unitOfWork(async ({ sql, query, triggerHook }) => {
      await sql`insert into notes (id, text) values (${1}, ${"ada"})`;
      expect(await query("select text from notes where id = 1")).toEqual([{ text: "ada" }]);
      triggerHook("greet", "ada");
    });

    expect(await texts()).toEqual(["ada"]);
    expect((await process.durableHooks.list()).hooks).toHaveLength(1);
  });

  test("roll back when it rejects, and pass on the very error", async () => {
    const error = new Error("changed my mind");
    const failure = unitOfWork(async (uow) => {
      await uow.sql`insert into notes (id, text) values (${1}, ${"ada"})`;
      throw error;
    });

    await expect(failure).rejects.toBe(error);
    expect(await texts()).toEqual([]);
  });

  test("roll back when the database refuses a statement, and pass on its error", async () => {
    const failure = unitOfWork(async (uow) => {
      await uow.sql`insert into notes (id, text) values (${1}, ${"ada"})`;
      uow.triggerHook("greet", "ada");
      await uow.sql`insert into nowhere values (1)`;
    });

    await expect(failure).rejects.toThrow(/nowhere/);
    expect(await texts()).toEqual([]);
    expect((await process.durableHooks.list()).hooks).toEqual([]);
  });

  // A Durable Object is reset when that happens, by Cloudflare.
  test.skipIf(engine.name === "durable object")(
    "start no hook when the commit fails, and keep no place for it",
    async () => {
      const single = fixture.process({ greet: greet.definition }, { concurrency: 1 });
      single.start();
      const failure = single.unitOfWork(async (uow) => {
        await uow.sql`insert into replies (note) values (${404})`; // found out at the commit
        uow.triggerHook("greet", "ada");
      });

      await expect(failure).rejects.toThrow(/foreign key/i);
      await single.hooks.greet.trigger("bob");
      await eventually(async () => expect((await single.durableHooks.list()).hooks).toEqual([]));
      expect(greet.payloads).toEqual(["bob"]);
    },
  );

  // In a Durable Object there are no others: everything waits for the end of a transaction.
  test.skipIf(engine.name === "durable object")(
    "are seen by others when they are committed, with their hooks, and not before",
    async () => {
      const [written, gate] = [new Gate(), new Gate()];
      const other = fixture.process({ greet: greet.definition });
      const work = unitOfWork(async (uow) => {
        uow.triggerHook("greet", "ada");
        await uow.sql`insert into notes (id, text) values (${1}, ${"ada"})`;
        written.open();
        await gate.opened;
      });
      await written.opened;
      await other.drain();
      expect(greet.calls).toEqual([]);
      gate.open();
      await work;
      await other.drain();

      expect(greet.payloads).toEqual(["ada"]);
    },
  );

  test("give values to the database as parameters, never as text", async () => {
    const text = "'); drop table notes; --";
    const bytes = new Uint8Array([0, 1, 255]);
    await unitOfWork(async (uow) => {
      await uow.sql`insert into notes (id, text, bytes) values (${9_007_199_254_740_991n}, ${text}, ${bytes})`;
      await uow.sql`insert into notes (id, text) values (${2}, ${null})`;
    });
    const rows = await unitOfWork((uow) => uow.sql`select text, bytes from notes order by id desc`);

    expect(rows).toMatchObject([{ text }, { text: null, bytes: null }]);
    expect(new Uint8Array(rows[0]?.["bytes"] as Uint8Array)).toEqual(bytes);
  });

  test("take booleans and dates", async () => {
    const [row] = await unitOfWork((uow) =>
      engine.dialect === "sqlite"
        ? uow.sql`select ${true} as yes, ${false} as no, unixepoch(${new Date(5000)}) as seconds`
        : uow.sql`select ${true}::boolean::int as yes, ${false}::boolean::int as no, extract(epoch from ${new Date(5000)}::timestamptz)::int as seconds`,
    );

    expect(row).toEqual({ yes: 1, no: 0, seconds: 5 });
  });

  test("pass native SQL on untouched", async () => {
    const [query, parameters] =
      engine.dialect === "sqlite"
        ? ["select ?2 as second, ?1 as first, '$1 ?' as text", ["a", "b"]]
        : ["select $2 as second, $1 as first, '?' as text, '{\"a\": 1}'::jsonb ? 'a' as has", ["a", "b"]];
    const [row] = await unitOfWork((uow) => uow.query(query as string, parameters as string[]));

    expect(row).toMatchObject({ first: "a", second: "b", text: engine.dialect === "sqlite" ? "$1 ?" : "?" });
    expect(await unitOfWork((uow) => uow.query("select 1 as one"))).toEqual([{ one: 1 }]);
  });

  test("refuse what comes after their end", async () => {
    const late: UnitOfWork<{ greet: typeof greet.definition }> = await unitOfWork(async (uow) => uow);
    const refusal = expect.objectContaining({ name: "PerdureError", code: "transaction.finished" });

    expect(() => late.triggerHook("greet", "ada")).toThrow(refusal);
    await expect(late.sql`select 1`).rejects.toEqual(refusal);
    await expect(late.query("select 1")).rejects.toEqual(refusal);
    expect((await process.durableHooks.list()).hooks).toEqual([]);
  });

  test("can be many at a time", async () => {
    const numbers = Array.from({ length: 25 }, (_, number) => number);
    await Promise.all(
      numbers.map((number) =>
        unitOfWork(async (uow) => {
          await uow.sql`insert into notes (id, text) values (${number}, ${String(number)})`;
          uow.triggerHook("greet", String(number));
        }),
      ),
    );
    await process.drain();

    expect(await texts()).toEqual(numbers.map(String));
    expect(greet.calls).toHaveLength(25);
  });

  test("let a dispatcher continue while they are open", async () => {
    const gate = new Gate();
    const [first, second] = [
      fixture.process({ greet: greet.definition }),
      fixture.process({ greet: greet.definition }),
    ];
    await first.hooks.greet.trigger("before");
    const work = first.unitOfWork(async (uow) => {
      await uow.sql`select 1`;
      await gate.opened;
    });
    const drained = second.drain();
    if (engine.dialect === "postgres") await drained; // SQLite has one writer at a time
    gate.open();
    await Promise.all([work, drained]);

    expect(greet.payloads).toEqual(["before"]);
  });

  describe("inside each other", () => {
    const calls: [string, () => Promise<unknown>][] = [
      ["a unit of work", () => unitOfWork((uow) => uow.sql`select 1`)],
      ["a trigger of its own", () => process.hooks.greet.trigger("inner")],
      ["a list of hooks", () => process.durableHooks.list()],
    ];

    test.each(calls)("are refused where they would not be part of it: %s", async (name, call) => {
      const outer = unitOfWork(async (uow) => {
        uow.triggerHook("greet", "outer");
        await call();
      });

      if (engine.dialect === "postgres" && name === "a list of hooks") {
        await outer; // it has a connection of its own, and only reads
        return;
      }
      await expect(outer).rejects.toMatchObject({ name: "PerdureError", code: "transaction.nested" });
      expect((await process.durableHooks.list()).hooks).toEqual([]);
    });

    test.each(calls)("may be begun there and continue after it: %s", async (_, call) => {
      const over = new Gate();
      let later: Promise<unknown> | undefined;
      await unitOfWork(async () => {
        later = over.opened.then(call);
      });
      over.open();

      await expect(later).resolves.toBeDefined();
    });
  });

  test("wake a dispatcher of another process", async () => {
    const other = fixture.process({ greet: greet.definition });
    other.start();
    await unitOfWork(async (uow) => uow.triggerHook("greet", "ada"));

    await eventually(() => {
      other.dispatcher.wake(); // where announcements don't reach it
      expect(greet.payloads).toEqual(["ada"]);
    });
  });
});
