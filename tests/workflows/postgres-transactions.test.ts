import { describe, expect, test } from "vitest";
import { defineWorkflow, type OwnedTransaction } from "../../src/index.ts";
import { Gate } from "../hooks/support/handlers.ts";
import { DRIVERS } from "../support/engines.ts";
import { Ledger } from "../support/ledger.ts";
import { eventually, useWorkflows, withTime } from "./support/use-workflows.ts";

type Transaction = OwnedTransaction<{ query(text: string, values: unknown[]): unknown }>;

const POSTGRES = DRIVERS.filter(({ dialect }) => dialect === "postgres");

describe.each(POSTGRES)("a step's transaction on $name", (engine) => {
  const subject = useWorkflows(engine);
  const ledger = () => new Ledger(subject);

  test.each<[string, (tx: Transaction) => Promise<unknown>]>([
    ["takes longer than the database allows", (tx) => tx.query("set local statement_timeout = 1; select pg_sleep(5)")],
    [
      "writes in a transaction that it has made read only",
      async (tx) => {
        await tx.query("set transaction read only");
        await tx.query("update ledger set amount = 0");
      },
    ],
    [
      "has a parameter that its driver can't encode",
      (tx) => (async () => tx.client.query("select $1", [{ amount: 1n }]))(),
    ],
    ["doesn't wait for a lock", (tx) => tx.query("do $$ begin raise 'locked' using errcode = '55P03'; end $$")],
  ])("uses up its attempts when a statement of its function %s", async (_what, fail) => {
    await ledger().create();
    const attempts: number[] = [];
    const workflow = defineWorkflow({ name: "failing" }, async (_event, step) => {
      await step.transaction("write", { retries: { limit: 1, delay: 0 } }, async (tx: Transaction, { attempt }) => {
        attempts.push(attempt);
        if (attempts.length < 4) await fail(tx);
      });
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });

    await withTime(subject.clock, async () => expect(await instance.status()).toMatchObject({ status: "errored" }));
    expect(attempts).toEqual([1, 2]);
  });

  describe.each(["repeatable read", "serializable"] as const)("that is %s", (isolation) => {
    /** An instance whose transaction is open, and whose owner hears of nothing that another process does. */
    async function begin() {
      const book = await ledger().create();
      const gate = new Gate();
      const ran: string[] = [];
      const workflow = defineWorkflow({ name: "open" }, async (_event, step) => {
        await step.transaction("write", { isolation, retries: { limit: 0 } }, async (tx) => {
          await tx.sql`insert into ledger (owner, amount) values (${book.owner}, 1)`;
          ran.push("write");
          await gate.opened;
        });
        await step.do("next", () => void ran.push("next"));
      });
      const process = subject.start({ workflow });
      const instance = await process.workflows.workflow.create({ id: "one" });
      await eventually(() => expect(ran).toEqual(["write"]));
      const target = { namespace: subject.namespace, name: "open", id: "one" };
      return { book, gate, ran, instance, target, engine: process.adapter.store.engine };
    }

    test("writes nothing after another process has terminated its instance", async () => {
      const { book, gate, ran, instance, target, engine: other } = await begin();
      await other.instances.terminate(target);
      gate.open();

      await withTime(subject.clock, async () =>
        expect(await instance.status()).toMatchObject({ status: "terminated" }),
      );
      expect(await book.amounts()).toEqual([]);
      expect(ran).toEqual(["write"]);
    });

    test("lets no step begin after another process has paused its instance", async () => {
      const { book, gate, ran, instance, target, engine: other } = await begin();
      await other.instances.pause(target);
      gate.open();

      await withTime(subject.clock, async () => expect(await instance.status()).toMatchObject({ status: "paused" }));
      expect(await book.amounts()).toEqual([1]);
      expect(ran).toEqual(["write"]);
    });
  });
});
