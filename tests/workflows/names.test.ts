import { describe, expect, test } from "vitest";
import { defineWorkflow, perdure, WorkflowEntrypoint, type WorkflowEvent } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { ENGINES } from "../support/engines.ts";
import { useWorkflows } from "./support/use-workflows.ts";

const version1 = defineWorkflow({ name: "checkout" }, async () => "version 1");
const version2 = defineWorkflow({ name: "checkout-v2" }, async () => "version 2");
const parent = defineWorkflow({ name: "parent" }, async (event: WorkflowEvent<string>, step) => {
  const child = await step.create(event.payload);
  return [child.workflowName, await step.do("result", () => child.result())];
});

const confusing = () => ({ checkout: version2, checkoutOld: version1 });
const refusal = expect.objectContaining({
  code: "workflow.invalid",
  message: expect.stringMatching(/"checkout".*"checkoutOld".*key of the workflow "checkout-v2"/),
});

describe.each(ENGINES)("the names of workflows on $name", (engine) => {
  const subject = useWorkflows(engine);

  test("a workflow whose name is another workflow's key is refused at the start, in whatever order they come", () => {
    expect(() => subject.process(confusing())).toThrow(refusal);
    expect(() => subject.process({ checkoutOld: version1, checkout: version2 })).toThrow(refusal);
    const swapped = { a: { name: "b", workflow: version1 }, b: { name: "a", workflow: version2 } };
    expect(() => subject.process(swapped)).toThrow(expect.objectContaining({ code: "workflow.invalid" }));
  });

  test("an instance runs the code of its name when a newer version is registered beside it", async () => {
    const old = subject.process({ checkout: version1 });
    await old.workflows.checkout.create({ id: "one" });
    const newer = subject.start({ checkoutV2: version2, checkout: version1 });
    const first = await newer.workflows.checkout.get("one");
    const second = await newer.workflows.checkoutV2.create({ id: "one" });

    await expect(first.result()).resolves.toBe("version 1");
    await expect(second.result()).resolves.toBe("version 2");
  });

  test("a child is found by its workflow's name, or by its key", async () => {
    const process = subject.start({ CHECKOUT: version2, old: version1, parent });
    const results = await Promise.all(
      ["CHECKOUT", "checkout-v2", "old", "checkout"].map(async (params) =>
        (await process.workflows.parent.create({ params })).result(),
      ),
    );

    const newer = ["checkout-v2", "version 2"];
    const older = ["checkout", "version 1"];
    expect(results).toEqual([newer, newer, older, older]);
  });

  test("a class that is registered under two names is asked for by its name", async () => {
    class Greeter extends WorkflowEntrypoint {
      override async run() {
        return "hello";
      }
    }
    const caller = defineWorkflow({ name: "caller" }, async (event: WorkflowEvent<string>, step) => {
      const child = await step.create(event.payload === "class" ? Greeter : event.payload);
      return child.workflowName;
    });
    const process = subject.start({ a: Greeter, b: Greeter, caller });
    const byClass = await process.workflows.caller.create({ params: "class" });
    const byName = await process.workflows.caller.create({ params: "b" });

    await expect(byClass.result()).rejects.toMatchObject({ cause: { code: "workflow.invalid" } });
    await expect(byName.result()).resolves.toBe("b");
  });
});

describe("a workflow whose name is another workflow's key", () => {
  test("is refused by perdure() and by createTestApp()", async () => {
    await expect(perdure({ database: ":memory:", workflows: confusing(), logger: new LogBook() })).rejects.toThrow(
      refusal,
    );
    await expect(createTestApp({ workflows: confusing() })).rejects.toThrow(refusal);
  });
});
