import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineWorkflow, instantiate, type WorkflowStep, workflowsFragment } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { useWorkflows } from "./support/use-workflows.ts";

type Misuse = (step: WorkflowStep) => Promise<unknown>;
const wrong = (value: unknown) => value as never;

const MISUSES: [string, Misuse, string][] = [
  ["an empty name", (step) => step.do("", () => {}), "step.invalid_name"],
  ["a name that is too long", (step) => step.do("x".repeat(257), () => {}), "step.invalid_name"],
  ["a control character in a name", (step) => step.do("a\nb", () => {}), "step.invalid_name"],
  ["half a character in a name", (step) => step.do("\ud800", () => {}), "step.invalid_name"],
  ["a name that is no text", (step) => step.do(wrong(5), () => {}), "step.invalid_name"],
  ["no function", (step) => step.do("a", wrong({})), "step.invalid"],
  ["a misspelt field", (step) => step.do("a", wrong({ retry: {} }), () => {}), "step.invalid"],
  ["a misspelt field of retries", (step) => step.do("a", wrong({ retries: { times: 1 } }), () => {}), "step.invalid"],
  ["a negative limit", (step) => step.do("a", { retries: { limit: -1 } }, () => {}), "step.invalid"],
  ["a fractional limit", (step) => step.do("a", { retries: { limit: 0.5 } }, () => {}), "step.invalid"],
  ["an unknown backoff", (step) => step.do("a", { retries: { backoff: wrong("square") } }, () => {}), "step.invalid"],
  ["a delay that is none", (step) => step.do("a", { retries: { delay: wrong("soon") } }, () => {}), "duration.invalid"],
  ["a timeout of nothing", (step) => step.do("a", { timeout: 0 }, () => {}), "step.invalid"],
  ["a timeout in moons", (step) => step.do("a", { timeout: wrong("2 moons") }, () => {}), "duration.invalid"],
  ["aliases that are no array", (step) => step.do("a", { aliases: wrong("b") }, () => {}), "step.invalid"],
  ["an alias that is no name", (step) => step.do("a", { aliases: [""] }, () => {}), "step.invalid_name"],
  ["a sleep without a name", (step) => step.sleep("", 5), "step.invalid_name"],
  ["a sleep of more than a year", (step) => step.sleep("a", "366 days"), "duration.invalid"],
  ["a negative sleep", (step) => step.sleep("a", -5), "duration.invalid"],
  ["a sleep of no number", (step) => step.sleep("a", Number.NaN), "duration.invalid"],
  ["a sleep of no duration", (step) => step.sleep("a", wrong(undefined)), "duration.invalid"],
  ["a sleep until no date", (step) => step.sleepUntil("a", new Date("never")), "step.invalid"],
  ["a sleep until microseconds", (step) => step.sleepUntil("a", Date.now() * 1000), "step.invalid"],
  ["a sleep until a text", (step) => step.sleepUntil("a", wrong("2031-01-01")), "step.invalid"],
  ["a wait without a type", (step) => step.waitForEvent("a", wrong({})), "id.invalid"],
  ["a wait for a bad type", (step) => step.waitForEvent("a", { type: "a b" }), "id.invalid"],
  ["a wait without options", (step) => step.waitForEvent("a", wrong(undefined)), "step.invalid"],
  ["a wait with a misspelt field", (step) => step.waitForEvent("a", wrong({ type: "a", time: 1 })), "step.invalid"],
];

describe.each(ENGINES)("bad input on $name", (engine) => {
  const subject = useWorkflows(engine);

  test.each(MISUSES)("of a step is refused: %s", async (_, misuse, code) => {
    const workflow = defineWorkflow({ name: "misuse" }, async (_event, step) =>
      misuse(step).then(
        () => "accepted",
        (error: { code: string; name: string }) => [error.name, error.code],
      ),
    );
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();

    await expect(instance.result()).resolves.toEqual(["InvalidInputError", code]);
    expect((await instance.history()).entries).toEqual([]);
  });

  test("of a caller that forgot an await is refused at once, though the promise never resolves", async () => {
    const free = defineWorkflow({ name: "free" }, async () => "done");
    const checked = defineWorkflow({ name: "checked", input: z.any(), events: { go: z.any() } }, async () => "done");
    const { workflows } = subject.process({ free, checked });
    const promise = wrong(new Promise<never>(() => {}));
    const refused = { code: "value.unsupported", message: expect.stringContaining("Was an await forgotten?") };
    for (const binding of [workflows.free, workflows.checked] as (typeof workflows.checked)[]) {
      await expect(binding.create({ id: "refused", params: promise })).rejects.toMatchObject(refused);
      await expect(binding.get("refused")).rejects.toMatchObject({ code: "instance.not_found" });
      const instance = await binding.create(wrong({ params: 1 }));
      await expect(instance.sendEvent({ type: "go", payload: promise })).rejects.toMatchObject(refused);
    }
  });

  const order = defineWorkflow(
    {
      name: "order",
      input: z.object({ total: z.coerce.number<string>() }),
      output: z.object({ paid: z.boolean(), note: z.string().default("none") }),
      events: { approved: z.object({ by: z.string() }) },
    },
    async (event, step) => {
      const { payload } = await step.waitForEvent("approval", { type: "approved" });
      return { paid: event.payload.total > 5 && payload.by !== "" };
    },
  );

  test.each<[string, unknown, string]>([
    ["params that the schema refuses", { params: { total: "many" } }, "params.invalid"],
    ["no params", {}, "params.invalid"],
    ["an id with a space", { id: "a b", params: { total: "1" } }, "id.invalid"],
    ["an id that is too long", { id: "x".repeat(101), params: { total: "1" } }, "id.invalid"],
    ["an empty id", { id: "", params: { total: "1" } }, "id.invalid"],
    ["a misspelt option", { ids: "a" }, "create.invalid"],
    ["an unknown onConflict", { onConflict: "replace", params: { total: "1" } }, "create.invalid"],
  ])("of create is refused, and nothing is stored: %s", async (_, options, code) => {
    const process = subject.start({ order });

    await expect(process.workflows.order.create(wrong(options))).rejects.toMatchObject({ code });
    await expect(
      process.workflows.order.createBatch([{ params: { total: "1" } }, wrong(options)]),
    ).rejects.toMatchObject({
      code,
    });
    expect((await process.workflows.order.list()).instances).toEqual([]);
  });

  test("of createBatch is refused: more than a hundred, or no array", async () => {
    const process = subject.start({ order });
    const many = Array.from({ length: 101 }, () => ({ params: { total: "1" } }));

    await expect(process.workflows.order.createBatch(many)).rejects.toMatchObject({ code: "create.invalid" });
    await expect(process.workflows.order.createBatch(wrong({}))).rejects.toMatchObject({ code: "create.invalid" });
    expect((await process.workflows.order.list()).instances).toEqual([]);
  });

  test("of sendEvent is refused, and what the schema makes of good input arrives", async () => {
    const process = subject.start({ order });
    const instance = await process.workflows.order.create({ params: { total: "12" } });
    for (const [event, code] of [
      [{ type: "approved", payload: { by: 5 } }, "event.invalid"],
      [{ type: "approved" }, "event.invalid"],
      [{ type: "denied", payload: {} }, "event.invalid"],
      [{ type: "a b" }, "id.invalid"],
      [{ type: "approved", payload: { by: "me" }, id: "a b" }, "id.invalid"],
      [{ type: "approved", payload: { by: "me" }, key: "a" }, "event.invalid"],
      [null, "event.invalid"],
    ] as const) {
      await expect(instance.sendEvent(wrong(event)), JSON.stringify(event)).rejects.toMatchObject({ code });
    }
    await instance.sendEvent({ type: "approved", payload: { by: "me" } });

    await expect(instance.result()).resolves.toEqual({ paid: true, note: "none" });
  });

  test("of an output is refused at the end", async () => {
    const workflow = defineWorkflow({ name: "out", output: z.object({ n: z.number() }) }, async () =>
      wrong({ n: "x" }),
    );
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();

    await expect(instance.result()).rejects.toMatchObject({ cause: { code: "output.invalid" } });
  });

  test("is a step too many, which no attempt makes better; sleeps don't count", async () => {
    const workflow = defineWorkflow({ name: "endless" }, async (_event, step) => {
      for (let round = 1; ; round++) {
        await step.sleep("nap", 0);
        await step.do("work", () => {});
        if (round > 9) return round;
      }
    });
    const process = subject.start({ workflow }, { workflowLimits: { steps: 3 } });
    const instance = await process.workflows.workflow.create();

    await expect(instance.result()).rejects.toMatchObject({ cause: { name: "TooManyStepsError" } });
    const { entries } = await instance.history();
    expect(entries.filter(({ type }) => type === "do")).toHaveLength(3);
  });
});

describe("bad definitions of workflows", () => {
  test.each<[string, () => unknown, string]>([
    [
      "no name",
      () =>
        defineWorkflow(
          wrong({}),
          wrong(async () => {}),
        ),
      "workflow.invalid_name",
    ],
    ["a bad name", () => defineWorkflow({ name: "a b" }, async () => {}), "workflow.invalid_name"],
    ["a long name", () => defineWorkflow({ name: "x".repeat(257) }, async () => {}), "workflow.invalid_name"],
    ["no function", () => defineWorkflow({ name: "a" }, wrong(undefined)), "workflow.invalid"],
    [
      "a misspelt option",
      () =>
        defineWorkflow(
          wrong({ name: "a", inputs: 1 }),
          wrong(async () => {}),
        ),
      "workflow.invalid",
    ],
    [
      "an input that is no schema",
      () =>
        defineWorkflow(
          wrong({ name: "a", input: {} }),
          wrong(async () => {}),
        ),
      "workflow.invalid",
    ],
    [
      "events that are no object",
      () =>
        defineWorkflow(
          wrong({ name: "a", events: [] }),
          wrong(async () => {}),
        ),
      "workflow.invalid",
    ],
    [
      "an event without a schema",
      () =>
        defineWorkflow(
          wrong({ name: "a", events: { b: 1 } }),
          wrong(async () => {}),
        ),
      "workflow.invalid",
    ],
    ["no workflows", () => instantiate(workflowsFragment).build(), "options.invalid"],
  ])("are refused: %s", (_, define, code) => {
    expect(define).toThrow(expect.objectContaining({ code }));
  });
});
