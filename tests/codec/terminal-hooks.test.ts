import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowEvent } from "../../src/index.ts";
import { ENCRYPTED, type TestStore } from "../support/engines.ts";
import { eventually, useWorkflows } from "../workflows/support/use-workflows.ts";
import { readRawText } from "./support/raw-text.ts";

describe.each(ENCRYPTED)("on $name", (engine) => {
  const subject = useWorkflows(engine);

  test("the payload of a terminal hook is encrypted, and is delivered in plain text, also after a terminate", async () => {
    const told: unknown[] = [];
    const tell = (event: unknown) => void told.push(event);
    const job = defineWorkflow(
      { name: "job", onCompleted: tell, onTerminated: tell },
      async (event: WorkflowEvent<string>, step) => {
        if (event.payload === "wait") await step.sleep("long", "1 day");
        return `secret ${event.payload}`;
      },
    );
    const process = subject.process({ job });
    await process.workflows.job.create({ id: "one", params: "work" });
    const two = await process.workflows.job.create({ id: "two", params: "wait" });
    await two.restart();
    await two.terminate();
    expect(await readRawText(subject.database as TestStore)).not.toContain("instanceId"); // it is pending
    process.start();
    await eventually(() => expect(told).toHaveLength(2));

    expect(told).toContainEqual({ workflowName: "job", instanceId: "one", run: 1, output: "secret work" });
    expect(told).toContainEqual({ workflowName: "job", instanceId: "two", run: 2 });
  });
});
