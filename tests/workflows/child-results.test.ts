import { describe, expect, test } from "vitest";
import {
  defineWorkflow,
  type WorkflowEvent,
  WorkflowFailedError,
  type WorkflowInstance,
  WorkflowTerminatedError,
} from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { outliveLeases } from "./support/lose-process.ts";
import { becomes, comesToRest } from "./support/sample.ts";
import { eventually, untilStatus, useWorkflows, withTime } from "./support/use-workflows.ts";

describe.each(ENGINES)("waits for children on $name", (engine) => {
  const subject = useWorkflows(engine);

  const quick = defineWorkflow({ name: "quick" }, async (event: WorkflowEvent<string>, step) =>
    step.do("work", () => `did ${event.payload}`),
  );
  /** Ends when it is sent an event, with the event's payload. */
  const told = defineWorkflow({ name: "told" }, async (_event, step) => {
    const { payload } = await step.waitForEvent<{ fail?: string; give?: string }>("word", { type: "end" });
    if (payload.fail !== undefined) throw new RangeError(payload.fail);
    return payload.give ?? "nothing";
  });
  const parentOf = (timeout?: string) =>
    defineWorkflow({ name: "parent" }, async (_event, step) => {
      const child = await step.create(told, { id: "child" });
      try {
        return await child.result(timeout === undefined ? {} : { timeout: timeout as never });
      } catch (error) {
        const failed = error instanceof WorkflowFailedError;
        const terminated = error instanceof WorkflowTerminatedError;
        const { code, cause } = error as { code?: string; cause?: Error };
        return { failed, terminated, code, cause: cause?.message, range: cause instanceof RangeError };
      }
    });

  async function park(timeout?: string) {
    const parent = parentOf(timeout);
    const process = subject.start({ parent, told });
    const instance = await process.workflows.parent.create({ id: "parent" });
    await becomes(instance, "waiting");
    const child = await process.workflows.told.get("child");
    await becomes(child, "waiting");
    await comesToRest(process);
    return { process, instance, child };
  }

  test("a parent gets the output of its child by child.result() and by step.result(child)", async () => {
    const parent = defineWorkflow({ name: "parent" }, async (_event, step, { workflows }) => {
      const one = await step.create(quick, { params: "one" });
      const first: string = await one.result();
      const two = await step.create(quick, { params: "two", id: "two" });
      const second: string = await step.result(two);
      const again = (await workflows["quick"]?.get("two")) as typeof two;
      return [first, second, await again.result(), await two.result()];
    });
    const process = subject.start({ parent, quick });
    const instance = await process.workflows.parent.create();

    await expect(instance.result()).resolves.toEqual(["did one", "did two", "did two", "did two"]);
  });

  test("a parent waits without a slot, and the commit that completes the child wakes it", async () => {
    const { process, instance, child } = await park();
    expect(process.store.work.reserve("instance", subject.namespace, "parent")?.cancel()).toBeUndefined();
    await child.sendEvent({ type: "end", payload: { give: "gold" } });

    await expect(instance.result()).resolves.toBe("gold");
  });

  test("a parent waits without a slot for an instance whose handle it got from outside its code", async () => {
    let outside: { told: { get(id: string): Promise<WorkflowInstance<string>> } } | undefined;
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
      const handle = await (outside as NonNullable<typeof outside>).told.get("child");
      return step.result(handle);
    });
    const process = subject.start({ parent, told });
    outside = process.workflows;
    const child = await process.workflows.told.create({ id: "child" });
    const instance = await process.workflows.parent.create({ id: "parent" });
    await becomes(instance, "waiting");
    await comesToRest(process);
    await child.sendEvent({ type: "end", payload: { give: "gold" } });

    await expect(instance.result()).resolves.toBe("gold");
    const waited = { type: "result", name: "told/child" };
    expect((await instance.history()).entries).toMatchObject([
      { ...waited, kind: "waiting" },
      { ...waited, kind: "received" },
    ]);
  });

  test("a failed child is an error with the child's error as its cause", async () => {
    const { instance, child } = await park();
    await child.sendEvent({ type: "end", payload: { fail: "no gold" } });

    await expect(instance.result()).resolves.toEqual({
      failed: true,
      terminated: false,
      code: "workflow.failed",
      cause: "no gold",
      range: true,
    });
  });

  test("a child that had failed before the wait is the same error", async () => {
    const failing = defineWorkflow({ name: "failing" }, async () => {
      throw new RangeError("at once");
    });
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
      const child = await step.create(failing, { id: "child" });
      await step.waitForEvent("start", { type: "start" });
      const error = (await child.result().catch((thrown) => thrown)) as WorkflowFailedError;
      return [error instanceof WorkflowFailedError, (error.cause as Error).message];
    });
    const process = subject.start({ parent, failing });
    const instance = await process.workflows.parent.create();
    await eventually(async () =>
      expect((await (await process.workflows.failing.get("child")).status()).status).toBe("errored"),
    );
    await instance.sendEvent({ type: "start" });

    await expect(instance.result()).resolves.toEqual([true, "at once"]);
  });

  test("a child that is terminated during the wait is an error", async () => {
    const { instance, child } = await park();
    await child.terminate();

    await expect(instance.result()).resolves.toMatchObject({ terminated: true, code: "workflow.terminated" });
  });

  test("a child that is terminated with rollback during the wait is an error", async () => {
    const { instance, child } = await park();
    await child.terminate({ rollback: true });

    await expect(instance.result()).resolves.toMatchObject({ terminated: true, code: "workflow.terminated" });
  });

  test("a child that is deleted during the wait is an error", async () => {
    const { instance, child } = await park();
    await child.delete();

    await expect(instance.result()).resolves.toMatchObject({ failed: false, code: "instance.not_found" });
  });

  test("a child that is restarted during the wait is waited for until its new run ends", async () => {
    const { process, instance, child } = await park();
    await child.restart();
    await eventually(async () => expect(await child.status()).toMatchObject({ status: "waiting", run: 2 }));
    await comesToRest(process);
    expect((await instance.status()).status).toBe("waiting");
    await child.sendEvent({ type: "end", payload: { give: "later" } });

    await expect(instance.result()).resolves.toBe("later");
  });

  test("a wait ends after its timeout, and the child continues", async () => {
    const { instance, child } = await park("1 hour");
    await subject.clock.advanceAndSettle(3_600_000);
    await untilStatus(subject.clock, instance, "complete");

    await expect(instance.result()).resolves.toMatchObject({ code: "result.timeout" });
    expect((await child.status()).status).toBe("waiting");
  });

  test("an output stays the parent's after the child was restarted or deleted", async () => {
    const { process, instance, child } = await park();
    await process.stop();
    await child.sendEvent({ type: "end", payload: { give: "gold" } });
    const alone = subject.start({ told });
    await eventually(async () => expect((await child.status()).status).toBe("complete"));
    await alone.stop();
    await child.delete();
    const next = subject.start({ parent: parentOf(), told });
    const found = await next.workflows.parent.get("parent");

    await expect(found.result()).resolves.toBe("gold");
    expect((await instance.status()).output).toBe("gold");
  });

  test("a child that is run by another process wakes its parent", async () => {
    const { process, instance } = await park();
    const other = subject.start({ told });
    await (await other.workflows.told.get("child")).sendEvent({ type: "end", payload: { give: "from afar" } });

    await withTime(subject.clock, async () => expect(await instance.status()).toMatchObject({ output: "from afar" }));
    await process.stop();
  });

  test("a parent survives six lost processes while it waits, with no attempt used", async () => {
    const parent = parentOf();
    const first = subject.start({ parent, told }, { clock: subject.anotherClock() });
    const instance = await first.workflows.parent.create({ id: "parent" });
    await becomes(instance, "waiting");
    for (let lost = 0; lost < 6; lost++) {
      const process = subject.start({ parent, told }, { clock: subject.anotherClock() });
      await comesToRest(process);
      outliveLeases(subject);
    }
    const last = subject.start({ parent, told });
    const child = await last.workflows.told.get("child");
    await child.sendEvent({ type: "end", payload: { give: "still" } });

    await withTime(subject.clock, async () =>
      expect(await (await last.workflows.parent.get("parent")).status()).toMatchObject({ output: "still" }),
    );
  });

  test("a hundred parents in a hundred slots all get the results of their children: none keeps its slot", async () => {
    const parent = defineWorkflow({ name: "parent" }, async (event: WorkflowEvent<string>, step) => {
      const child = await step.create(quick, { params: event.payload });
      return child.result();
    });
    const process = subject.start({ parent, quick }, { concurrency: 100 });
    const batch = Array.from({ length: 100 }, (_, index) => ({ id: `parent-${index}`, params: String(index) }));
    const instances = await process.workflows.parent.createBatch(batch);

    await expect(Promise.all(instances.map((instance) => instance.result()))).resolves.toEqual(
      batch.map(({ params }) => `did ${params}`),
    );
  });

  test("a parent whose process stops before the child knows of the wait gets the result in the next process", async () => {
    const parent = parentOf();
    const first = subject.start({ parent, told });
    const asked = Promise.withResolvers<void>();
    first.store.instances.awaitEnd = () => {
      asked.resolve();
      return new Promise(() => {}); // the question is never sent
    };
    await first.workflows.parent.create({ id: "parent" });
    await asked.promise;
    await first.stop();

    const second = subject.start({ parent, told });
    const child = await second.workflows.told.get("child");
    await child.sendEvent({ type: "end", payload: { give: "gold" } });
    await expect((await second.workflows.parent.get("parent")).result()).resolves.toBe("gold");
  });

  test("the ends of failed children that a parent has received leave room for events", async () => {
    const failing = defineWorkflow({ name: "failing" }, async (_event, step) => {
      await step.waitForEvent("start", { type: "start" });
      throw new RangeError("no gold");
    });
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
      const children = await Promise.all(["1", "2", "3"].map((id) => step.create(failing, { id })));
      const ends = await Promise.allSettled(children.map((child) => child.result()));
      const { payload } = await step.waitForEvent<string>("word", { type: "word" });
      return `${ends.length} ${payload}`;
    });
    const process = subject.start({ parent, failing }, { workflowLimits: { pendingEvents: 3 } });
    const instance = await process.workflows.parent.create();
    await becomes(instance, "waiting");
    await comesToRest(process);
    for (const id of ["1", "2", "3"]) await (await process.workflows.failing.get(id)).sendEvent({ type: "start" });
    await eventually(async () =>
      expect((await instance.history()).entries.filter(({ kind }) => kind === "failed")).toHaveLength(3),
    );
    await instance.sendEvent({ type: "word", payload: "events" });

    await expect(instance.result()).resolves.toBe("3 events");
  });

  test("a history shows what was waited for, and the output", async () => {
    const { instance, child } = await park();
    const { entries: before } = await instance.history();
    expect(before.at(-1)).toMatchObject({ kind: "waiting", type: "result", name: "told/child" });
    expect(before.at(-1)).not.toHaveProperty("dueAt");
    await child.sendEvent({ type: "end", payload: { give: "gold" } });
    await instance.result();

    const { entries } = await instance.history();
    expect(entries.at(-1)).toMatchObject({ kind: "received", type: "result", name: "told/child", output: "gold" });
    expect(entries.at(-1)).not.toHaveProperty("event");
  });

  test("a parent that is restarted waits for its child again", async () => {
    const { instance, child } = await park();
    await instance.restart({ from: { name: "told/child", type: "result" } });
    await eventually(async () => expect(await instance.status()).toMatchObject({ status: "waiting", run: 2 }));
    await child.sendEvent({ type: "end", payload: { give: "twice" } });

    await expect(instance.result()).resolves.toBe("twice");
  });

  test("a parent whose child failed can retry that wait, after the child was restarted", async () => {
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) =>
      (await step.create(told, { id: "child" })).result(),
    );
    const process = subject.start({ parent, told });
    const instance = await process.workflows.parent.create();
    const child = await eventually(() => process.workflows.told.get("child"));
    await child.sendEvent({ type: "end", payload: { fail: "first" } });
    await expect(instance.result()).rejects.toMatchObject({ cause: { code: "workflow.failed" } });
    await child.restart();
    await child.sendEvent({ type: "end", payload: { give: "second" } });
    await instance.retryFailedStep();

    await expect(instance.result()).resolves.toBe("second");
  });

  test("a step that waits for a child's result is warned of, with the durable way", async () => {
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
      const child = await step.create(quick, { params: "it" });
      return step.do("wait", () => child.result());
    });
    const process = subject.start({ parent, quick });
    await expect((await process.workflows.parent.create()).result()).resolves.toBe("did it");

    expect(JSON.stringify(process.logs)).toContain("outside step.do");
  });
});
