import { describe, expect, test } from "vitest";
import { defineWorkflow, type HistoryItem, type HistoryOptions, type WorkflowInstance } from "../../src/index.ts";
import { ENCRYPTED_SQLITE, ENGINES } from "../support/engines.ts";
import { becomes, comesToRest } from "./support/sample.ts";
import { eventually, useWorkflows } from "./support/use-workflows.ts";

describe.each([...ENGINES, ENCRYPTED_SQLITE])("the history of an instance on $name", (engine) => {
  const subject = useWorkflows(engine);

  /** Three runs: one that gave a result, one that failed, and one that is on its way. */
  async function threeRuns() {
    let runs = 0;
    const workflow = defineWorkflow({ name: "storied" }, async (_event, step) => {
      const first = await step.do("a", () => `a${++runs}`);
      const run = Number(first.slice(1));
      for (const name of ["b", "c"]) await step.do(name, () => `${name}${run}`);
      if (run === 2) throw new RangeError("too far");
      if (run === 3) await step.waitForEvent("word", { type: "word", timeout: "1 day" });
      return `run ${run}`;
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    for (const status of ["complete", "errored"]) {
      await becomes(instance, status);
      await instance.restart();
    }
    await eventually(async () => expect(await instance.status()).toMatchObject({ status: "waiting", run: 3 }));
    await comesToRest(process);
    return instance;
  }

  const shown = (entries: readonly HistoryItem[]) => entries.map(({ run, kind, name }) => `${run} ${kind} ${name}`);

  async function allPages(instance: WorkflowInstance, options: HistoryOptions) {
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await instance.history({ ...options, ...(cursor === undefined ? {} : { cursor }) });
      pages.push(shown(page.entries));
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined);
    return pages;
  }

  const ALL = [1, 2, 3].flatMap((run) => ["a", "b", "c"].map((name) => `${run} completed ${name}`));
  const EVERYTHING = [...ALL, "3 waiting word"];

  test("has every run, with what became of the earlier ones", async () => {
    const instance = await threeRuns();
    const { run, earlierRuns, entries, cursor } = await instance.history();

    expect(shown(entries)).toEqual(EVERYTHING);
    expect(cursor).toBeNull();
    expect(run).toBe(3);
    expect(earlierRuns).toMatchObject([
      { run: 1, status: "complete", output: "run 1" },
      { run: 2, status: "errored", error: { name: "RangeError", message: "too far" } },
    ]);
    expect(entries[0]).toMatchObject({ position: 1, type: "do", count: 1, attempt: 1, output: "a1" });
    expect(entries.at(-1)).toMatchObject({ dueAt: new Date(subject.clock.now() + 86_400_000) });
  });

  test("has at most a hundred earlier runs at a time, and a cursor to the next", async () => {
    const workflow = defineWorkflow({ name: "storied" }, async () => {});
    const process = subject.process({ workflow }); // it has no worker, so each run ends with the restart
    const instance = await process.workflows.workflow.create();
    for (let restarts = 0; restarts < 103; restarts++) await instance.restart();
    const first = await instance.history();
    expect(first.earlierRuns.map(({ run }) => run)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
    const rest = await instance.history({ runsAfter: first.runsCursor as number });
    expect(rest.earlierRuns.map(({ run }) => run)).toEqual([101, 102, 103]);
    expect([first.runsCursor, rest.runsCursor]).toEqual([100, null]);
  });

  test.each([1, 2, 3, 7, 10, 1000])("comes in pages of %i, in both orders", async (limit) => {
    const instance = await threeRuns();
    const oldest = await allPages(instance, { limit });
    const newest = await allPages(instance, { limit, order: "newest" });

    expect(oldest.flat()).toEqual(EVERYTHING);
    expect(newest.flat()).toEqual(EVERYTHING.toReversed());
    for (const page of [...oldest.slice(0, -1), ...newest.slice(0, -1)]) expect(page).toHaveLength(limit);
  });

  test("can be that of one run", async () => {
    const instance = await threeRuns();

    expect((await allPages(instance, { run: 2, limit: 2 })).flat()).toEqual(ALL.slice(3, 6));
    expect((await allPages(instance, { run: 2, limit: 2, order: "newest" })).flat()).toEqual(ALL.slice(3, 6).reverse());
    expect((await instance.history({ run: 9 })).entries).toEqual([]);
  });

  test("has cursors that hold while more happens", async () => {
    const instance = await threeRuns();
    const first = await instance.history({ limit: 8 });
    const newest = await instance.history({ limit: 1, order: "newest" });
    await instance.sendEvent({ type: "word", payload: { said: true } });
    await expect(instance.result()).resolves.toBe("run 3");

    const rest = await instance.history({ cursor: first.cursor as string });
    expect(shown(rest.entries)).toEqual(["3 completed c", "3 waiting word", "3 received word"]);
    expect(rest.entries.at(-1)).toMatchObject({ event: { type: "word", payload: { said: true } } });
    const older = await instance.history({ cursor: newest.cursor as string, order: "newest" });
    expect(shown(older.entries)).toEqual(ALL.toReversed());
  });

  test("refuses what it doesn't understand", async () => {
    const instance = await threeRuns();
    const refused = [{ limit: 0 }, { limit: 1001 }, { run: 0 }, { run: 1.5 }, { order: "up" }, { page: 1 }];
    for (const options of refused) {
      await expect(instance.history(options as never)).rejects.toMatchObject({ code: "options.invalid" });
    }
    await expect(instance.history({ cursor: "nonsense" })).rejects.toMatchObject({ code: "cursor.invalid" });
  });
});
