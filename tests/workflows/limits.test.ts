import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowEvent, type WorkflowLimits } from "../../src/index.ts";
import { parseWorkflowLimits } from "../../src/workflows/define/workflow-settings.ts";
import { ENCRYPTED_SQLITE, ENGINES } from "../support/engines.ts";
import { useWorkflows } from "./support/use-workflows.ts";

const codeOf = (error: unknown) => (error as { code: string }).code;
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

  test("of the journal that the workflow doesn't catch end the instance, which can be restarted with higher ones", async () => {
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

  test("of events that wait refuse more, until some are received", async () => {
    const workflow = defineWorkflow({ name: "events" }, async (_, step) => {
      const { payload: first } = await step.waitForEvent("first", { type: "item" });
      await step.waitForEvent("go", { type: "go", timeout: "1 day" });
      const { payload: second } = await step.waitForEvent("second", { type: "item" });
      return [first, second];
    });
    const process = subject.process({ workflow }, { workflowLimits: { pendingEvents: 2 } });
    const instance = await process.workflows.workflow.create({ id: "one" });
    const send = (payload: number) => instance.sendEvent({ type: "item", payload, id: `item-${payload}` });
    const tooMany = { code: "event.too_many", message: expect.stringContaining("workflowLimits.pendingEvents") };
    await send(1);
    await send(2);
    await expect(send(3)).rejects.toMatchObject(tooMany);
    await send(1); // it is there, and sent again
    await process.drain();
    await instance.sendEvent({ type: "go" });
    await expect(send(4)).rejects.toMatchObject(tooMany);
    await process.drain();
    expect(await instance.result()).toEqual([1, 2]);
  });

  test("of batches", async () => {
    const workflow = defineWorkflow({ name: "easy" }, async () => {});
    const process = subject.process({ workflow }, { workflowLimits: { batchSize: 2 } });
    const { createBatch } = process.workflows.workflow;
    await expect(createBatch([{}, {}, {}])).rejects.toMatchObject({ code: "create.invalid" });
    const created = await createBatch([{}, {}]);
    expect(created).toHaveLength(2);
    const ids = created.map(({ id }) => id);
    const { deleteBatch } = process.workflows.workflow;
    await expect(deleteBatch([...ids, "c"])).rejects.toMatchObject({ code: "options.invalid" });
    expect((await deleteBatch(ids)).deleted).toHaveLength(2);
  });

  test("of batches that are higher than the usual", async () => {
    const workflow = defineWorkflow({ name: "easy" }, async () => {});
    const process = subject.process({ workflow }, { workflowLimits: { batchSize: 101 } });
    const created = await process.workflows.workflow.createBatch({ count: 101 });
    const { deleted } = await process.workflows.workflow.deleteBatch(created.created.map(({ id }) => id));
    expect(deleted).toHaveLength(101);
  });

  /** Takes an event, and tells the names that its steps were refused for. */
  const named = (name: string, lengths: { readonly step: number; readonly type: number }) =>
    defineWorkflow({ name }, async (_, step) => {
      const { payload } = await step.waitForEvent<string>("s".repeat(lengths.step), { type: "t".repeat(lengths.type) });
      const tooLong = "s".repeat(lengths.step + 1);
      const refused = await Promise.all([
        step.do(tooLong, () => {}).catch(codeOf),
        step.do("short", { aliases: [tooLong] }, () => {}).catch(codeOf),
        step.sleep(tooLong, 1).catch(codeOf),
        step.sleepUntil(tooLong, 1).catch(codeOf),
        step.waitForEvent(tooLong, { type: "t" }).catch(codeOf),
        step.waitForEvent("short", { type: "t".repeat(lengths.type + 1) }).catch(codeOf),
      ]);
      return { payload, refused };
    });

  test.each([
    ["as they are", {}, { workflow: 64, step: 256, id: 100, type: 100 }],
    [
      "higher",
      { workflowNameLength: 256, stepNameLength: 1024, instanceIdLength: 400, eventTypeLength: 400 },
      { workflow: 256, step: 1024, id: 400, type: 400 },
    ],
    [
      "lower",
      { workflowNameLength: 4, stepNameLength: 5, eventTypeLength: 2 },
      { workflow: 4, step: 5, id: 100, type: 2 },
    ],
  ])("of lengths of names, %s", async (_, workflowLimits: WorkflowLimits, lengths) => {
    const workflow = named("w".repeat(lengths.workflow), lengths);
    const start = () =>
      subject.start({ workflow: named("w".repeat(lengths.workflow + 1), lengths) }, { workflowLimits });
    expect(start).toThrow(expect.objectContaining({ code: "workflow.invalid_name" }));

    const process = subject.start({ workflow }, { workflowLimits });
    const binding = process.workflows.workflow;
    const [id, tooLong] = [lengths.id, lengths.id + 1].map((length) => "i".repeat(length)) as [string, string];
    const invalid = { code: "id.invalid", message: expect.stringContaining(`1 to ${lengths.id} letters`) };
    await expect(binding.create({ id: tooLong })).rejects.toMatchObject(invalid);
    await expect(binding.get(tooLong)).rejects.toMatchObject(invalid);
    await expect(binding.restartOrCreate({ id: tooLong })).rejects.toMatchObject(invalid);
    expect((await binding.deleteBatch([tooLong])).errors).toMatchObject([invalid]);
    expect((await binding.list()).instances).toEqual([]);

    await binding.create({ id });
    const instance = await binding.get(id);
    await expect(instance.sendEvent({ type: "t".repeat(lengths.type + 1) })).rejects.toMatchObject({
      code: "id.invalid",
      message: expect.stringContaining(`The type of an event must be 1 to ${lengths.type}`),
    });
    await instance.sendEvent({ type: "t".repeat(lengths.type), payload: "came" });
    const refused = [...Array(5).fill("step.invalid_name"), "id.invalid"];
    expect(await instance.result()).toEqual({ payload: "came", refused });
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
  const lengths = ["workflowNameLength", "stepNameLength", "instanceIdLength", "eventTypeLength"];
  for (const name of [...names, "journalBytes", "batchSize", "streamBytes", "pendingEvents", ...lengths]) {
    for (const value of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 50, null, "5", [], {}, true]) {
      const parse = () => parseWorkflowLimits({ [name]: value } as WorkflowLimits);
      expect(parse).toThrow(new RegExp(`workflowLimits\\.${name} must be`));
    }
  }
  expect(() => parseWorkflowLimits({ instanceIdLength: 99 })).toThrow(/from 100 to 400/); // as long as those of schedules
  expect(() => parseWorkflowLimits({ colour: 1 } as WorkflowLimits)).toThrow(/colour/);
});
