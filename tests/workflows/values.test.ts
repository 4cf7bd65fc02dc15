import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { afterLong, replaceProcess, untilParked } from "./support/lose-process.ts";
import { untilStatus, useWorkflows } from "./support/use-workflows.ts";

const SAMPLES: [string, () => unknown][] = [
  ["a date", () => new Date(86_400_000)],
  ["a map", () => new Map([["a", { b: 1 }]])],
  ["a set", () => new Set([1, "2"])],
  ["a big integer", () => 12_345_678_901_234_567_890n],
  ["a regular expression", () => /a+/giu],
  ["an error", () => new RangeError("far", { cause: new Error("why") })],
  ["a typed array", () => new Uint8Array([0, 255])],
  ["floats", () => new Float64Array([0.5, -0])],
  ["minus zero", () => -0],
  ["undefined", () => undefined],
  ["null", () => null],
  ["what isn't a number", () => Number.NaN],
  ["a nested mixture", () => ({ a: [undefined, new Date(0), { b: new Set([1n]) }], c: -0 })],
];

describe.each(ENGINES)("results of steps on $name", (engine) => {
  const subject = useWorkflows(engine);

  test.each(SAMPLES)("are the same live and after a replay: %s", async (_, make) => {
    const seen: unknown[] = [];
    const workflow = defineWorkflow({ name: "values" }, async (_event, step) => {
      seen.push(await step.do("make", make));
      await step.sleep("rest", "1 hour");
      return seen.at(-1);
    });
    const first = subject.start({ workflow });
    const created = await first.workflows.workflow.create({ id: "one" });
    await untilParked(created);
    const second = await replaceProcess(subject, first, { workflow });
    const instance = await second.workflows.workflow.get("one");
    await afterLong(subject, instance, "complete");

    expect(seen.length).toBeGreaterThanOrEqual(2);
    for (const value of [...seen, await instance.result()]) expect(value).toStrictEqual(make());
  });

  test("is a copy: changing it changes nothing else", async () => {
    const original = { list: [1] };
    const workflow = defineWorkflow({ name: "copies" }, async (event: { payload: { given: number[] } }, step) => {
      const copy = await step.do("make", () => original);
      copy.list.push(2);
      event.payload.given.push(3);
      return step.do("look", () => original);
    });
    const given = [1];
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ params: { given } as never });

    await expect(instance.result()).resolves.toEqual({ list: [1] });
    expect(original).toEqual({ list: [1] });
    expect(given).toEqual([1]);
  });

  test.each<[string, () => unknown, string]>([
    ["a function", () => () => {}, "value.unsupported"],
    ["a symbol", () => Symbol("s"), "value.unsupported"],
    ["an instance of a class", () => new (class Socket {})(), "value.unsupported"],
    ["a promise inside", () => ({ later: Promise.resolve() }), "value.unsupported"],
    [
      "a cycle",
      () => {
        const cycle: { self?: unknown } = {};
        cycle.self = cycle;
        return cycle;
      },
      "value.cycle",
    ],
    ["too much", () => "x".repeat(1024 * 1024), "value.too_large"],
  ])("can't be %s: the step fails, clearly and without another attempt", async (_, make, code) => {
    let runs = 0;
    const workflow = defineWorkflow({ name: "refused" }, async (_event, step) => {
      try {
        await step.do("make", () => {
          runs++;
          return make();
        });
        return "stored";
      } catch (error) {
        return { code: (error as { code: string }).code, message: (error as Error).message };
      }
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    await untilStatus(subject.clock, instance, "complete");

    expect(await instance.result()).toEqual({
      code,
      message: expect.stringContaining('The result of the step "make"'),
    });
    expect(runs).toBe(1);
  });

  test("can be as large as the application allows", async () => {
    const workflow = defineWorkflow({ name: "large" }, async (_event, step) =>
      step
        .do("make", () => "x".repeat(90))
        .then(
          (value) => value.length,
          (error: { code: string }) => error.code,
        ),
    );
    const small = subject.start({ workflow }, { workflowLimits: { valueBytes: 91 } });
    const refused = await small.workflows.workflow.create();
    await expect(refused.result()).resolves.toBe("value.too_large");
    await small.close();
    const large = subject.start({ workflow }, { workflowLimits: { valueBytes: 92 } });
    const accepted = await large.workflows.workflow.create();

    await expect(accepted.result()).resolves.toBe(90);
  });

  test("can't be given by a workflow that gives what can't be stored", async () => {
    const workflow = defineWorkflow({ name: "refused" }, async () => () => {});
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    await untilStatus(subject.clock, instance, "errored");

    await expect(instance.result()).rejects.toMatchObject({
      code: "workflow.failed",
      cause: { code: "value.unsupported", message: expect.stringContaining("The result of the workflow") },
    });
  });

  test("keeps an error's name, message, properties and cause, for the workflow, its status and its result", async () => {
    const caught: unknown[] = [];
    const workflow = defineWorkflow({ name: "errors" }, async (_event, step) => {
      try {
        await step.do("fail", { retries: { limit: 0 } }, () => {
          const error = new TypeError("broken", { cause: new Error("deeper") });
          error.name = "Broken";
          throw Object.assign(error, { status: 503, at: new Date(5) });
        });
      } catch (error) {
        caught.push(error);
        await step.sleep("rest", "1 hour");
        throw error;
      }
    });
    const first = subject.start({ workflow });
    const created = await first.workflows.workflow.create({ id: "one" });
    await untilParked(created);
    const second = await replaceProcess(subject, first, { workflow });
    const instance = await second.workflows.workflow.get("one");
    await afterLong(subject, instance, "errored");
    const failure = await instance.result().catch((error: unknown) => error as Error);

    expect(caught.length).toBeGreaterThanOrEqual(2);
    for (const error of [...caught, failure?.cause]) {
      expect(error).toBeInstanceOf(TypeError);
      expect(error).toMatchObject({ name: "Broken", message: "broken", status: 503, at: new Date(5) });
      expect((error as Error).cause).toMatchObject({ message: "deeper" });
    }
    expect(failure).toMatchObject({ name: "WorkflowFailedError", code: "workflow.failed" });
    expect(await instance.status()).toMatchObject({ error: { name: "Broken", message: "broken" } });
  });

  test.each([
    ["a text", "just text"],
    ["nothing", undefined],
    ["an object", { why: "so" }],
  ])("may be thrown as %s", async (_, thrown) => {
    const workflow = defineWorkflow({ name: "odd" }, async () => {
      throw thrown;
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    const failure = await instance.result().catch((error: unknown) => error as Error);

    expect(failure).toMatchObject({ code: "workflow.failed" });
    expect((failure as Error).cause).toEqual(thrown);
  });
});
