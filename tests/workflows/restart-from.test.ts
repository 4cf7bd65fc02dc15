import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowEvent } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { untilFarOff } from "./support/lose-process.ts";
import { retryRepaired } from "./support/retry-repaired.ts";
import { untilStatus, useWorkflows } from "./support/use-workflows.ts";

const once = { retries: { limit: 0 } } as const;

describe.each(ENGINES)("restarting from a step on $name", (engine) => {
  const subject = useWorkflows(engine);

  /** Counts how often each step has run; those in `broken` fail. */
  function counting() {
    const ran: string[] = [];
    const broken = new Set<string>();
    const body = (name: string) => () => {
      ran.push(name);
      if (broken.has(name)) throw new Error(`${name} is broken`);
      return `${name} ${ran.filter((one) => one === name).length}`;
    };
    return { ran, broken, body };
  }

  test("keeps the results of what comes before it, with the events that were received", async () => {
    const { ran, body } = counting();
    const workflow = defineWorkflow({ name: "workflow" }, async (_event, step) => {
      const first = await step.do("first", body("first"));
      const { payload } = await step.waitForEvent<string>("word", { type: "word" });
      const caught = await step
        .do("fragile", once, () => Promise.reject(new Error("no")))
        .catch((error) => error.message);
      const again = [await step.do("same", body("same")), await step.do("same", body("same"))];
      const last = await step.do("last", body("last"));
      return [first, payload, caught, ...again, last];
    });
    const runner = subject.process({ workflow });
    const instance = await runner.workflows.workflow.create();
    await instance.sendEvent({ type: "word", payload: "hello", id: "own" });
    await instance.sendEvent({ type: "word", payload: "waits, and is dropped" });
    runner.start();
    await expect(instance.result()).resolves.toEqual(["first 1", "hello", "no", "same 1", "same 2", "last 1"]);

    await instance.restart({ from: { name: "same", count: 2 } });
    await untilStatus(subject.clock, instance, "complete");
    expect(await instance.status()).toMatchObject({
      run: 2,
      output: ["first 1", "hello", "no", "same 1", "same 3", "last 2"],
    });
    expect(ran).toEqual(["first", "same", "same", "last", "same", "last"]);
    const { earlierRuns, entries } = await instance.history({ run: 2 });
    expect(earlierRuns).toMatchObject([{ run: 1, status: "complete" }]);
    expect(entries.map(({ name, kind }) => `${name} ${kind}`)).toContain("word received");
    expect(entries.find(({ kind }) => kind === "received")?.event).toEqual({ type: "word", payload: "hello" });
    expect((await instance.history({ run: 1 })).entries.map(({ name }) => name)).toContain("last");

    await instance.restart({ from: { name: "word", type: "waitForEvent" } });
    await instance.sendEvent({ type: "word", payload: "again" });
    await untilStatus(subject.clock, instance, "complete");
    expect((await instance.status()).output).toEqual(["first 1", "again", "no", "same 4", "same 5", "last 3"]);
  });

  test("runs a step with everything inside it again", async () => {
    const { ran, body } = counting();
    const workflow = defineWorkflow({ name: "workflow" }, async (_event, step) => {
      await step.do("first", body("first"));
      return step.do("outer", async () => `outer of ${await step.do("inner", body("inner"))}`);
    });
    const { workflows } = subject.start({ workflow });
    const instance = await workflows.workflow.create();
    await expect(instance.result()).resolves.toBe("outer of inner 1");
    await instance.restart({ from: { name: "outer" } });
    await untilStatus(subject.clock, instance, "complete");
    expect((await instance.status()).output).toBe("outer of inner 2");
    expect(ran).toEqual(["first", "inner", "inner"]);
  });

  test("works while it sleeps, and gives waits of its own to what hadn't ended", async () => {
    const { ran, body } = counting();
    const workflow = defineWorkflow({ name: "workflow" }, async (_event, step) => {
      await step.do("first", body("first"));
      await step.do("second", body("second"));
      await step.sleep("night", "1 day");
    });
    const { workflows } = subject.start({ workflow });
    const instance = await workflows.workflow.create();
    await untilFarOff(subject, instance);
    await instance.restart({ from: { name: "second" } });
    await untilFarOff(subject, instance);
    expect(ran).toEqual(["first", "second", "second"]);
    expect(await instance.status()).toMatchObject({ run: 2, status: "waiting" });
  });

  test.each([
    { title: "a step that isn't there", from: { name: "nowhere" }, code: "step.not_found" },
    { title: "a call that never came", from: { name: "first", count: 2 }, code: "step.not_found" },
    { title: "a step of another type", from: { name: "first", type: "sleep" }, code: "step.not_found" },
    { title: "a bad count", from: { name: "first", count: 0 }, code: "options.invalid" },
    { title: "a bad type", from: { name: "first", type: "create" }, code: "options.invalid" },
    { title: "a bad name", from: { name: "" }, code: "step.invalid_name" },
    { title: "a bad field", from: { name: "first", index: 1 }, code: "options.invalid" },
  ])("refuses $title, and changes nothing", async ({ from, code }) => {
    const { body } = counting();
    const workflow = defineWorkflow({ name: "workflow" }, (_event, step) => step.do("first", body("first")));
    const { workflows } = subject.start({ workflow });
    const instance = await workflows.workflow.create();
    await expect(instance.result()).resolves.toBe("first 1");
    const before = await instance.status();

    await expect(instance.restart({ from } as never)).rejects.toMatchObject({ code });
    expect(await instance.status()).toEqual(before);
  });

  test("keeps nothing that was rolled back", async () => {
    const { ran, broken, body } = counting();
    broken.add("third");
    const workflow = defineWorkflow({ name: "workflow" }, async (_event, step) => {
      await step.do("first", body("first"));
      await step.do("second", body("second"), { rollback: async () => void ran.push("undo") });
      await step.do("third", once, body("third"));
    });
    const { workflows } = subject.start({ workflow });
    const instance = await workflows.workflow.create();
    await untilStatus(subject.clock, instance, "errored");
    const refused = { name: "ConflictError", code: "instance.rolled_back" };
    await expect(instance.restart({ from: { name: "third" } })).rejects.toMatchObject(refused);
    await expect(instance.retryFailedStep()).rejects.toMatchObject(refused);
    expect(await instance.status()).toMatchObject({ run: 1, status: "errored" });

    broken.clear();
    await instance.restart({ from: { name: "second" } });
    await untilStatus(subject.clock, instance, "complete");
    expect(ran).toEqual(["first", "second", "third", "undo", "second", "third"]);
  });

  test("keeps steps that can still be rolled back, even before the next run has begun", async () => {
    const { ran, body } = counting();
    const workflow = defineWorkflow({ name: "workflow" }, async (_event, step) => {
      await step.do("first", body("first"), { rollback: async ({ output }) => void ran.push(`undo ${output}`) });
      await step.do("second", body("second"));
    });
    const runner = subject.start({ workflow });
    const created = await runner.workflows.workflow.create({ id: "one" });
    await created.result();
    await runner.close();
    const instance = await subject.process({ workflow }).workflows.workflow.get("one");
    await instance.restart({ from: { name: "second" } });
    await instance.terminate({ rollback: true });
    expect(await instance.status()).toMatchObject({ status: "rollingBack", run: 2 });
    subject.start({ workflow });
    await untilStatus(subject.clock, instance, "terminated");
    expect(ran).toEqual(["first", "second", "undo first 1"]);
  });

  describe("retrying the failed step", () => {
    test("keeps every result, and tries it again with fresh attempts", async () => {
      const { ran, broken, body } = counting();
      broken.add("second");
      const workflow = defineWorkflow({ name: "workflow" }, async (_event, step) => {
        const first = await step.do("first", body("first"));
        const retries = { limit: 1, delay: 10 };
        return [first, await step.do("second", { retries }, body("second")), await step.do("third", body("third"))];
      });
      const { workflows } = subject.start({ workflow });
      const instance = await workflows.workflow.create();
      await untilStatus(subject.clock, instance, "errored");
      await instance.retryFailedStep();
      await untilStatus(subject.clock, instance, "errored");
      expect(ran).toEqual(["first", "second", "second", "second", "second"]);
      broken.clear();
      await instance.retryFailedStep();
      await untilStatus(subject.clock, instance, "complete");
      expect(await instance.status()).toMatchObject({ run: 3, output: ["first 1", "second 5", "third 1"] });
    });

    test("means the one whose error ended it, not what was caught before", async () => {
      const { ran, broken, body } = counting();
      broken.add("caught").add("fatal");
      const workflow = defineWorkflow({ name: "workflow" }, async (_event, step) => {
        const caught = await step
          .do("caught", once, body("caught"))
          .catch(() => step.do("make good", body("make good")));
        try {
          return [caught, await step.do("fatal", once, body("fatal"))];
        } catch (cause) {
          await step.do("tell", body("tell"));
          throw new Error("it went wrong", { cause });
        }
      });
      const instance = await retryRepaired(subject, workflow, broken);
      expect((await instance.status()).output).toEqual(["make good 1", "fatal 2"]);
      expect(ran).toEqual(["caught", "make good", "fatal", "tell", "fatal"]);
    });

    test("means all that an AggregateError is made of, and the last that failed where code threw an error of its own", async () => {
      const { ran, broken, body } = counting();
      broken.add("left").add("right").add("last");
      const workflow = defineWorkflow({ name: "workflow" }, async (_event, step) => {
        await Promise.any([step.do("left", once, body("left")), step.do("right", once, body("right"))]);
        const last = await step.do("last", once, body("last")).catch(() => null);
        if (last === null) throw new Error("an error of its own");
        return last;
      });
      const { workflows } = subject.start({ workflow });
      const instance = await workflows.workflow.create();
      await untilStatus(subject.clock, instance, "errored");
      broken.delete("right");
      await instance.retryFailedStep();
      await untilStatus(subject.clock, instance, "errored");
      expect(ran).toEqual(["left", "right", "left", "right", "last"]);
      broken.clear();
      await instance.retryFailedStep();
      await untilStatus(subject.clock, instance, "complete");
      expect(ran).toEqual(["left", "right", "left", "right", "last", "last"]);
    });

    test("waits once more for an event that didn't come", async () => {
      const workflow = defineWorkflow({ name: "workflow" }, async (_event, step) => {
        return (await step.waitForEvent<string>("word", { type: "word", timeout: "2 seconds" })).payload;
      });
      const { workflows } = subject.start({ workflow });
      const instance = await workflows.workflow.create();
      await untilStatus(subject.clock, instance, "errored");
      await instance.retryFailedStep();
      await instance.sendEvent({ type: "word", payload: "hello" });
      await untilStatus(subject.clock, instance, "complete");
      expect((await instance.status()).output).toBe("hello");
    });

    test("tries a failed step again with what failed inside it", async () => {
      const { ran, broken, body } = counting();
      broken.add("inner");
      const workflow = defineWorkflow({ name: "workflow" }, (_event, step) =>
        step.do("outer", once, async () => {
          const good = await step.do("good", body("good"));
          return step.do("inner", once, body("inner")).then((inner) => [good, inner]);
        }),
      );
      const instance = await retryRepaired(subject, workflow, broken);
      expect((await instance.status()).output).toEqual(["good 1", "inner 2"]);
      expect(ran).toEqual(["good", "inner", "inner"]);
    });

    test("is refused where none has failed", async () => {
      const { body } = counting();
      const workflow = defineWorkflow({ name: "workflow" }, async (event: WorkflowEvent<string>, step) => {
        await step.do("first", body("first"));
        if (event.payload === "throw") throw new Error("by itself");
      });
      const { workflows } = subject.start({ workflow });
      const threw = await workflows.workflow.create({ params: "throw" });
      const ended = await workflows.workflow.create({ params: "end" });
      await untilStatus(subject.clock, threw, "errored");
      await untilStatus(subject.clock, ended, "complete");
      await expect(threw.retryFailedStep()).rejects.toMatchObject({ code: "instance.no_failed_step" });
      await expect(ended.retryFailedStep()).rejects.toMatchObject({ code: "instance.not_errored" });
      for (const instance of [threw, ended]) expect((await instance.status()).run).toBe(1);
    });
  });
});
