import { describe, expect, test } from "vitest";
import { defineHook, defineWorkflow, type WorkflowEvent } from "../../src/index.ts";
import { useHooks } from "../hooks/support/use-hooks.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually, useWorkflows } from "../workflows/support/use-workflows.ts";
import { NEW, OLD } from "./support/keys.ts";
import { MINUTE, openWith } from "./support/unable.ts";

const MISSING = { reason: "unreadable", code: "codec.key_missing" };

describe.each(ENGINES)("explain of what a missing key encrypts on $name", (engine) => {
  const subject = useWorkflows(engine);
  const hooks = useHooks(engine);

  const program = (first: string) => ({
    order: defineWorkflow({ name: "order", onDivergence: "stop" }, async (event: WorkflowEvent<string>, step) => {
      await step.do(first, () => event.payload);
      await step.sleep("rest", "1 hour");
    }),
  });

  test("says that an instance waits for the key, with the code and a sentence without a value", async () => {
    const writer = subject.process(program("charge"), { adapter: openWith(subject, OLD) });
    await writer.workflows.order.create({ id: "one", params: "secret" });
    const unable = subject.process(program("charge"), { adapter: openWith(subject, NEW) });
    await unable.drain();
    const { reason, sentence } = await (await unable.workflows.order.get("one")).explain();
    expect(reason).toMatchObject(MISSING);
    expect(sentence).toBe("The instance waits for a process that can read its stored values (codec.key_missing).");
  });

  test("says so of an instance whose code doesn't match its history, where the error can't be read", async () => {
    const writer = subject.process(program("charge"), { adapter: openWith(subject, OLD) });
    const instance = await writer.workflows.order.create({ id: "one", params: "secret" });
    await writer.drain();
    const changed = subject.process(program("bill"), { adapter: openWith(subject, OLD) });
    subject.clock.advance(60 * MINUTE);
    await changed.drain();
    expect((await instance.explain()).reason).toMatchObject({ reason: "diverged" });

    const unable = subject.process(program("bill"), { adapter: openWith(subject, NEW) });
    const seen = await unable.workflows.order.get("one");
    expect((await seen.explain()).reason).toMatchObject(MISSING);
  });

  test("says so of a hook", async () => {
    const send = defineHook({}, async (_payload: string) => {});
    const writer = hooks.process({ send }, { adapter: openWith(hooks, OLD) });
    const { id } = await writer.hooks.send.trigger("secret");
    const unable = hooks.process({ send }, { adapter: openWith(hooks, NEW) });
    await unable.drain();
    await eventually(async () => expect((await unable.durableHooks.explain(id)).reason).toMatchObject(MISSING));
  });
});
