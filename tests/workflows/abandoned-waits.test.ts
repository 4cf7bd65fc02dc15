import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { becomes, comesToRest } from "./support/sample.ts";
import { eventually, useWorkflows, withTime } from "./support/use-workflows.ts";

describe.each(ENGINES)("abandoned waits on $name", (engine) => {
  const subject = useWorkflows(engine);

  /** The first of two rounds is decided by a payment, the second by the cancel button. */
  const order = defineWorkflow({ name: "order" }, async (_event, step) => {
    const outcomes: string[] = [];
    for (const round of ["first", "second"]) {
      const decided = new AbortController();
      const { signal } = decided;
      const paid = step.waitForEvent<string>(`${round} payment`, { type: "paid", signal });
      const cancelled = step.waitForEvent<string>(`${round} cancel`, { type: "cancel", signal });
      const { type, payload } = await Promise.race([paid, cancelled]);
      decided.abort(new RangeError("decided"));
      const lost = type === "paid" ? cancelled : paid;
      const reason = await lost.catch((error: RangeError) => error.message);
      outcomes.push(`${type} ${payload} ${reason}`);
      await step.sleep(`${round} rest`, "1 hour");
    }
    return outcomes;
  });

  test("a wait that lost its race doesn't take the next event: the cancel button works in the second round", async () => {
    const process = subject.start({ order });
    const instance = await process.workflows.order.create();
    await becomes(instance, "waiting");
    await instance.sendEvent({ type: "paid", payload: "one" });
    await eventually(async () =>
      expect((await instance.history()).entries.some(({ name }) => name === "first rest")).toBe(true),
    );
    await comesToRest(process);
    await subject.clock.advanceAndSettle(3_600_000);
    await eventually(async () =>
      expect((await instance.history()).entries.some(({ name }) => name === "second cancel")).toBe(true),
    );
    await instance.sendEvent({ type: "cancel", payload: "two" });
    await eventually(async () =>
      expect((await instance.history()).entries.some(({ name }) => name === "second rest")).toBe(true),
    );
    await comesToRest(process);
    await subject.clock.advanceAndSettle(3_600_000);

    await withTime(subject.clock, async () =>
      expect(await instance.status()).toMatchObject({ output: ["paid one decided", "cancel two decided"] }),
    );
    const { entries } = await instance.history();
    expect(entries.filter(({ kind }) => kind === "abandoned")).toMatchObject([
      { name: "first cancel", error: { message: "decided" } },
      { name: "second payment", error: { message: "decided" } },
    ]);
  });

  test("a sleep and a wait for a child are abandoned, and the run ends without them", async () => {
    const child = defineWorkflow({ name: "child" }, async (_event, step) => {
      await step.waitForEvent("word", { type: "word" });
    });
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
      const stop = new AbortController();
      const one = await step.create(child, { id: "child" });
      const result = one.result({ signal: stop.signal }).catch((error: Error) => error.name);
      const slept = step.sleep("long", "1 year", { signal: stop.signal }).catch((error: Error) => error.name);
      const late = stop.signal;
      await step.waitForEvent("stop", { type: "stop" });
      stop.abort();
      const never = await step.sleep("aborted before", "1 year", { signal: late }).catch((error: Error) => error.name);
      return [await result, await slept, never];
    });
    const process = subject.start({ parent, child });
    const instance = await process.workflows.parent.create();
    await becomes(instance, "waiting");
    await comesToRest(process);
    await instance.sendEvent({ type: "stop" });

    await expect(instance.result()).resolves.toEqual(["AbortError", "AbortError", "AbortError"]);
    const left = await process.workflows.child.get("child");
    expect((await left.status()).status).toBe("waiting");
  });

  test("a wait takes an AbortSignal and nothing else", async () => {
    const wrong = defineWorkflow({ name: "wrong" }, async (_event, step) => {
      await step.waitForEvent("x", { type: "x", signal: "stop" as never });
    });
    const process = subject.start({ wrong });
    await expect((await process.workflows.wrong.create()).result()).rejects.toMatchObject({
      cause: { code: "step.invalid" },
    });
  });
});
