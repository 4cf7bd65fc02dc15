import { describe, expect, test } from "vitest";
import { defineHook, type HookContext, type HookItem, type OwnedTransaction } from "../../src/index.ts";
import { DRIVERS, ENCRYPTED_SQLITE } from "../support/engines.ts";
import { Ledger } from "../support/ledger.ts";
import { forever, Gate } from "./support/handlers.ts";
import { eventually, LEASE_MS, useHooks, withTime } from "./support/use-hooks.ts";

const NO_RETRIES = { retries: { limit: 0 } };

describe.each([...DRIVERS, ENCRYPTED_SQLITE])("a hook with a transaction on $name", (engine) => {
  const subject = useHooks(engine);
  const ledger = () => new Ledger(subject).create();
  const add = (book: Ledger, amount: number) => (tx: Pick<OwnedTransaction, "sql">) =>
    tx.sql`insert into ledger (owner, amount) values (${book.owner}, ${amount})`;

  test("writes the user's rows and completes the hook together", async () => {
    const book = await ledger();
    const results: unknown[] = [];
    const write = defineHook({}, async (amount: number, hook) => {
      const result = await hook.transaction(async (tx) => {
        await add(book, amount)(tx);
        return tx.query("select 'from within' as text");
      });
      results.push(result, await process.durableHooks.get(hook.hookId));
    });
    const process = subject.process({ write });
    await process.hooks.write.trigger(1);
    await process.drain();

    expect(results).toEqual([[{ text: "from within" }], null]);
    expect(await book.amounts()).toEqual([1]);
    expect(process.logs.messages("warn")).toEqual([]);
  });

  test("keeps the completed hook as long as is configured", async () => {
    const write = defineHook({}, (_: number, hook) => hook.transaction(() => {}));
    const process = subject.process({ write }, { durableHooks: { keepCompleted: "1 hour" } });
    const { id } = await process.hooks.write.trigger(1);
    await process.drain();

    expect(await process.durableHooks.get(id)).toMatchObject({ status: "completed", attempts: 1, error: null });
  });

  test("writes nothing if its function throws, and the attempt fails with that error", async () => {
    const book = await ledger();
    const write = defineHook({ retries: { limit: 1, delay: 0 } }, (_: string, hook) =>
      hook.transaction(async (tx) => {
        await add(book, hook.attempts)(tx);
        if (hook.attempts === 1) throw new Error("not yet");
      }),
    );
    const process = subject.process({ write });
    const { id } = await process.hooks.write.trigger("once");
    await process.drain();

    expect(await book.amounts()).toEqual([2]);
    expect(process.errors).toMatchObject([{ error: { message: "not yet" } }]);
    expect(await process.statusOf(id)).toBeNull();
  });

  test("has succeeded once it is committed, whatever the handler does afterwards", async () => {
    const book = await ledger();
    const write = defineHook({}, async (amount: number, hook) => {
      await hook.transaction(add(book, amount));
      throw new Error("too late");
    });
    const process = subject.process({ write });
    const { id } = await process.hooks.write.trigger(1);
    await process.drain();

    expect(await book.amounts()).toEqual([1]);
    expect(await process.statusOf(id)).toBeNull();
    expect(process.errors).toEqual([]);
    expect(process.logs.lines).toMatchObject([
      { level: "warn", message: expect.stringContaining("is completed"), details: { hookId: id } },
    ]);
  });

  test("lets a handler run on after its commit for longer than a lease, and frees its slot when it ends", async () => {
    const gate = new Gate();
    const signals: AbortSignal[] = [];
    const write = defineHook({}, async (_: number, hook) => {
      await hook.transaction(() => {});
      signals.push(hook.signal);
      await gate.opened;
    });
    const process = subject.process({ write }, { concurrency: 1 });
    await process.hooks.write.trigger(1);
    const drained = process.drain();
    await eventually(() => expect(signals).toHaveLength(1));
    await process.passTime(2 * LEASE_MS);
    expect(signals[0]?.aborted).toBe(false);
    gate.open();
    await drained;

    expect(process.logs.messages("warn")).toEqual([]);
  });

  test("settles as usual if the handler catches the error of its transaction", async () => {
    const book = await ledger();
    const write = defineHook(NO_RETRIES, async (_: number, hook) => {
      const failing = async (tx: Pick<OwnedTransaction, "sql">) => {
        await add(book, 1)(tx);
        throw new Error("no");
      };
      await hook.transaction(failing).catch(() => {});
    });
    const process = subject.process({ write });
    const { id } = await process.hooks.write.trigger(1);
    await process.drain();

    expect(await process.statusOf(id)).toBeNull();
    expect(await book.amounts()).toEqual([]);
  });

  test("is refused a second time in one attempt, and when the attempt is over", async () => {
    const book = await ledger();
    const codes: unknown[] = [];
    const calls: HookContext[] = [];
    const note = (error: { code?: unknown }) => void codes.push(error.code);
    const write = defineHook(NO_RETRIES, async (use: boolean, hook) => {
      calls.push(hook);
      if (!use) return;
      await hook.transaction(add(book, 1));
      await hook.transaction(add(book, 2)).catch(note);
    });
    const process = subject.process({ write });
    await process.hooks.write.trigger(true);
    await process.drain();
    await process.hooks.write.trigger(false);
    await process.drain();
    await calls[1]?.transaction(add(book, 3)).catch(note);

    expect(codes).toEqual(["transaction.repeated", "transaction.finished"]);
    expect(await book.amounts()).toEqual([1]);
  });

  test("is waited for if the handler doesn't await it, and fails the attempt if it fails", async () => {
    const book = await ledger();
    const write = defineHook(NO_RETRIES, (fails: boolean, hook) => {
      void hook.transaction(async (tx) => {
        await add(book, 1)(tx);
        if (fails) throw new Error("unnoticed");
      });
    });
    const process = subject.process({ write });
    const good = await process.hooks.write.trigger(false);
    const bad = await process.hooks.write.trigger(true);
    await process.drain();

    expect(await process.statusOf(good.id)).toBeNull();
    expect(await process.durableHooks.get(bad.id)).toMatchObject({
      status: "failed",
      error: { message: "unnoticed" },
    });
    expect(await book.amounts()).toEqual([1]);
  });

  test("is rolled back if the handler fails meanwhile", async () => {
    const book = await ledger();
    const write = defineHook(NO_RETRIES, async (_: number, hook) => {
      const begun = Promise.withResolvers<void>();
      void hook.transaction(async (tx) => {
        await add(book, 1)(tx);
        begun.resolve();
        await forever();
      });
      await begun.promise;
      throw new Error("the handler's");
    });
    const process = subject.process({ write });
    const { id } = await process.hooks.write.trigger(1);
    await process.drain();

    expect(await process.durableHooks.get(id)).toMatchObject({
      status: "failed",
      error: { message: "the handler's" },
    });
    expect(await book.amounts()).toEqual([]);
  });

  test("is rolled back when its function takes too long, and lets others write", async () => {
    const book = await ledger();
    const write = defineHook(NO_RETRIES, (_: number, hook) =>
      hook.transaction({ timeout: "2 seconds" }, async (tx) => {
        await add(book, 1)(tx);
        subject.clock.advance(2000); // from in here: while a Durable Object has an open transaction, nothing else runs in it
        await forever();
      }),
    );
    const process = subject.process({ write });
    const { id } = await process.hooks.write.trigger(1);
    await process.drain();

    expect(await process.durableHooks.get(id)).toMatchObject({
      status: "failed",
      error: { code: "transaction.too_long" },
    });
    expect(await book.amounts()).toEqual([]);
  });

  test("runs again after a serialization failure, in the same attempt", async () => {
    if (engine.dialect === "sqlite") return; // one transaction at a time
    const book = await ledger();
    await book.add(1);
    const attempts: number[] = [];
    const write = defineHook(NO_RETRIES, (_: number, hook) =>
      hook.transaction({ isolation: "serializable" }, async (tx) => {
        attempts.push(hook.attempts);
        await tx.query(`select amount from ledger where owner = '${book.owner}'`);
        if (attempts.length === 1) await book.double();
        await tx.sql`update ledger set amount = amount + 1 where owner = ${book.owner}`;
      }),
    );
    const process = subject.process({ write });
    const { id } = await process.hooks.write.trigger(1);
    process.drainBehind();

    await withTime(subject.clock, async () => expect(await process.statusOf(id)).toBeNull());
    expect(attempts).toEqual([1, 1]);
    expect(await book.amounts()).toEqual([3]);
    expect(process.errors).toEqual([]);
  });

  test("runs once more for a trigger of its key that arrives meanwhile", async () => {
    if (engine.dialect === "sqlite") return; // no trigger is written while a transaction is open
    const book = await ledger();
    const gate = new Gate();
    const begun = Promise.withResolvers<void>();
    const write = defineHook({}, (amount: number, hook) =>
      hook.transaction(async (tx) => {
        begun.resolve();
        if (amount === 1) await gate.opened;
        await add(book, amount)(tx);
      }),
    );
    const process = subject.process({ write });
    await process.hooks.write.trigger(1, { key: "same" });
    const drained = process.drain();
    await begun.promise;
    await process.hooks.write.trigger(2, { key: "same" });
    gate.open();
    await drained;

    expect(await book.amounts()).toEqual([1, 2]);
  });

  test("runs once more for a trigger of its key that arrived before", async () => {
    const book = await ledger();
    const write = defineHook({}, async (amount: number, hook) => {
      if (amount === 1) await process.hooks.write.trigger(2, { key: "same" });
      await hook.transaction(add(book, amount));
    });
    const process = subject.process({ write });
    await process.hooks.write.trigger(1, { key: "same" });
    await process.drain();

    expect(await book.amounts()).toEqual([1, 2]);
  });

  test("is rolled back if another worker has taken the hook over", async () => {
    const book = await ledger();
    const gate = new Gate();
    const errors: unknown[] = [];
    const owner = subject.process(
      {
        write: defineHook({}, async (_: number, hook) => {
          await gate.opened;
          const write = hook.transaction({ timeout: "1 hour" }, add(book, 1));
          await write.catch((error: { code?: unknown }) => errors.push(error.code));
        }),
      },
      { clock: subject.anotherClock() },
    );
    const { id } = await owner.hooks.write.trigger(1);
    owner.drainBehind();
    await eventually(async () => expect(await owner.statusOf(id)).toBe("processing"));
    await subject.clock.advanceAndSettle(LEASE_MS + 1);
    const other = subject.process({ write: defineHook({}, (_: number, hook) => hook.transaction(add(book, 2))) });
    await other.drain();
    gate.open(); // the owner's own time stands still: it doesn't know yet
    await eventually(() => expect(errors).toEqual(["attempt.lease_lost"]));

    expect(await book.amounts()).toEqual([2]);
    expect(await other.statusOf(id)).toBeNull();
  });

  test("refuses statements that begin or end it, calls that would not be part of it, and everything once it is over", async () => {
    const book = await ledger();
    const codes: unknown[] = [];
    const note = (error: { code?: unknown }) => void codes.push(error.code);
    const kept: OwnedTransaction[] = [];
    const write = defineHook(NO_RETRIES, (_: number, hook) =>
      hook.transaction(async (tx: OwnedTransaction) => {
        kept.push(tx);
        await tx.sql`commit`.catch(note);
        await tx.query("select 1; rollback").catch(note);
        await process.hooks.write.trigger(2).catch(note);
        await add(book, 1)(tx);
      }),
    );
    const process = subject.process({ write });
    await process.hooks.write.trigger(1);
    await process.drain();
    await (kept[0] as OwnedTransaction).query("select 1").catch(note);

    const control = "transaction.control_refused";
    expect(codes).toEqual([control, control, "transaction.nested", "transaction.finished"]);
    expect(await book.amounts()).toEqual([1]);
  });

  test("completes one item of a batch, whatever happens to the others", async () => {
    const book = await ledger();
    const options = { ...NO_RETRIES, batch: { size: 2, delay: 0 } };
    const write = defineHook(options, async (items: readonly HookItem<number>[]) => {
      for (const { payload, hook } of items) if (payload === 1) await hook.transaction(add(book, payload));
      throw new Error("all of it");
    });
    const process = subject.process({ write });
    const ids = await Promise.all([1, 2].map((amount) => process.hooks.write.trigger(amount)));
    await process.drain();

    expect(await Promise.all(ids.map(({ id }) => process.statusOf(id)))).toEqual([null, "failed"]);
    expect(await book.amounts()).toEqual([1]);
  });

  test.each([
    ["no function", undefined],
    ["an unknown option", { isolated: true }],
    ["an unknown isolation", { isolation: "none" }],
    ["a timeout of nothing", { timeout: 0 }],
  ])("refuses %s", async (_, config) => {
    const codes: unknown[] = [];
    const write = defineHook(NO_RETRIES, async (_: number, hook) => {
      const given = config === undefined ? ["text" as never] : [config as never, () => {}];
      const call = hook.transaction as (...given: unknown[]) => Promise<unknown>;
      await call.apply(hook, given).catch((error: { code?: unknown }) => codes.push(error.code));
    });
    const process = subject.process({ write });
    await process.hooks.write.trigger(1);
    await process.drain();

    expect(codes).toEqual(["transaction.invalid"]);
  });
});
