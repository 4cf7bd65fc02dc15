import { describe, expect, test } from "vitest";
import { defineHook, defineWorkflow, type WorkflowEvent } from "../../src/index.ts";
import { createTestApp, exploreCrashes, introspectWorkflow, replay, type TestApp } from "../../src/testing/index.ts";

/** A workflow that writes in transactions: rows of its own, a hook and an event for another instance. */
function createPosting() {
  const mails: string[] = [];
  const mail = defineHook((text: string) => void mails.push(text));
  const ledger = defineWorkflow({ name: "ledger" }, async (_event, step) => {
    return (await step.waitForEvent<number>("posted", { type: "posted" })).payload;
  });
  const posting = defineWorkflow({ name: "posting" }, async ({ payload }: WorkflowEvent<number>, step) => {
    const posted = await step.transaction("post", async (tx, ctx) => {
      await tx.sql`create table if not exists posting (key text, amount integer)`;
      await tx.sql`insert into posting values (${ctx.idempotencyKey}, ${payload})`;
      return payload * 2;
    });
    await step.trigger(mail, `posted ${posted}`);
    await step.sendEvent({ workflow: ledger, id: "ledger" }, { type: "posted", payload: posted });
    return posted;
  });
  return { workflows: { posting, ledger }, hooks: { mail }, mails };
}

type Posting = ReturnType<typeof createPosting>;
type PostingApp = TestApp<Posting["hooks"], Posting["workflows"]>;

async function countPostings(app: PostingApp): Promise<number> {
  const [row] = await app.unitOfWork((uow) => uow.sql`select count(*) as postings from posting`);
  return Number(row?.["postings"]);
}

async function post(app: PostingApp): Promise<void> {
  await app.workflows.ledger.create({ id: "ledger", onConflict: "return" });
  await app.workflows.posting.create({ id: "one", params: 21, onConflict: "return" });
}

describe("a step in a transaction", () => {
  test("runs in a test application, with the hooks and the events of steps", async () => {
    const { mails, ...definitions } = createPosting();
    await using app = await createTestApp(definitions);
    await post(app);
    await app.runUntilIdle();
    expect(await (await app.workflows.posting.get("one")).result()).toBe(42);
    expect(await (await app.workflows.ledger.get("ledger")).result()).toBe(42);
    expect(mails).toEqual(["posted 42"]);
    expect(await countPostings(app)).toBe(1);
  });

  test("can be mocked as any other step, and then writes nothing", async () => {
    const { mails, ...definitions } = createPosting();
    await using app = await createTestApp(definitions);
    await using introspector = await introspectWorkflow(app.workflows.posting);
    await introspector.modifyAll(async (modifier) => {
      await modifier.disableRetryDelays();
      await modifier.mockStepError({ name: "post" }, new Error("The database is busy."), 2);
      await modifier.mockStepResult({ name: "post" }, 7);
    });
    await post(app);
    await app.runUntilIdle();
    expect(await (await app.workflows.posting.get("one")).result()).toBe(7);
    expect(mails).toEqual(["posted 7"]);
    const { entries } = await (await app.workflows.posting.get("one")).history();
    const failures = entries.flatMap(({ kind, error }) => (kind === "failed" ? [error?.message] : []));
    expect(failures).toEqual(["The database is busy.", "The database is busy."]);
  });

  test("is replayed from its history, and calls nothing", async () => {
    const { mails, ...definitions } = createPosting();
    await using app = await createTestApp(definitions);
    await post(app);
    await app.runUntilIdle();
    const { entries } = await (await app.workflows.posting.get("one")).history();
    const { hooks, workflows } = definitions;
    const report = await replay(entries, workflows.posting, {
      params: 21,
      workflows: { ledger: workflows.ledger },
      hooks,
    });
    expect(report).toEqual({ outcome: "complete", output: 42, next: [], unreached: [], inserted: [], repeated: [] });
    expect(mails).toEqual(["posted 42"]);
    const next = async (history: typeof entries) => {
      return (await replay(history, workflows.posting, { params: 21, workflows: { ledger: workflows.ledger }, hooks }))
        .next;
    };
    expect(await next([])).toEqual(["do:post"]);
    expect(await next(entries.slice(0, 1))).toEqual(["do:trigger mail"]);
    expect(await next(entries.slice(0, 2))).toEqual(["do:send posted to ledger"]);
    await expect(replay(entries, workflows.posting, { params: 21 })).resolves.toMatchObject({ outcome: "errored" });
  });

  test("has its effects once, wherever its process crashes", async () => {
    const report = await exploreCrashes(
      {
        setUp: createPosting,
        run: post,
        check: async (app, { mails }) => ({ postings: await countPostings(app), mails: new Set(mails).size }),
      },
      { runAgain: true },
    );
    expect(report.outcomes.map(({ outcome }) => outcome)).toEqual([{ postings: 1, mails: 1 }]);
    expect(report.outcomes.flatMap(({ crashes }) => crashes).length).toBeGreaterThan(6);
  });
});

describe("a hook in a transaction", () => {
  test("writes its row once in a test application, wherever its process crashes", async () => {
    const credit = defineHook(async (amount: number, hook) => {
      await hook.transaction(async (tx) => {
        await tx.sql`create table if not exists posting (key text, amount integer)`;
        await tx.sql`insert into posting values (${hook.idempotencyKey}, ${amount})`;
      });
    });
    const report = await exploreCrashes(
      {
        setUp: () => ({ hooks: { credit } }),
        run: (app) => app.hooks.credit.trigger(5, { id: "credit-1" }),
        check: async (app) => {
          const rows = await app.unitOfWork((uow) => uow.sql`select amount from posting`);
          return {
            rows: rows.map(({ amount }) => amount),
            status: (await app.durableHooks.get("credit/credit-1"))?.status,
          };
        },
      },
      { runAgain: true },
    );
    expect(report.outcomes.map(({ outcome }) => outcome)).toEqual([{ rows: [5], status: "completed" }]);
    expect(report.outcomes.flatMap(({ crashes }) => crashes).length).toBeGreaterThan(3);
  });
});
