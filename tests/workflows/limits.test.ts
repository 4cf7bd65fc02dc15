import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowEvent, type WorkflowLimits } from "../../src/index.ts";
import { parseWorkflowLimits } from "../../src/workflows/workflow-settings.ts";
import { ENCRYPTED_SQLITE, ENGINES } from "../support/engines.ts";
import { useWorkflows } from "./support/use-workflows.ts";

const nameOf = (error: unknown) => (error as Error).name;

describe.each([...ENGINES, ENCRYPTED_SQLITE])("limits on $name", (engine) => {
  const subject = useWorkflows(engine);

  test("of sizes are each their own, in bytes of the plain value, with valueBytes for the rest", async () => {
    const workflow = defineWorkflow({ name: "sizes" }, async (event: WorkflowEvent<unknown>, step) => {
      const { payload } = await step.waitForEvent<number>("size", { type: "size" });
      const failed = await step.do("large", async () => "x".repeat(payload)).then(String, (error) => error.code);
      return failed === "value.too_large" ? failed : `${event.payload}${failed}`;
    });
    const workflowLimits = { valueBytes: 20, paramsBytes: 4, eventBytes: 3, stepResultBytes: 7, resultBytes: 17 };
    const process = subject.start({ workflow }, { workflowLimits });
    const { create } = process.workflows.workflow;
    await expect(create({ params: "abc" })).rejects.toMatchObject({ code: "value.too_large" });
    await expect(create({ params: "é\u00e9" })).rejects.toMatchObject({ code: "value.too_large" });
    const start = async (size: number) => {
      const instance = await create({ params: "ab" });
      await expect(instance.sendEvent({ type: "size", payload: 1000 })).rejects.toMatchObject({
        code: "value.too_large",
      });
      await instance.sendEvent({ type: "size", payload: size });
      return instance.result();
    };
    expect(await start(5)).toBe("abxxxxx");
    expect(await start(6)).toBe("value.too_large");
  });

  test("of the workflow's own result end it with an error that says so", async () => {
    const workflow = defineWorkflow({ name: "result" }, async () => "12345");
    const process = subject.start({ workflow }, { workflowLimits: { resultBytes: 6 } });
    const result = (await process.workflows.workflow.create()).result();
    await expect(result).rejects.toMatchObject({ cause: expect.objectContaining({ code: "value.too_large" }) });
  });

  /** Does two steps, sleeps, and does two more, of which it catches what they throw. */
  function steps(size = 1) {
    const began: string[] = [];
    const workflow = defineWorkflow({ name: "steps" }, async (_, step) => {
      const attempt = (name: string) =>
        step
          .do(name, async () => {
            began.push(name);
            return "x".repeat(size);
          })
          .then(() => "done", nameOf);
      const before = [await attempt("a"), await attempt("b")];
      await step.sleep("a while", "1 hour").catch(() => {});
      return [...before, await attempt("c"), await attempt("d")];
    });
    return { workflow, began };
  }

  test.each<[string, WorkflowLimits, number, string[], string[]]>([
    ["entries", { journalEntries: 4 }, 1, ["done", "done", "JournalFullError", "JournalFullError"], ["a", "b"]],
    ["entries of another run", { journalEntries: 5 }, 1, ["done", "done", "done", "JournalFullError"], ["a", "b", "c"]],
    ["bytes", { journalBytes: 36 }, 10, ["done", "done", "done", "JournalFullError"], ["a", "b", "c"]],
    [
      "bytes, in the middle of a step",
      { journalBytes: 35 },
      10,
      ["done", "done", "JournalFullError", "JournalFullError"],
      ["a", "b", "c"],
    ],
  ])(
    "of the journal (%s) fail the steps that don't fit, and the code may catch that",
    async (_, workflowLimits, size, result, ran) => {
      const { workflow, began } = steps(size);
      const process = subject.process({ workflow }, { workflowLimits });
      const instance = await process.workflows.workflow.create();
      await process.drain();
      subject.clock.advance(3_600_000);
      const another = subject.process({ workflow }, { workflowLimits });
      await another.drain();
      expect(await instance.result()).toEqual(result);
      expect(began).toEqual(ran);
    },
  );

  test("of the journal that nobody catches end the instance, which can be restarted with higher ones", async () => {
    const workflow = defineWorkflow({ name: "three" }, async (_, step) => {
      for (const name of ["a", "b", "c"]) await step.do(name, async () => {});
      return "done";
    });
    const small = subject.process({ workflow }, { workflowLimits: { journalEntries: 2 } });
    const instance = await small.workflows.workflow.create({ id: "one" });
    await small.drain();
    expect(await instance.status()).toMatchObject({
      status: "errored",
      error: { name: "JournalFullError", message: expect.stringContaining("workflowLimits.journalEntries") },
    });
    await instance.restart();
    await subject.process({ workflow }).drain();
    expect(await instance.result()).toBe("done");
  });

  test("of the journal end the attempts of a step that always fails, with the reason", async () => {
    let attempts = 0;
    const workflow = defineWorkflow({ name: "failing" }, async (_, step) =>
      step
        .do("fail", { retries: { limit: 1000, delay: 0 } }, async () => {
          attempts++;
          throw new Error("no");
        })
        .catch((error: Error) => [error.name, (error.cause as Error).message]),
    );
    const process = subject.process({ workflow }, { workflowLimits: { journalEntries: 3 } });
    const instance = await process.workflows.workflow.create();
    await process.drain();
    expect(await instance.result()).toEqual(["JournalFullError", "no"]);
    expect(attempts).toBe(4);
  });

  test("of batches", async () => {
    const workflow = defineWorkflow({ name: "easy" }, async () => {});
    const process = subject.process({ workflow }, { workflowLimits: { batchSize: 2 } });
    const { createBatch } = process.workflows.workflow;
    await expect(createBatch([{}, {}, {}])).rejects.toMatchObject({ code: "create.invalid" });
    expect(await createBatch([{}, {}])).toHaveLength(2);
  });
});

test("limits that aren't whole numbers in their range are refused, by name", () => {
  const names = [
    "steps",
    "valueBytes",
    "paramsBytes",
    "stepResultBytes",
    "eventBytes",
    "resultBytes",
    "journalEntries",
  ];
  for (const name of [...names, "journalBytes", "batchSize"]) {
    for (const value of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 40, null, "5", [], {}, true]) {
      const parse = () => parseWorkflowLimits({ [name]: value } as WorkflowLimits);
      expect(parse).toThrow(new RegExp(`workflowLimits\\.${name} must be`));
    }
  }
  expect(() => parseWorkflowLimits({ colour: 1 } as WorkflowLimits)).toThrow(/colour/);
});
