import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Application, perdure } from "../../src/app/perdure.ts";
import { aesGcm, defineWorkflow, type WorkflowEvent } from "../../src/index.ts";
import { sqlite } from "../../src/store/sqlite/index.ts";
import { parseWorkflowLimits } from "../../src/workflows/define/workflow-settings.ts";
import { ENGINES, type TestStore } from "../support/engines.ts";
import { clearAnswer, clearAnswerSync } from "./support/clear-answer.ts";
import { fuzz } from "./support/fuzz.ts";
import { given, hostileNumber, hostileOptions, hostileText, hostileValue, type Recipe } from "./support/hostile.ts";

const silent = { info: () => {}, warn: () => {}, error: () => {} };
const duration = fc.oneof<fc.Arbitrary<Recipe>[]>(
  hostileNumber,
  hostileText,
  given(fc.constantFrom("1 second", "7 days", 0, 100)),
);
const retention = hostileOptions({ successRetention: duration, errorRetention: duration });
const labels = hostileOptions({ tenant: hostileText, region: given(fc.constant("north")) });
const key = given(fc.constantFrom((params: unknown) => String(params)));
const schedule = hostileOptions({
  cron: fc.oneof<fc.Arbitrary<Recipe>[]>(hostileText, given(fc.constantFrom("0 9 * * *", "* * * * * *", "@daily"))),
  timezone: fc.oneof<fc.Arbitrary<Recipe>[]>(hostileText, given(fc.constantFrom("UTC", "Europe/Berlin"))),
  params: hostileValue,
  name: hostileText,
});
const definition = hostileOptions({
  name: given(fc.constantFrom("fuzzed", "x".repeat(256))),
  schedules: schedule.map(({ description, make }) => ({ description, make: () => [make()] }) as Recipe),
  retention,
  concurrency: hostileOptions({ limit: hostileNumber, key }),
  rateLimit: hostileOptions({ limit: hostileNumber, period: duration, key }),
  onCompleted: given(fc.constant(() => {})),
  onErrored: hostileValue,
});
const creation = hostileOptions({
  id: hostileText,
  params: hostileValue,
  onConflict: given(fc.constantFrom("error", "return")),
  priority: hostileNumber,
  retention,
  labels,
});
const rollback = hostileOptions({
  rollback: given(fc.constant(() => {})),
  rollbackConfig: hostileOptions({
    retries: hostileOptions({ limit: hostileNumber, delay: duration }),
    timeout: duration,
  }),
});
const stepConfig = hostileOptions({
  retries: hostileOptions({ limit: given(fc.nat({ max: 2 })), delay: given(fc.constant(0)) }),
  timeout: duration,
  sensitive: given(fc.constant("output")),
  progress: given(fc.constant("keep")),
  aliases: hostileText.map(({ description, make }) => ({ description, make: () => [make()] }) as Recipe),
});

describe("a workflow definition with arbitrary values", () => {
  test("a workflow is defined and registered, or is refused", () =>
    fuzz([definition], async (options) => {
      const defined = clearAnswerSync(() => defineWorkflow(options as never, async () => {}));
      if ("refused" in defined) return;
      const adapter = sqlite(":memory:", { logger: silent });
      const workflows = { fuzzed: defined.result };
      const app = await clearAnswer(() => perdure({ database: adapter, workflows, worker: false, logger: silent }));
      if ("result" in app) await app.result.stop();
      await adapter.store.close();
    }));

  test("limits are whole numbers, or are refused", () => {
    const names = ["steps", "valueBytes", "journalEntries", "batchSize", "pendingEvents", "instanceIdLength"];
    return fuzz([hostileOptions(Object.fromEntries(names.map((name) => [name, hostileNumber])))], (limits) => {
      const answer = clearAnswerSync(() => parseWorkflowLimits(limits as object));
      if ("result" in answer)
        for (const value of Object.values(answer.result)) expect(value).toSatisfy(Number.isInteger);
    });
  });

  test("a codec is made and used, or is refused", () => {
    const options = hostileOptions({
      keys: hostileOptions({ a: given(fc.constant(new Uint8Array(32))), b: hostileText }),
      current: given(fc.constant("a")),
    });
    return fuzz([options, hostileValue], async (given, codec) => {
      clearAnswerSync(() => aesGcm(given as never));
      const answer = clearAnswerSync(() => sqlite(":memory:", { codec: codec as never, logger: silent }));
      if ("result" in answer) await answer.result.store.close();
    });
  });
});

describe.each(ENGINES)("with arbitrary arguments for workflows on $name", (engine) => {
  const plain = defineWorkflow({ name: "plain" }, async (_: WorkflowEvent<unknown>) => "done");
  const steps = defineWorkflow({ name: "steps" }, async (_: WorkflowEvent<unknown>, step) => {
    const [config, options] = asked;
    const answer = await clearAnswer(() => step.do("a", config as never, async () => 1, options as never));
    return "result" in answer ? "done" : "refused";
  });
  let asked: [config: unknown, options: unknown] = [undefined, undefined];
  let database: TestStore;
  let app: Application<Record<never, never>, { plain: typeof plain; steps: typeof steps }>;

  beforeAll(async () => {
    database = await engine.create({ logger: silent });
    app = await perdure({ database: database.adapter, workflows: { plain, steps }, logger: silent });
  });
  afterAll(async () => {
    await app.stop({ deadlineMs: 0 });
    await database.dispose();
  });

  test("an instance is created, or is refused and isn't there", async () => {
    await fuzz([creation], async (options) => {
      const before = (await app.workflows.plain.counts()).total;
      const answer = await clearAnswer(() => app.workflows.plain.create(options as never));
      if ("refused" in answer) expect((await app.workflows.plain.counts()).total).toBe(before);
    });
    expect(await (await app.workflows.plain.create()).result()).toBe("done");
  });

  test("a step takes its options and rollback, or is refused, and the instance ends", async () => {
    await fuzz([stepConfig, rollback], async (...options) => {
      asked = options;
      const result = await (await app.workflows.steps.create()).result({ timeout: "1 minute" });
      expect(["done", "refused"]).toContain(result);
    });
  });
});
