import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { becomes } from "./support/sample.ts";
import { useWorkflows } from "./support/use-workflows.ts";

describe.each(ENGINES)("sending events to instances on $name", (engine) => {
  const subject = useWorkflows(engine);
  const workflow = defineWorkflow({ name: "listener" }, async (_event, step) => {
    const words: string[] = [];
    for (const name of ["first", "second"]) {
      words.push((await step.waitForEvent<string>(name, { type: "word", timeout: "1 day" })).payload);
    }
    return words;
  });

  test.each(["in turn", "at once", "from several processes"])(
    "with an id from the caller %s counts once",
    async (how) => {
      const process = subject.start({ workflow });
      const instance = await process.workflows.workflow.create({ id: "one" });
      const other = await subject.process({ workflow }).workflows.workflow.get("one");
      const senders = how === "from several processes" ? [instance, other, instance, other] : Array(4).fill(instance);
      const send = (sender: typeof instance) => sender.sendEvent({ type: "word", payload: "once", id: "event-1" });
      if (how === "in turn") for (const sender of senders) await send(sender);
      else await Promise.all(senders.map(send));
      await becomes(instance, "waiting");
      await send(instance); // it has been received by now
      await instance.sendEvent({ type: "word", payload: "twice", id: "event-2" });

      await expect(instance.result()).resolves.toEqual(["once", "twice"]);
    },
  );

  test("with no id counts each time", async () => {
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    for (let time = 0; time < 2; time++) await instance.sendEvent({ type: "word", payload: "again" });

    await expect(instance.result()).resolves.toEqual(["again", "again"]);
  });

  test("refuses what can't be sent", async () => {
    const instance = await subject.process({ workflow }).workflows.workflow.create();
    const refused = [{ type: "no spaces" }, { type: "word", id: "/" }, { type: "word", payload: () => {} }, {}, null];
    for (const event of refused) {
      await expect(instance.sendEvent(event as never)).rejects.toMatchObject({ name: "InvalidInputError" });
    }
  });
});
