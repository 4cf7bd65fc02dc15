import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { Gate } from "../hooks/support/handlers.ts";
import { ENGINES } from "../support/engines.ts";
import { outliveLeases } from "./support/lose-process.ts";
import { eventually, untilStatus, useWorkflows } from "./support/use-workflows.ts";

describe.each(ENGINES)("the order of starts on $name", (engine) => {
  const subject = useWorkflows(engine);

  /** Steps that note that they ran; `slow` ones wait for the gate in their first run. */
  function noting() {
    const ran: string[] = [];
    const gate = new Gate();
    const quick = (name: string) => () => {
      ran.push(name);
      return name;
    };
    const slow = (name: string) => async () => {
      ran.push(name);
      await gate.opened;
      return name;
    };
    return { ran, gate, quick, slow };
  }

  test("a restart from a step keeps what began before it and ended later, and reruns what began later and ended before it", async () => {
    const { ran, gate, quick, slow } = noting();
    const workflow = defineWorkflow({ name: "workflow" }, async (_event, step) => {
      await step.do("first", quick("first"));
      return Promise.all([
        step.do("early", slow("early")),
        step.do("named", slow("named")),
        step.do("late", quick("late")),
      ]);
    });
    const { workflows } = subject.start({ workflow });
    const instance = await workflows.workflow.create();
    await eventually(() => expect(ran).toEqual(["first", "early", "named", "late"]));
    gate.open();
    await untilStatus(subject.clock, instance, "complete");
    ran.length = 0;

    await instance.restart({ from: { name: "named" } });
    await untilStatus(subject.clock, instance, "complete");
    expect(ran).toEqual(["named", "late"]);
    expect((await instance.status()).output).toEqual(["early", "named", "late"]);
    ran.length = 0;

    // A kept run has the same order, though its journal has only what was kept.
    await instance.restart({ from: { name: "early" } });
    await untilStatus(subject.clock, instance, "complete");
    expect(ran).toEqual(["early", "named", "late"]);
    ran.length = 0;
    await instance.restart({ from: { name: "late" } });
    await untilStatus(subject.clock, instance, "complete");
    expect(ran).toEqual(["late"]);
  });

  test("a step that was lost with its process began when the code first called it", async () => {
    const { ran, gate, quick, slow } = noting();
    const workflow = defineWorkflow({ name: "workflow" }, async (_event, step) =>
      Promise.all([step.do("early", slow("early")), step.do("named", quick("named"))]),
    );
    const lost = subject.start({ workflow }, { clock: subject.anotherClock() });
    const { id } = await lost.workflows.workflow.create();
    const { workflows } = subject.process({ workflow });
    const again = await workflows.workflow.get(id);
    await eventually(async () => expect((await again.history()).entries).toHaveLength(1));
    outliveLeases(subject);
    subject.start({ workflow });
    await eventually(() => expect(ran).toEqual(["early", "named", "early"]));
    gate.open();
    await untilStatus(subject.clock, again, "complete");

    await again.restart({ from: { name: "named" } });
    await untilStatus(subject.clock, again, "complete");
    expect(ran).toEqual(["early", "named", "early", "named"]);
  });

  test("waits that began before the named step keep how they ended, and those that began later are waited for again", async () => {
    const { ran, gate, quick, slow } = noting();
    const workflow = defineWorkflow({ name: "workflow" }, async (_event, step) => {
      const [early, named, late] = await Promise.all([
        step.waitForEvent<string>("early", { type: "early" }),
        step.do("named", slow("named")).then(() => step.do("next", quick("next"))),
        step.waitForEvent<string>("late", { type: "late" }),
      ]);
      return [early.payload, named, late.payload];
    });
    const { workflows } = subject.start({ workflow });
    const instance = await workflows.workflow.create();
    await eventually(() => expect(ran).toEqual(["named"]));
    await instance.sendEvent({ type: "late", payload: "late 1" });
    await eventually(async () =>
      expect((await instance.history()).entries.map(({ kind }) => kind)).toContain("received"),
    );
    gate.open();
    await eventually(() => expect(ran).toEqual(["named", "next"]));
    await instance.sendEvent({ type: "early", payload: "early 1" });
    await untilStatus(subject.clock, instance, "complete");

    await instance.restart({ from: { name: "named" } });
    await instance.sendEvent({ type: "late", payload: "late 2" });
    await untilStatus(subject.clock, instance, "complete");
    expect((await instance.status()).output).toEqual(["early 1", "next", "late 2"]);
  });

  test("a step that runs can be restarted, though nothing is written of it yet", async () => {
    const { ran, gate, quick, slow } = noting();
    const workflow = defineWorkflow({ name: "workflow" }, async (_event, step) => {
      await step.do("first", quick("first"));
      await Promise.all([step.do("named", slow("named")), step.do("late", quick("late"))]);
    });
    const { workflows } = subject.start({ workflow });
    const instance = await workflows.workflow.create();
    await eventually(async () =>
      expect((await instance.history()).entries.map(({ name }) => name)).toEqual(["first", "late"]),
    );
    await instance.restart({ from: { name: "named" } });
    gate.open();
    await untilStatus(subject.clock, instance, "complete");
    expect(ran).toEqual(["first", "named", "late", "named", "late"]);
  });

  test("a restart point without a type names a step with a function", async () => {
    const { ran, quick } = noting();
    const workflow = defineWorkflow({ name: "workflow" }, async (_event, step) => {
      await step.sleep("same", 10);
      await step.sleep("only a sleep", 10);
      await step.do("between", quick("between"));
      await step.do("same", quick("same"));
    });
    const { workflows } = subject.start({ workflow });
    const instance = await workflows.workflow.create();
    await untilStatus(subject.clock, instance, "complete");
    await instance.restart({ from: { name: "same" } });
    await untilStatus(subject.clock, instance, "complete");
    expect(ran).toEqual(["between", "same", "same"]);
    const refused = instance.restart({ from: { name: "only a sleep" } });
    await expect(refused).rejects.toMatchObject({ code: "step.not_found", message: expect.stringContaining("type") });
    await instance.restart({ from: { name: "same", type: "sleep" } });
    await untilStatus(subject.clock, instance, "complete");
    expect(ran).toEqual(["between", "same", "same", "between", "same"]);
  });
});
