import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { listUnclaimed } from "../../src/monitoring/list-unclaimed.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually, useWorkflows } from "./support/use-workflows.ts";

describe.each(ENGINES)("instances of a workflow that no live worker runs, on $name", (engine) => {
  const subject = useWorkflows(engine);
  const known = defineWorkflow({ name: "known" }, async () => {});
  const code = async () => {};

  test.each([
    ["plain", defineWorkflow({ name: "gone" }, code), {}],
    ["with a priority", defineWorkflow({ name: "gone" }, code), { priority: 7 }],
    ["in line", defineWorkflow({ name: "gone", concurrency: { limit: 1 } }, code), {}],
  ])("are logged within seconds and listed: %s", async (_, gone, options) => {
    const former = subject.process({ known, gone });
    const since = new Date(subject.clock.now());
    await former.workflows.gone.create({ id: "one", ...options });
    const worker = subject.start({ known });
    await eventually(async () => {
      await subject.clock.advanceAndSettle(1000);
      const reports = worker.logs.lines.filter(({ message }) => message.includes("no live worker runs"));
      expect(reports).toMatchObject([{ details: { namespace: subject.namespace, hooks: [], workflows: ["gone"] } }]);
    });

    expect(await listUnclaimed(worker.store, subject.namespace)).toEqual([
      { kind: "workflow", name: "gone", due: 1, since },
    ]);
  });
});
