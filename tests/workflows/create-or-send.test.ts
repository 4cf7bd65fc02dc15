import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineWorkflow } from "../../src/index.ts";
import { ENCRYPTED_SQLITE, ENGINES } from "../support/engines.ts";
import { useWorkflows } from "./support/use-workflows.ts";

const events = { word: z.string(), stop: z.undefined() };

const words = defineWorkflow({ name: "words", input: z.string(), events }, async ({ payload }, step) => {
  const heard = [payload];
  for (let count = 0; count < 3; count++) {
    heard.push((await step.waitForEvent(`word ${count}`, { type: "word", timeout: "1 day" })).payload);
  }
  return heard;
});

describe.each([...ENGINES, ENCRYPTED_SQLITE])("createOrSend on $name", (engine) => {
  const subject = useWorkflows(engine);
  const say = (payload: string, id?: string) => ({ type: "word", payload, ...(id && { id }) }) as const;

  test("createOrSend creates the instance with its event, and then sends to it", async () => {
    const { workflows } = subject.start({ words });
    const first = await workflows.words.createOrSend({ id: "a", params: "p", event: say("one") });
    const second = await workflows.words.createOrSend({ id: "a", params: "ignored", event: say("two") });
    await second.instance.sendEvent(say("three"));

    expect([first.outcome, second.outcome]).toEqual(["created", "sent"]);
    expect(await first.instance.result()).toEqual(["p", "one", "two", "three"]);
  });

  test("concurrent calls of two processes create one instance, and every event arrives once", async () => {
    const [one, other] = [subject.process({ words }), subject.process({ words })];
    const calls = await Promise.all(
      ["1", "2", "3"].map((word, index) =>
        (index % 2 === 0 ? one : other).workflows.words.createOrSend({ id: "a", params: "p", event: say(word) }),
      ),
    );
    await one.drain();

    expect(calls.map(({ outcome }) => outcome).sort()).toEqual(["created", "sent", "sent"]);
    const heard = (await calls[0]?.instance.result()) ?? [];
    expect([...heard].sort()).toEqual(["1", "2", "3", "p"]);
  });

  test("an event with an id of its own arrives once, whether or not it created the instance", async () => {
    const process = subject.process({ words });
    const { workflows } = process;
    for (const word of ["one", "two", "one", "three", "two"]) {
      await workflows.words.createOrSend({ id: "a", params: "p", event: say(word, word) });
    }
    await process.drain();

    expect(await (await workflows.words.get("a")).result()).toEqual(["p", "one", "two", "three"]);
  });

  test("an instance with a limit, labels and a priority is created with its event", async () => {
    const limited = defineWorkflow(
      { name: "limited", input: z.string(), events, concurrency: { limit: 1 } },
      async (_event, step) => (await step.waitForEvent("word", { type: "word" })).payload,
    );
    const process = subject.process({ limited });
    const { workflows } = process;
    const labels = { tenant: "acme" };
    const made = await Promise.all(
      ["a", "b"].map((id) =>
        workflows.limited.createOrSend({ id, params: "p", labels, priority: 3, event: say(`to ${id}`) }),
      ),
    );
    await process.drain();

    expect(await Promise.all(made.map(({ instance }) => instance.result()))).toEqual(["to a", "to b"]);
    expect((await workflows.limited.list({ labels })).instances).toHaveLength(2);
  });

  test("an instance that has ended isn't started again", async () => {
    const { workflows } = subject.process({ words });
    const { instance } = await workflows.words.createOrSend({ id: "a", params: "p", event: say("one") });
    await instance.terminate();

    const again = workflows.words.createOrSend({ id: "a", params: "p", event: say("two") });
    await expect(again).rejects.toMatchObject({ code: "instance.finished" });
  });

  test("an invalid call creates nothing", async () => {
    const { workflows } = subject.process({ words });
    const call = (options: object) => workflows.words.createOrSend(options as never);
    await expect(call({ params: "p", event: say("x") })).rejects.toMatchObject({ code: "create.invalid" });
    await expect(call({ id: "a", params: "p" })).rejects.toMatchObject({ code: "event.invalid" });
    await expect(call({ id: "a", params: "p", event: { type: "" } })).rejects.toMatchObject({ code: "id.invalid" });
    await expect(call({ id: "a", event: say("x"), onConflict: "error" })).rejects.toMatchObject({
      code: "create.invalid",
    });

    expect((await workflows.words.counts()).total).toBe(0);
    if (Math.random() > 1) {
      // @ts-expect-error The payload is missing.
      await workflows.words.createOrSend({ id: "a", params: "p", event: { type: "word" } });
      // @ts-expect-error So are the params.
      await workflows.words.createOrSend({ id: "a", event: say("x") });
      // @ts-expect-error There is no such event.
      await workflows.words.createOrSend({ id: "a", params: "p", event: { type: "unknown" } });
    }
  });
});
