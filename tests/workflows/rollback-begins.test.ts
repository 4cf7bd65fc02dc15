import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowRollbackContext } from "../../src/index.ts";
import { Gate } from "../hooks/support/handlers.ts";
import { ENGINES } from "../support/engines.ts";
import { afterLong, replaceProcess, untilFarOff } from "./support/lose-process.ts";
import { untilStatus, useWorkflows, withTime } from "./support/use-workflows.ts";

const once = { retries: { limit: 0 } } as const;

describe.each(ENGINES)("when a rollback begins on $name", (engine) => {
  const subject = useWorkflows(engine);

  /** Something that isn't a step. */
  const pass = (milliseconds: number) =>
    new Promise<void>((resolve) => void subject.clock.setTimer(resolve, milliseconds));

  /** Notes which steps are taken back. */
  function notes() {
    const undone: string[] = [];
    const undo = (name: string) => ({ rollback: async () => void undone.push(name) });
    return { undone, undo };
  }

  test("nothing begins that was about to, and nothing is waited for that the code waited for", async () => {
    const ran: string[] = [];
    const order = defineWorkflow({ name: "order" }, async (_event, step) => {
      const rollback = async ({ ctx }: WorkflowRollbackContext) => {
        ran.push(`take back ${ctx.attempt}`);
        if (ctx.attempt === 1) throw new Error("not yet");
      };
      const rollbackConfig = { retries: { limit: 1, delay: "4 seconds" } } as const;
      await step.do("charge", () => 12, { rollback, rollbackConfig });
      const shaky = { retries: { limit: 5, delay: "2 seconds" } } as const;
      await Promise.all([
        step.do("shaky", shaky, () => {
          ran.push("shaky");
          throw new Error("not yet");
        }),
        step.sleep("nap", "2 seconds").then(() => step.do("after the nap", () => void ran.push("after the nap"))),
        step.sleep("moment", "1 second").then(() => {
          void step.do("late", () => void ran.push("late"));
          throw new Error("no truck");
        }),
      ]);
    });
    const { workflows } = subject.start({ order });
    const instance = await workflows.order.create();
    await untilStatus(subject.clock, instance, "errored");

    expect(ran).toEqual(["shaky", "take back 1", "take back 2"]);
    const { entries } = await instance.history();
    const rollingBack = entries.findIndex(({ kind }) => kind === "rollingBack");
    expect(entries.slice(rollingBack + 1).map(({ name }) => name)).toEqual(["charge", "charge"]);
  });

  test("endings that came together with the failed step's aren't delivered", async () => {
    const { undone, undo } = notes();
    const told: unknown[] = [];
    const order = defineWorkflow({ name: "order" }, async (_event, step) => {
      const ship = step.do("ship", once, () => {
        throw new Error("no truck");
      });
      const pack = step.do("pack", () => "packed", undo("pack")).then((value) => told.push(value));
      await Promise.all([ship, pack]);
    });
    const { workflows } = subject.start({ order });
    const instance = await workflows.order.create();
    await untilStatus(subject.clock, instance, "errored");

    expect(undone).toEqual(["pack"]);
    expect(told).toEqual([]);
    const { entries } = await instance.history();
    expect(entries.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
      "ship started",
      "pack undoable",
      "ship failed",
      "order rollingBack",
      "pack rolledBack",
    ]);
  });

  test("concurrent steps are told to stop, and their later results are ignored", async () => {
    const gate = new Gate();
    const seen: unknown[] = [];
    let signal: AbortSignal | undefined;
    const order = defineWorkflow({ name: "order" }, async (_event, step) => {
      const work = async (ctx: { signal: AbortSignal }) => {
        signal = ctx.signal;
        await gate.opened;
        return "late";
      };
      const rollback = async ({ output }: WorkflowRollbackContext) => {
        seen.push(signal?.reason.code, output);
        gate.open();
        await pass(1000); // it has ended by then
      };
      const later = async () => {
        await gate.opened;
        return 1000;
      };
      await Promise.all([
        step.do("slow", work, { rollback }),
        step.do("shaky", { retries: { limit: 1, delay: later } }, () => Promise.reject(new Error("not yet"))),
        step.do("ship", once, () => Promise.reject(new Error("no truck"))),
      ]);
    });
    const { workflows } = subject.start({ order });
    const instance = await workflows.order.create();
    await untilStatus(subject.clock, instance, "errored");

    expect(seen).toEqual(["workflow.finished", undefined]);
    const { entries } = await instance.history();
    const beside = entries.filter(({ name }) => name === "slow" || name === "shaky");
    expect(beside.map(({ name, kind }) => `${name} ${kind}`)).toEqual(["slow undoable", "slow rolledBack"]);
  });

  test("in another process, a step without an ending doesn't begin again", async () => {
    const { undone, undo } = notes();
    const begun: string[] = [];
    const order = defineWorkflow({ name: "order" }, async (_event, step) => {
      await step.do("charge", () => void begun.push("charge"), undo("charge"));
      const shaky = { retries: { limit: 5, delay: "1 day" } } as const;
      await Promise.all([
        step.do("shaky", shaky, () => {
          begun.push("shaky");
          throw new Error("not yet");
        }),
        step.sleep("long", "1 day"),
        step.waitForEvent("word", { type: "word" }).then(() => step.do("listen", () => void begun.push("listen"))),
      ]);
    });
    const first = subject.start({ order });
    await untilFarOff(subject, await first.workflows.order.create({ id: "one" }));
    await first.close();

    const { workflows } = subject.process({ order });
    const instance = await workflows.order.get("one");
    await instance.sendEvent({ type: "word" });
    await instance.terminate({ rollback: true });
    subject.start({ order });
    await untilStatus(subject.clock, instance, "terminated");

    expect(undone).toEqual(["charge"]);
    expect(begun).toEqual(["charge", "shaky"]);
    const { entries } = await instance.history();
    const rollingBack = entries.findIndex(({ kind }) => kind === "rollingBack");
    expect(entries.slice(rollingBack + 1).map(({ name, kind }) => `${name} ${kind}`)).toEqual(["charge rolledBack"]);
  });

  test("one entry says that a step can be rolled back, however often and wherever it was tried", async () => {
    const { undone, undo } = notes();
    const order = defineWorkflow({ name: "order" }, async (_event, step) => {
      const shaky = { retries: { limit: 2, delay: "1 hour", backoff: "constant" } } as const;
      await step.do("charge", shaky, () => Promise.reject(new Error("not yet")), undo("charge"));
    });
    const first = subject.start({ order });
    const created = await first.workflows.order.create({ id: "one" });
    await untilFarOff(subject, created);
    const { workflows } = await replaceProcess(subject, first, { order });
    const instance = await workflows.order.get("one");
    await afterLong(subject, instance, "errored");

    expect(undone).toEqual(["charge"]);
    const { entries } = await instance.history();
    const kinds = ["undoable", "failed", "failed", "failed", "rollingBack", "rolledBack"];
    expect(entries.map(({ kind }) => kind)).toEqual(kinds);
  });

  test("in another process, the step that began last is rolled back first, whichever ended last", async () => {
    const { undone, undo } = notes();
    const gate = new Gate();
    const order = defineWorkflow({ name: "order" }, async (_event, step) => {
      const slow = step.do("slow", () => gate.opened, undo("slow"));
      await step.do("quick", () => 1, undo("quick"));
      gate.open();
      await slow;
      await step.sleep("long", "1 day");
    });
    const first = subject.start({ order });
    const created = await first.workflows.order.create({ id: "one" });
    await untilFarOff(subject, created);
    const { entries } = await created.history();
    expect(entries.filter(({ kind }) => kind === "completed").map(({ name }) => name)).toEqual(["quick", "slow"]);

    const { workflows } = await replaceProcess(subject, first, { order });
    const instance = await workflows.order.get("one");
    await instance.terminate({ rollback: true });
    await untilStatus(subject.clock, instance, "terminated");
    expect(undone).toEqual(["quick", "slow"]);
  });

  test("code is given five seconds after each sign of life, though steps that it waits for won't end", async () => {
    const { undone, undo } = notes();
    const order = defineWorkflow({ name: "order" }, async (_event, step) => {
      const pay = async () => {
        await pass(4000);
        await step.do("charge", () => 12, undo("charge"));
        await pass(4000);
        await step.do("receipt", () => 13, undo("receipt"));
      };
      await Promise.all([pay(), step.sleep("long", "1 day")]);
    });
    const { workflows } = subject.start({ order });
    const instance = await workflows.order.create();
    await withTime(subject.clock, async () => {
      const { entries } = await instance.history();
      expect(entries.map(({ name, kind }) => `${name} ${kind}`)).toContain("receipt completed");
    });
    await untilFarOff(subject, instance);
    await instance.terminate({ rollback: true });
    await untilStatus(subject.clock, instance, "terminated");

    expect(undone).toEqual(["receipt", "charge"]);
    expect((await instance.status()).rollback).toEqual({ outcome: "complete" });
  });

  test("code that calls a step later is heard until its turn has come, but isn't told anything", async () => {
    const { undone, undo } = notes();
    const told: string[] = [];
    const slowly = {
      rollback: async () => {
        await pass(6000);
        undone.push("reserve");
      },
    };
    let rollingBack = false;
    const order = defineWorkflow({ name: "order" }, async (_event, step) => {
      const pay = async () => {
        await pass(8000);
        await step.do("charge", () => 12, undo("charge"));
        if (rollingBack) told.push("charged");
        await step.do("reserve", () => 1, slowly);
      };
      const reserveAgain = rollingBack ? step.do("reserve", () => 1, slowly) : null;
      await Promise.all([pay(), reserveAgain, step.sleep("long", "1 day")]);
    });
    const { workflows } = subject.start({ order });
    const instance = await workflows.order.create();
    await withTime(subject.clock, async () => {
      const { entries } = await instance.history();
      expect(entries.map(({ name, kind }) => `${name} ${kind}`)).toContain("reserve completed");
    });
    await untilFarOff(subject, instance);
    rollingBack = true;
    await instance.terminate({ rollback: true });
    await untilStatus(subject.clock, instance, "terminated");

    expect(undone).toEqual(["reserve", "charge"]);
    expect(told).toEqual([]);
    expect((await instance.status()).rollback).toEqual({ outcome: "complete" });
  });
});
