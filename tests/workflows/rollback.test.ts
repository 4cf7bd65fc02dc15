import { describe, expect, test } from "vitest";
import { NonRetryableError } from "../../src/errors.ts";
import { defineWorkflow, type WorkflowRollbackContext } from "../../src/index.ts";
import { Gate } from "../hooks/support/handlers.ts";
import { ENGINES } from "../support/engines.ts";
import { afterLong, outliveLeases } from "./support/lose-process.ts";
import { noteRollbacks } from "./support/rollback-notes.ts";
import { eventually, untilStatus, useWorkflows, withTime } from "./support/use-workflows.ts";

const once = { retries: { limit: 0 } } as const;
const fail = () => Promise.reject(new Error("no truck"));

describe.each(ENGINES)("a rollback on $name", (engine) => {
  const subject = useWorkflows(engine);

  test("rolls back the steps of a failed workflow, the last to begin first", async () => {
    const { lines, undo } = noteRollbacks();
    const order = defineWorkflow({ name: "order" }, async (_event, step) => {
      await step.do("reserve", () => "seat 7", undo("reserve"));
      await step.do("log", () => "nothing to take back");
      await step.do("charge", { retries: { limit: 1 } }, () => 12, undo("charge"));
      await step.do("ship", once, fail, undo("ship"));
    });
    const { workflows, errors } = subject.start({ order });
    const instance = await workflows.order.create();

    await untilStatus(subject.clock, instance, "errored");
    expect(lines).toEqual([
      "ship: undefined, no truck, ship#1, attempt 1",
      "charge: 12, no truck, charge#1, attempt 1",
      "reserve: seat 7, no truck, reserve#1, attempt 1",
    ]);
    expect(await instance.status()).toMatchObject({
      status: "errored",
      error: { name: "Error", message: "no truck" },
      rollback: { outcome: "complete" },
    });
    await expect(instance.result()).rejects.toMatchObject({ code: "workflow.failed", cause: { message: "no truck" } });
    await eventually(() => expect(errors.map(({ error }) => (error as Error).message)).toEqual(["no truck"]));
    const { entries } = await instance.history();
    expect(entries.map(({ kind, name }) => `${name} ${kind}`)).toEqual([
      "reserve undoable",
      "reserve completed",
      "log completed",
      "charge undoable",
      "charge completed",
      "ship undoable",
      "ship failed",
      "order rollingBack",
      "ship rolledBack",
      "charge rolledBack",
      "reserve rolledBack",
    ]);
    expect(entries[7]?.error).toMatchObject({ message: "no truck" });
  });

  test("isn't called for steps that succeeded, or whose errors were caught", async () => {
    const { lines, undo } = noteRollbacks();
    const order = defineWorkflow({ name: "order" }, async (_event, step) => {
      await step.do("ship", once, fail, undo("ship")).catch(() => {});
      return step.do("charge", () => 12, undo("charge"));
    });
    const { workflows } = subject.start({ order });
    const instance = await workflows.order.create();

    await expect(instance.result()).resolves.toBe(12);
    expect(lines).toEqual([]);
    expect(await instance.status()).not.toHaveProperty("rollback");
  });

  test("also rolls back concurrent steps that have begun but not ended", async () => {
    const { lines, undo } = noteRollbacks();
    let signal: AbortSignal | undefined;
    const order = defineWorkflow({ name: "order" }, async (_event, step) => {
      const slow = step.do(
        "slow",
        (ctx) => {
          signal = ctx.signal;
          return new Promise<string>(() => {});
        },
        undo("slow"),
      );
      await Promise.all([slow, step.do("quick", () => 1, undo("quick")).then(() => step.do("ship", once, fail))]);
    });
    const { workflows } = subject.start({ order });
    const instance = await workflows.order.create();

    await untilStatus(subject.clock, instance, "errored");
    expect(signal?.aborted).toBe(true);
    expect(lines).toEqual(["quick: 1, no truck, quick#1, attempt 1", "slow: undefined, no truck, slow#1, attempt 1"]);
  });

  test("is retried like a step, with delays and timeouts; the first that fails for good ends it, and is reported", async () => {
    const { lines, undo } = noteRollbacks();
    const attempts: string[] = [];
    const order = defineWorkflow({ name: "order" }, async (_event, step) => {
      await step.do("first", () => 1, undo("first"));
      await step.do("second", () => 2, {
        rollback: async ({ ctx }) => {
          attempts.push(`second ${ctx.attempt} ${ctx.idempotencyKey.split("/").at(-1)}`);
          throw new Error("bank is closed");
        },
        rollbackConfig: { retries: { limit: 1, delay: "1 minute" } },
      });
      await step.do("third", { timeout: "7 seconds" }, () => 3, {
        rollback: ({ ctx, error }) => {
          attempts.push(`third ${ctx.attempt} ${ctx.config.timeout} ${error.message}`);
          error.message = "something else"; // each attempt has its own
          return ctx.attempt === 1 ? new Promise(() => {}) : Promise.resolve();
        },
        rollbackConfig: { timeout: "2 seconds" },
      });
      await step.do("ship", once, fail);
    });
    const runner = subject.start({ order });
    const instance = await runner.workflows.order.create();

    await untilStatus(subject.clock, instance, "rollingBack");
    await afterLong(subject, instance, "errored");
    expect(attempts).toEqual([
      "third 1 7000 no truck", // the config is the step's
      "third 2 7000 no truck",
      "second 1 rollback:do:second",
      "second 2 rollback:do:second",
    ]);
    expect(lines).toEqual([]);
    expect(await instance.status()).toMatchObject({
      status: "errored",
      error: { message: "no truck" },
      rollback: { outcome: "failed", error: { name: "Error", message: "bank is closed" } },
    });
    await eventually(() => expect(runner.logs.messages("warn").join()).toContain("A rollback failed"));
  });

  test("that fails for good isn't tried again", async () => {
    let calls = 0;
    const order = defineWorkflow({ name: "order" }, async (_event, step) => {
      await step.do("charge", () => 1, {
        rollback: async () => {
          calls++;
          throw new NonRetryableError("it is too late");
        },
      });
      throw new Error("no truck");
    });
    const { workflows } = subject.start({ order });
    const instance = await workflows.order.create();

    await untilStatus(subject.clock, instance, "errored");
    expect(calls).toBe(1);
    expect((await instance.status()).rollback).toMatchObject({
      outcome: "failed",
      error: { message: "it is too late" },
    });
  });

  test("continues in another process where one was lost, with the same error and outputs; what is rolled back stays so", async () => {
    const { lines, undo } = noteRollbacks();
    let losses = 0;
    const begun: string[] = [];
    const order = defineWorkflow({ name: "order" }, async (_event, step) => {
      await step.do("reserve", () => void begun.push("reserve"), undo("reserve"));
      await step.do("charge", () => new Map([["paid", 12]]), {
        rollback: ({ ctx, error, output }) => {
          lines.push(`charge: ${output?.get("paid")}, ${error.message}, attempt ${ctx.attempt}`);
          return losses++ === 0 ? new Promise(() => {}) : Promise.resolve();
        },
      });
      await step.do("log", () => 1, undo("log"));
      await step.sleep("a while", "1 second");
      await step.do("ship", once, fail);
    });
    const lost = subject.start({ order }, { clock: subject.anotherClock() });
    await lost.workflows.order.create({ id: "one" });
    await withTime(lost.clock, () => expect(lines).toHaveLength(2));
    subject.clock.advance(lost.clock.now() - subject.clock.now());
    outliveLeases(subject);

    const { workflows } = subject.start({ order });
    const instance = await workflows.order.get("one");
    await untilStatus(subject.clock, instance, "errored");
    expect(lines).toEqual([
      "log: 1, no truck, log#1, attempt 1",
      "charge: 12, no truck, attempt 1",
      "charge: 12, no truck, attempt 2",
      "reserve: undefined, no truck, reserve#1, attempt 1",
    ]);
    expect(begun).toEqual(["reserve"]);
    expect(await instance.status()).toMatchObject({
      error: { message: "no truck" },
      rollback: { outcome: "complete" },
    });
  });

  test("of one attempt that was lost with its process isn't begun again: it has failed", async () => {
    let calls = 0;
    const order = defineWorkflow({ name: "order" }, async (_event, step) => {
      await step.do("charge", () => 1, {
        rollback: () => {
          calls++;
          return new Promise(() => {});
        },
        rollbackConfig: once,
      });
      throw new Error("no truck");
    });
    const lost = subject.start({ order }, { clock: subject.anotherClock() });
    await lost.workflows.order.create({ id: "one" });
    await withTime(lost.clock, () => expect(calls).toBe(1));
    subject.clock.advance(lost.clock.now() - subject.clock.now());
    outliveLeases(subject);

    const { workflows } = subject.start({ order });
    const instance = await workflows.order.get("one");
    await untilStatus(subject.clock, instance, "errored");
    expect(calls).toBe(1);
    const { rollback } = await instance.status();
    expect(rollback).toMatchObject({ outcome: "failed", error: { message: expect.stringContaining("do:charge") } });
  });

  test("waits for code that awaits something else than steps", async () => {
    const { lines, undo } = noteRollbacks();
    const order = defineWorkflow({ name: "order" }, async (_event, step) => {
      await new Promise<void>((resolve) => subject.clock.setTimer(resolve, 8000));
      await step.do("charge", () => 2, undo("charge"));
      await step.sleep("long", "1 day");
    });
    const runner = subject.start({ order });
    const instance = await runner.workflows.order.create();
    await untilStatus(subject.clock, instance, "waiting");
    await instance.terminate({ rollback: true });
    await untilStatus(subject.clock, instance, "terminated");
    expect(lines).toHaveLength(1);
    expect((await instance.status()).rollback).toEqual({ outcome: "complete" });
  });

  test("can't have steps of its own, and neither can a step inside another have one", async () => {
    const { undo } = noteRollbacks();
    const order = defineWorkflow({ name: "order" }, async (_event, step) => {
      await step.do("charge", () => 2, { rollback: async () => void (await step.do("inner", () => 1)) });
      await step.do("outer", once, () => step.do("inner", () => 1, undo("inner")));
    });
    const { workflows } = subject.start({ order });
    const instance = await workflows.order.create();

    await untilStatus(subject.clock, instance, "errored");
    expect(await instance.status()).toMatchObject({
      error: { name: "InvalidInputError", message: expect.stringContaining("inside another") },
      rollback: { outcome: "failed", error: { name: "StepInRollbackError" } },
    });
  });

  test.each([
    { title: "options that aren't an object", options: 5 },
    { title: "no function", options: { rollback: "undo" } },
    { title: "a field that isn't known", options: { rollback: fail, retries: {} } },
    { title: "a bad config", options: { rollback: fail, rollbackConfig: { retries: { limit: -1 } } } },
    { title: "aliases", options: { rollback: fail, rollbackConfig: { aliases: ["x"] } } },
  ])("is refused with $title, before the step begins", async ({ options }) => {
    const begun: string[] = [];
    const order = defineWorkflow({ name: "order" }, async (_event, step) => {
      await step.do("charge", () => void begun.push("charge"), options as never);
    });
    const { workflows } = subject.start({ order });

    await expect((await workflows.order.create()).result()).rejects.toMatchObject({
      cause: { name: "InvalidInputError", code: "step.invalid" },
    });
    expect(begun).toEqual([]);
  });

  test("that failed for good, as the last that its process could write, has failed: it isn't called again", async () => {
    const written = new Gate();
    const abandoned = new Gate();
    let calls = 0;
    const order = defineWorkflow({ name: "order" }, async (_event, step) => {
      const rollback = async ({ ctx }: WorkflowRollbackContext) => {
        calls++;
        ctx.emit("asking the bank").catch(() => abandoned.open()); // the caller isn't told that it is written
        await written.opened;
        throw new NonRetryableError("the bank refuses");
      };
      await step.do("charge", () => 12, { rollback });
      await step.do("ship", once, fail);
    });
    const runner = subject.start({ order });
    const { instances } = runner.store;
    const commit = instances.commit.bind(instances);
    instances.commit = async (one) => {
      const answer = await commit(one);
      if (!one.entries.some(({ kind }) => kind === "progress")) return answer;
      written.open();
      await abandoned.opened;
      return answer;
    };
    const created = await runner.workflows.order.create({ id: "one" });
    await eventually(() => expect(calls).toBe(1));
    await written.opened;
    await runner.stop();
    expect(await created.status()).toMatchObject({ status: "rollingBack" });
    const { entries } = await created.history();
    expect(entries.at(-1)).toMatchObject({ kind: "rollbackFailed", error: { message: "the bank refuses" } });

    const { workflows } = subject.start({ order });
    const instance = await workflows.order.get("one");
    await untilStatus(subject.clock, instance, "errored");
    expect(calls).toBe(1);
    expect(await instance.status()).toMatchObject({
      error: { message: "no truck" },
      rollback: { outcome: "failed", error: { message: "the bank refuses" } },
    });
  });
});
