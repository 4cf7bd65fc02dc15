import { afterEach, describe, expect, test, vi } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { becomes, Sample } from "./support/sample.ts";
import { SITUATIONS } from "./support/situations.ts";
import { eventually, useWorkflows, withTime } from "./support/use-workflows.ts";

describe.each(ENGINES)("results on $name", (engine) => {
  const subject = useWorkflows(engine);

  afterEach(() => {
    vi.restoreAllMocks();
  });

  async function begin(mode: "work" | "sleep" | "complete" | "fail") {
    const sample = new Sample();
    const runner = subject.start({ sample: sample.workflow });
    const instance = await runner.workflows.sample.create({ id: "one", params: mode });
    const other = subject.process({ sample: sample.workflow });
    return { sample, runner, instance, elsewhere: await other.workflows.sample.get("one"), other };
  }

  /** What it resolves or rejects with, however much time that takes. */
  async function untilSettled(promise: Promise<unknown>): Promise<unknown> {
    const told: unknown[] = [];
    const tell = (outcome: unknown) => void told.push(outcome);
    promise.then(tell, tell);
    await withTime(subject.clock, () => expect(told).toHaveLength(1));
    return told[0];
  }

  test("are given to all waiting callers when the instance ends", async () => {
    const { sample, instance, runner } = await begin("work");
    const again = await runner.workflows.sample.get("one");
    const results = [instance.result(), instance.result(), again.result()];
    sample.gate.open();

    await expect(Promise.all(results)).resolves.toEqual(["work", "work", "work"]);
  });

  test("are given at once of what has ended already, in every process, again and again", async () => {
    const { instance, elsewhere } = await begin("complete");
    await becomes(instance, "complete");

    for (const one of [instance, elsewhere, instance]) await expect(one.result()).resolves.toBe("complete");
  });

  test("reach other processes, with the help of time alone if need be", async () => {
    const { sample, elsewhere } = await begin("work");
    const told = vi.fn();
    const result = elsewhere.result().then(told);
    await eventually(() => expect(sample.began).toEqual(["work"]));
    expect(told).not.toHaveBeenCalled();
    sample.gate.open();
    await withTime(subject.clock, () => expect(told).toHaveBeenCalledWith("work"));
    await result;
  });

  test("come at once in the process that created the instance, if another one has finished it since", async () => {
    const sample = new Sample();
    const creator = subject.process({ sample: sample.workflow });
    const created = await creator.workflows.sample.create({ id: "one", params: "complete" });
    await subject.process({ sample: sample.workflow }).drain();
    const told = vi.fn();
    void created.result().then(told);

    await eventually(() => expect(told).toHaveBeenCalledWith("complete")); // and no time passes
  });

  test("cost a process nothing once no caller waits", async () => {
    const { sample, elsewhere, other } = await begin("work");
    const find = vi.spyOn(other.store.instances.statements, "find");
    const result = elsewhere.result();
    sample.gate.open();
    await withTime(subject.clock, () => expect(find).toHaveBeenCalled());
    expect(await untilSettled(result)).toBe("work");
    const asked = find.mock.calls.length;
    await subject.clock.advanceAndSettle(600_000);

    expect(find.mock.calls.length).toBe(asked);
  });

  test("are copies: what one caller changes the next doesn't see", async () => {
    const listed = defineWorkflow({ name: "listed" }, async () => ({ list: [1, new Date(5)] }));
    const { workflows } = subject.start({ listed });
    const instance = await workflows.listed.create();
    const first = await instance.result();
    first.list.push(3);

    await expect(instance.result()).resolves.toEqual({ list: [1, new Date(5)] });
  });

  test("of a failed instance are its error, with the cause", async () => {
    const { instance, elsewhere } = await begin("fail");
    for (const one of [instance, elsewhere]) {
      await expect(one.result()).rejects.toMatchObject({
        name: "WorkflowFailedError",
        code: "workflow.failed",
        cause: { name: "TypeError", message: "no" },
      });
    }
  });

  test.each(["terminate", "delete"] as const)("tell waiting callers of a %s", async (operation) => {
    const { instance, elsewhere } = await begin("sleep");
    await becomes(instance, "waiting");
    const code = operation === "terminate" ? "workflow.terminated" : "instance.not_found";
    const here = instance.result().catch((error: unknown) => error);
    const there = elsewhere.result().catch((error: unknown) => error);
    await instance[operation]();

    expect(await untilSettled(here)).toMatchObject({ code });
    expect(await untilSettled(there)).toMatchObject({ code });
    await expect(instance.result()).rejects.toMatchObject({ code });
  });

  test("of a restarted instance are those of the next run", async () => {
    const { sample, instance, elsewhere } = await begin("sleep");
    await becomes(instance, "waiting");
    const results = [instance.result(), elsewhere.result()];
    sample.easy = true;
    await instance.restart();

    expect(await untilSettled(Promise.all(results))).toEqual(["easy", "easy"]);
  });

  test("can be waited for up to a time, and then again", async () => {
    const { sample, instance } = await begin("work");
    const late = vi.fn();
    void instance.result({ timeout: "1 minute" }).catch(late);
    await subject.clock.advanceAndSettle(59_999);
    expect(late).not.toHaveBeenCalled();
    await subject.clock.advanceAndSettle(1);
    expect(late.mock.calls[0]?.[0]).toMatchObject({ name: "PerdureError", code: "result.timeout" });

    sample.gate.open();
    const result = instance.result();
    await withTime(subject.clock, async () => expect(await instance.status()).toMatchObject({ status: "complete" }));
    await expect(result).resolves.toBe("work");
  });

  test("can be given up by a signal, also one that was aborted before", async () => {
    const { instance } = await begin("work");
    const controller = new AbortController();
    const reason = new Error("enough");
    const result = instance.result({ signal: controller.signal });
    controller.abort(reason);

    await expect(result).rejects.toBe(reason);
    await expect(instance.result({ signal: controller.signal })).rejects.toBe(reason);
    await eventually(() => expect(instance.status()).resolves.toMatchObject({ status: "running" }));
  });

  test("refuse options that they don't know", async () => {
    const { instance } = await begin("complete");
    await expect(instance.result({ timeout: "soon" } as never)).rejects.toMatchObject({ name: "InvalidInputError" });
    await expect(instance.result({ within: 1 } as never)).rejects.toMatchObject({ code: "options.invalid" });
  });

  test.each(SITUATIONS.filter(({ status }) => status === "paused"))(
    "are waited for in vain of one $situation",
    async ({ enter }) => {
      const { instance } = await enter(subject);
      const result = instance.result({ timeout: "10 minutes" }).catch((error: unknown) => error);
      await subject.clock.advanceAndSettle(600_000);

      expect(await result).toMatchObject({ code: "result.timeout" });
    },
  );
});
