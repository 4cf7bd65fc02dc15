import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Application } from "../../src/app/perdure.ts";
import { defineHook } from "../../src/hooks/define-hook.ts";
import { defineWorkflow } from "../../src/workflows/define/define-workflow.ts";
import { ENGINES, type TestEngine } from "../support/engines.ts";
import { readEvents } from "./support/read-events.ts";
import { type Client, type Reply, useHttp } from "./support/use-http.ts";

/** More than are read from the database at once. */
const COUNT = 60;
const INDEXES = Array.from({ length: COUNT }, (_, index) => index);

const FULL = 8 * 1024 * 1024;
const LARGE = "x".repeat(900_000);

interface HistoryReply {
  readonly entries: { readonly run: number; readonly position: number }[];
  readonly cursor: string | null;
  readonly earlierRuns: { readonly run: number }[];
  readonly runsCursor: number | null;
}

const later = defineHook({}, async (_payload: string) => {});

/** On one engine: what the lists behind them give is shown elsewhere, on all. */
describe("pages", () => {
  const subject = useHttp(ENGINES[0] as TestEngine);
  let app: Application<{ later: typeof later }, Record<never, never>>;
  let client: Client;

  beforeAll(async () => {
    const idle = defineWorkflow({ name: "idle" }, async () => {});
    const steps = defineWorkflow({ name: "steps" }, async (_event, step) => {
      for (const index of INDEXES) await step.do(`step ${index}`, async () => index);
    });
    const started = await subject.start({ workflows: { idle, steps }, hooks: { later } });
    await started.workflows.idle.createBatch(INDEXES.map((index) => ({ id: `i${index}` })));
    await (await started.workflows.steps.create({ id: "one" })).result();
    const subjects = INDEXES.map((index) => ({ subjectKey: `s${index}` }));
    await started.subjects.dispatcher("warehouses").syncSubjects({ subjects });
    await trigger(started, "small");
    app = started;
    client = subject.serve(app);
  });
  afterAll(() => subject.end());

  async function trigger({ hooks }: Pick<typeof app, "hooks">, payload: string): Promise<void> {
    const processAt = new Date(Date.now() + 3_600_000);
    await Promise.all(INDEXES.map(() => hooks.later.trigger(payload, { processAt })));
  }

  async function readAll(path: string, field: string, limit: number): Promise<unknown[][]> {
    const pages: unknown[][] = [];
    let cursor: unknown = "";
    while (cursor !== null) {
      const { body } = await client.get(`${path}?limit=${limit}${cursor === "" ? "" : `&cursor=${cursor}`}`);
      pages.push(body[field] as unknown[]);
      cursor = body["cursor"];
    }
    return pages;
  }

  test.each([
    ["/instances", "instances", COUNT + 1],
    ["/workflows/idle/instances", "instances", COUNT],
    ["/workflows/steps/instances/one/history", "entries", COUNT],
    ["/hooks", "hooks", COUNT],
    ["/subjects/warehouses", "subjects", COUNT],
  ])("of %s have the number of items that was asked for, however many that is", async (path, field, count) => {
    const whole = await readAll(path, field, 1000);
    const parts = await readAll(path, field, 55);

    expect(whole.map(({ length }) => length)).toEqual([count]);
    expect(parts.map(({ length }) => length)).toEqual([55, count - 55]);
    expect(parts.flat()).toEqual(whole[0]);
  });

  test("end before they are too large, and lose nothing", async () => {
    await trigger(app, "x".repeat(200_000));

    const pages = await readAll("/hooks", "hooks", 1000);

    expect(pages.length).toBe(2);
    for (const page of pages) expect(JSON.stringify(page).length).toBeLessThan(FULL);
    expect(new Set(pages.flat().map((hook) => (hook as { id: string }).id)).size).toBe(2 * COUNT);
  });

  describe("of an instance with large outputs and many runs", () => {
    const path = "/workflows/large/instances/one";
    const RUNS = 4;
    const STEPS = 11;

    let large: Awaited<ReturnType<typeof startLarge>>;
    let client: Client;

    function startLarge() {
      const workflow = defineWorkflow({ name: "large" }, async (_event, step) => {
        for (const index of INDEXES.slice(0, STEPS)) await step.do(`step ${index}`, async () => LARGE);
        return LARGE;
      });
      return subject.start({ workflows: { large: workflow } });
    }

    beforeAll(async () => {
      large = await startLarge();
      client = subject.serve(large);
      await client.post("/workflows/large/instances", { id: "one" });
      for (let run = 1; run < RUNS; run++) {
        await client.becomes(path, "complete");
        await client.post(`${path}/restart`);
      }
      await client.becomes(path, "complete");
    });

    test("have at most 8 MiB of its history, and lose nothing", async () => {
      const positions: string[] = [];
      for (let cursor: string | null = ""; cursor !== null; ) {
        const { body }: Reply<HistoryReply> = await client.get(
          `${path}/history?limit=1000${cursor === "" ? "" : `&cursor=${cursor}`}`,
        );
        expect(JSON.stringify(body).length).toBeLessThan(FULL);
        positions.push(...body.entries.map(({ run, position }) => `${run}.${position}`));
        cursor = body.cursor;
      }
      expect(new Set(positions).size).toBe(positions.length);
      expect(positions.length).toBe(RUNS * STEPS);
    });

    test("have some of its earlier runs at a time, and a cursor to the next", async () => {
      const runs: number[][] = [];
      for (let after: number | null = 0; after !== null; ) {
        const { body }: Reply<HistoryReply> = await client.get(`${path}/history?limit=1&runsAfter=${after}`);
        expect(JSON.stringify(body).length).toBeLessThan(FULL / 2);
        runs.push(body.earlierRuns.map(({ run }) => run));
        after = body.runsCursor;
      }
      expect(runs).toEqual([[1, 2], [3]]);
    });

    test("are read for a slow subscriber in small parts, and only when it asks", async () => {
      const { statements } = large.parts.store.instances;
      const reads: number[] = [];
      const { history } = statements;
      statements.history = async (filter) => {
        const page = await history.call(statements, filter);
        reads.push(page.entries.length);
        return page;
      };
      try {
        const response = await client.handler(new Request(`http://localhost${path}/subscribe?filter=step_completed`));
        let steps = 0;
        for await (const { type } of readEvents(response)) {
          steps += type === "step_completed" ? 1 : 0;
          expect(reads.slice(1).every((entries) => entries === 1)).toBe(true);
          expect(reads.length).toBeLessThanOrEqual(steps + 2);
        }
        expect(steps).toBe(STEPS);
      } finally {
        statements.history = history;
      }
    });
  });
});
