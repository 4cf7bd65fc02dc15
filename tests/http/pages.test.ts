import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Application } from "../../src/app/perdure.ts";
import { defineHook } from "../../src/hooks/define-hook.ts";
import { defineWorkflow } from "../../src/workflows/define-workflow.ts";
import { ENGINES, type TestEngine } from "../support/engines.ts";
import { type Client, useHttp } from "./support/use-http.ts";

/** More than are read from the database at once. */
const COUNT = 60;
const INDEXES = Array.from({ length: COUNT }, (_, index) => index);

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
  ])("of %s have what was asked for, however much that is", async (path, field, count) => {
    const whole = await readAll(path, field, 1000);
    const parts = await readAll(path, field, 55);

    expect(whole.map(({ length }) => length)).toEqual([count]);
    expect(parts.map(({ length }) => length)).toEqual([55, count - 55]);
    expect(parts.flat()).toEqual(whole[0]);
  });

  test("end before they are too large, and lose nothing", async () => {
    await trigger(app, "x".repeat(200_000));

    const pages = await readAll("/hooks", "hooks", 1000);

    expect(pages.map(({ length }) => length)).toEqual([50, 70]);
    expect(new Set(pages.flat().map((hook) => (hook as { id: string }).id)).size).toBe(2 * COUNT);
  });
});
