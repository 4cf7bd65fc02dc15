import type { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { defineWorkflow, NonRetryableError, type OwnedTransaction } from "../../src/index.ts";
import { Gate } from "../hooks/support/handlers.ts";
import { DRIVERS, ENCRYPTED_SQLITE } from "../support/engines.ts";
import { Ledger } from "../support/ledger.ts";
import { eventually, LEASE_MS, useWorkflows, withTime } from "./support/use-workflows.ts";

describe.each([...DRIVERS, ENCRYPTED_SQLITE])("a step with a transaction on $name", (engine) => {
  const subject = useWorkflows(engine);
  const ledger = () => new Ledger(subject);

  test("writes the user's rows and its own result together", async () => {
    const book = await ledger().create();
    const workflow = defineWorkflow({ name: "book" }, async (_event, step) => {
      const before = await step.do("before", () => 1);
      const written = await step.transaction("write", async (tx, ctx) => {
        await tx.sql`insert into ledger (owner, amount) values (${book.owner}, ${before})`;
        const rows = await tx.query<{ amount: number }>(
          "select amount from ledger where owner = 'OWNER'".replace("OWNER", book.owner),
        );
        return { rows: rows.length, attempt: ctx.attempt };
      });
      const after = await step.do("after", () => "after");
      return { written, after };
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });

    await expect(instance.result()).resolves.toEqual({ written: { rows: 1, attempt: 1 }, after: "after" });
    expect(await book.amounts()).toEqual([1]);
    const { entries } = await instance.history();
    expect(entries.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
      "before completed",
      "write completed",
      "after completed",
    ]);
  });

  test("can be taken apart, like the step itself", async () => {
    const book = await ledger().create();
    const workflow = defineWorkflow({ name: "apart" }, async (_event, { do: perform, transaction }) => {
      const amount = await perform("before", () => 1);
      return transaction("write", async ({ sql, query }) => {
        await sql`insert into ledger (owner, amount) values (${book.owner}, ${amount})`;
        return (await query("select amount from ledger")).length > 0;
      });
    });
    const process = subject.start({ workflow });

    expect(await (await process.workflows.workflow.create()).result()).toBe(true);
    expect(await book.amounts()).toEqual([1]);
  });

  test("writes nothing if its function throws, and is tried again", async () => {
    const book = await ledger().create();
    const workflow = defineWorkflow({ name: "retry" }, async (_event, step) =>
      step.transaction("write", { retries: { limit: 2, delay: 0 } }, async (tx, { attempt }) => {
        await tx.sql`insert into ledger (owner, amount) values (${book.owner}, ${attempt})`;
        if (attempt < 3) throw new Error("not yet");
        return attempt;
      }),
    );
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });

    await expect(instance.result()).resolves.toBe(3);
    expect(await book.amounts()).toEqual([3]);
  });

  test("fails for good like other steps, and is rolled back by its own handler", async () => {
    const book = await ledger().create();
    const workflow = defineWorkflow({ name: "fails" }, async (_event, step) => {
      const write = (name: string, amount: number) =>
        step.transaction(name, (tx) => tx.sql`insert into ledger (owner, amount) values (${book.owner}, ${amount})`, {
          rollback: async ({ ctx }) => void (await book.add(-amount, ctx.step.name)),
        });
      await write("first", 1);
      await write("second", 2);
      await step.transaction("third", () => {
        throw new NonRetryableError("no");
      });
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });

    await expect(instance.result()).rejects.toThrow("no");
    expect(await book.amounts()).toEqual([1, 2, -2, -1]);
  });

  test("runs beside other steps of its run, and the replay repeats their order", async () => {
    const book = await ledger().create();
    const orders: string[][] = [];
    const workflow = defineWorkflow({ name: "beside" }, async (_event, step) => {
      const order: string[] = [];
      const tell = (name: string) => () => void order.push(name);
      await Promise.all([
        step.do("a", () => 1).then(tell("a")),
        step
          .transaction("t", async (tx) => {
            await tx.sql`insert into ledger (owner, amount) values (${book.owner}, 1)`;
            await new Promise((resolve) => setImmediate(resolve));
          })
          .then(tell("t")),
        step.do("b", () => new Promise((resolve) => setImmediate(resolve))).then(tell("b")),
        step
          .transaction("u", async (tx) => tx.sql`insert into ledger (owner, amount) values (${book.owner}, 2)`)
          .then(tell("u")),
        step.do("c", async () => step.do("inner", () => 2)).then(tell("c")),
      ]);
      orders.push(order);
      await step.sleep("rest", "1 hour");
      return order;
    });
    const first = subject.start({ workflow });
    const instance = await first.workflows.workflow.create({ id: "one" });
    await eventually(async () => expect((await instance.status()).status).toBe("waiting"));
    await first.close();
    const second = subject.start({ workflow });
    await subject.clock.advanceAndSettle(3_600_000);
    await (await second.workflows.workflow.get("one")).result();

    expect(orders).toHaveLength(2);
    expect(orders[1]).toEqual(orders[0]);
    expect(orders[0]?.toSorted()).toEqual(["a", "b", "c", "t", "u"]);
    expect(await book.amounts()).toEqual([1, 2]);
  });

  test("refuses statements that begin or end a transaction, in whichever way they are sent", async () => {
    const book = await ledger().create();
    const attempts = [
      (tx: Transaction) => tx.sql`commit`,
      (tx: Transaction) => tx.query("select 1; rollback"),
      (tx: Transaction) => tx.query("/* a comment */ begin"),
      async (tx: Transaction) => (tx.client.exec ?? tx.client.query).call(tx.client, "COMMIT"),
    ];
    const workflow = defineWorkflow({ name: "control" }, async (_event, step) => {
      const codes: unknown[] = [];
      for (const attempt of attempts) {
        const write = async (tx: Transaction) => {
          await tx.sql`insert into ledger (owner, amount) values (${book.owner}, 1)`;
          await attempt(tx);
        };
        await step
          .transaction("write", { retries: { limit: 0 } }, write)
          .catch((error: { code?: unknown }) => codes.push(error.code));
      }
      return codes;
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });

    await expect(instance.result()).resolves.toEqual(attempts.map(() => "transaction.control_refused"));
    expect(await book.amounts()).toEqual([]);
  });

  test("runs again after a serialization failure, in the same attempt", async () => {
    if (engine.dialect === "sqlite") return; // one transaction at a time
    const book = await ledger().create();
    const attempts: number[] = [];
    const workflow = defineWorkflow({ name: "serializable" }, async (_event, step) =>
      step.transaction("write", { isolation: "serializable", retries: { limit: 0 } }, async (tx, { attempt }) => {
        attempts.push(attempt);
        const text = `select sum(amount) as total from ledger where owner = '${book.owner}'`;
        const [row] = await tx.query<{ total: unknown }>(text);
        if (attempts.length === 1) await book.double(); // reads what this one writes, and writes what this one has read
        await tx.sql`update ledger set amount = amount + 1 where owner = ${book.owner}`;
        return Number(row?.total);
      }),
    );
    await book.add(1);
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });

    await withTime(subject.clock, async () => expect(await instance.status()).toMatchObject({ status: "complete" }));
    await expect(instance.result()).resolves.toBe(2);
    expect(attempts).toEqual([1, 1]);
    expect(await book.amounts()).toEqual([3]);
  });

  test.each([
    ["and goes on with another statement", true],
    ["and returns", false],
  ])("runs again after a serialization failure that its function catches, %s", async (_what, goesOn) => {
    if (engine.dialect === "sqlite") return; // one transaction at a time
    const book = await ledger().create();
    const attempts: number[] = [];
    const workflow = defineWorkflow({ name: "catching" }, async (_event, step) =>
      step.transaction("write", { isolation: "serializable", retries: { limit: 0 } }, async (tx, { attempt }) => {
        attempts.push(attempt);
        const owned = `select sum(amount) as total from ledger where owner = '${book.owner}'`;
        await tx.query(owned);
        if (attempts.length === 1) await book.double();
        await tx.sql`update ledger set amount = amount + 1 where owner = ${book.owner}`.catch(() => {});
        if (goesOn) await tx.query(owned);
      }),
    );
    await book.add(1);
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });

    await withTime(subject.clock, async () => expect(await instance.status()).toMatchObject({ status: "complete" }));
    expect(attempts).toEqual([1, 1]);
    expect(await book.amounts()).toEqual([3]);
  });

  test("takes savepoints", async () => {
    const book = await ledger().create();
    const workflow = defineWorkflow({ name: "savepoints" }, async (_event, step) =>
      step.transaction("write", async (tx) => {
        await tx.sql`insert into ledger (owner, amount) values (${book.owner}, 1)`;
        await tx.sql`savepoint one`;
        await tx.sql`insert into ledger (owner, amount) values (${book.owner}, 2)`;
        await tx.sql`rollback to savepoint one`;
        await tx.sql`release savepoint one`;
      }),
    );
    const process = subject.start({ workflow });
    await (await process.workflows.workflow.create({ id: "one" })).result();

    expect(await book.amounts()).toEqual([1]);
  });

  test("refuses everything once it is over", async () => {
    const book = await ledger().create();
    const kept: Transaction[] = [];
    const workflow = defineWorkflow({ name: "outlived" }, async (_event, step) => {
      await step.transaction("write", (tx: Transaction) => void kept.push(tx));
    });
    const process = subject.start({ workflow });
    await (await process.workflows.workflow.create({ id: "one" })).result();
    const [tx] = kept as [Transaction];
    const late = `insert into ledger (owner, amount) values ('${book.owner}', 1)`;

    await expect(tx.query(late)).rejects.toMatchObject({ code: "transaction.finished" });
    await expect((async () => (tx.client.exec ?? tx.client.query).call(tx.client, late))()).rejects.toMatchObject({
      code: "transaction.finished",
    });
    expect(await book.amounts()).toEqual([]);
  });

  test("refuses steps and waits inside it, and calls that would not be part of it", async () => {
    const codes: unknown[] = [];
    const note = (error: { code?: unknown }) => void codes.push(error.code);
    const other = defineWorkflow({ name: "other" }, async () => {});
    const workflow = defineWorkflow({ name: "nested" }, async (_event, step) => {
      await step.transaction("write", async () => {
        await step.do("inner", () => 1).catch(note);
        await step.transaction("inner", () => 1).catch(note);
        await step.sleep("inner", "1 second").catch(note);
        await step.create(other).catch(note);
        await process.workflows.other.create().catch(note);
      });
    });
    const process = subject.start({ workflow, other });
    await (await process.workflows.workflow.create({ id: "one" })).result();

    expect(codes).toEqual([...Array(4).fill("step.inside_transaction"), "transaction.nested"]);
  });

  test("is rolled back when its function takes too long, and lets others write", async () => {
    const book = await ledger().create();
    const begun: number[] = [];
    const workflow = defineWorkflow({ name: "stuck" }, async (_event, step) => {
      const stuck = async (tx: Transaction, { attempt }: { attempt: number }) => {
        await tx.sql`insert into ledger (owner, amount) values (${book.owner}, ${attempt})`;
        begun.push(attempt);
        if (attempt === 1) await new Promise(() => {});
      };
      await step.transaction("write", { retries: { limit: 1, delay: 0 } }, stuck);
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    await eventually(() => expect(begun).toEqual([1]));
    await subject.clock.advanceAndSettle(10_000);

    await withTime(subject.clock, async () => expect(await instance.status()).toMatchObject({ status: "complete" }));
    expect(await book.amounts()).toEqual([2]);
  });

  test("is rolled back with its owner's lease: another owner writes once", async () => {
    const book = await ledger().create();
    const gate = new Gate();
    const attempts: number[] = [];
    const workflow = defineWorkflow({ name: "fenced" }, async (_event, step) =>
      step.transaction("write", { timeout: "1 hour" }, async (tx, { attempt }) => {
        attempts.push(attempt);
        if (attempts.length === 1) await gate.opened;
        await tx.sql`insert into ledger (owner, amount) values (${book.owner}, ${attempts.length})`;
        return attempts.length;
      }),
    );
    if (engine.dialect === "sqlite") return; // no other owner can begin while a transaction is open
    const owner = subject.start({ workflow }, { clock: subject.anotherClock() });
    await owner.workflows.workflow.create({ id: "one" });
    await eventually(() => expect(attempts).toHaveLength(1));
    const other = subject.process({ workflow });
    const handle = await other.workflows.workflow.get("one");
    await subject.clock.advanceAndSettle(LEASE_MS);
    other.start();
    await withTime(subject.clock, async () => expect(await handle.status()).toMatchObject({ status: "complete" }));
    gate.open();
    await owner.clock.advanceAndSettle(1);

    await expect(handle.result()).resolves.toBe(2);
    await eventually(async () => expect(await book.amounts()).toEqual([2]));
  });

  test("emits progress that is stored with its end", async () => {
    const workflow = defineWorkflow({ name: "emits" }, async (_event, step) =>
      step.transaction("write", { progress: "keep" }, async (_tx, ctx) => {
        await ctx.emit("half");
        return 1;
      }),
    );
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    await expect(instance.result()).resolves.toBe(1);

    const { entries } = await instance.history();
    expect(entries.map(({ kind }) => kind)).toEqual(["progress", "completed"]);
  });

  test("that the workflow doesn't wait for is rolled back", async () => {
    const book = await ledger().create();
    const begun = Promise.withResolvers<void>();
    const workflow = defineWorkflow({ name: "unawaited" }, async (_event, step) => {
      const write = async (tx: Transaction) => {
        await tx.sql`insert into ledger (owner, amount) values (${book.owner}, 1)`;
        begun.resolve();
        await new Promise(() => {});
      };
      void step.transaction("write", write);
      await begun.promise;
      return "done";
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });

    await expect(instance.result()).resolves.toBe("done");
    expect(await book.amounts()).toEqual([]);
  });
});

type Transaction = OwnedTransaction<Partial<Pick<DatabaseSync, "exec">> & { query(text: string): unknown }>;
