import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { afterLong, untilFarOff } from "./support/lose-process.ts";
import { noteRollbacks } from "./support/rollback-notes.ts";
import { untilStatus, useWorkflows } from "./support/use-workflows.ts";

describe.each(ENGINES)("a rollback by other code on $name", (engine) => {
  const subject = useWorkflows(engine);

  test.each([
    { title: "the step", keeps: "neither" },
    { title: "its rollback", keeps: "step" },
  ])("that the code no longer has is reported as a failure, never left out: without $title", async (now) => {
    const { lines, undo } = noteRollbacks();
    const old = defineWorkflow({ name: "order" }, async (_event, step) => {
      await step.do("reserve", () => 1, undo("reserve"));
      await step.do("charge", () => 2, undo("charge"));
      await step.sleep("long", "1 day");
    });
    const young = defineWorkflow({ name: "order" }, async (_event, step) => {
      await step.do("reserve", () => 1, undo("reserve"));
      if (now.keeps === "step") await step.do("charge", () => 2);
      await step.sleep("long", "1 day");
    });
    const first = subject.start({ order: old });
    await untilFarOff(subject, await first.workflows.order.create({ id: "one" }));
    await first.close();

    const { workflows } = subject.start({ order: young });
    const instance = await workflows.order.get("one");
    await instance.terminate({ rollback: true });
    await untilStatus(subject.clock, instance, "terminated");
    expect(lines).toEqual([]);
    expect((await instance.status()).rollback).toMatchObject({
      outcome: "failed",
      error: { name: "PerdureError", message: expect.stringContaining("do:charge") },
    });
  });

  test("of a step that the code never reaches is reported as missing, too", async () => {
    const { lines, undo } = noteRollbacks();
    let failing = false;
    const order = defineWorkflow({ name: "order" }, async (_event, step) => {
      if (failing) throw new Error("no truck");
      await step.do("charge", () => 2, undo("charge"));
      await step.sleep("long", "1 day");
    });
    const first = subject.start({ order });
    await untilFarOff(subject, await first.workflows.order.create({ id: "one" }));
    await first.close();

    failing = true;
    const { workflows } = subject.start({ order });
    const instance = await workflows.order.get("one");
    await afterLong(subject, instance, "errored");
    expect(lines).toEqual([]);
    expect(await instance.status()).toMatchObject({
      error: { message: "no truck" },
      rollback: { outcome: "failed", error: { message: expect.stringContaining("do:charge") } },
    });
  });

  test("knows a renamed step by its alias", async () => {
    const { lines, undo } = noteRollbacks();
    const old = defineWorkflow({ name: "order" }, async (_event, step) => {
      await step.do("charge", () => 2, undo("old"));
      await step.sleep("long", "1 day");
    });
    const young = defineWorkflow({ name: "order" }, async (_event, step) => {
      await step.do("charge card", { aliases: ["charge"] }, () => 3, undo("new"));
      await step.sleep("long", "1 day");
    });
    const first = subject.start({ order: old });
    await untilFarOff(subject, await first.workflows.order.create({ id: "one" }));
    await first.close();

    const { workflows } = subject.start({ order: young });
    const instance = await workflows.order.get("one");
    await instance.terminate({ rollback: true });
    await untilStatus(subject.clock, instance, "terminated");
    expect(lines).toEqual([
      'new: 2, The instance "one" of the workflow "order" was terminated., charge card#1, attempt 1',
    ]);
  });
});
