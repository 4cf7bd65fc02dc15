import { describe, expect, test } from "vitest";
import { defineWorkflow, StoredStream, type WorkflowRollbackContext } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { outliveLeases } from "./support/lose-process.ts";
import { untilStatus, useWorkflows, withTime } from "./support/use-workflows.ts";

function streamOf(text: string): ReadableStream<string> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(text);
      controller.close();
    },
  });
}

async function read(stream: ReadableStream<string>): Promise<string> {
  let text = "";
  for await (const piece of stream) text += piece;
  return text;
}

describe.each(ENGINES)("streams of steps that are rolled back on $name", (engine) => {
  const subject = useWorkflows(engine);

  /** A workflow that pours, and fails; its rollback may be held up until its process is lost. */
  function pouring() {
    const state = { stuck: false, began: 0, seen: [] as string[] };
    const rollback = async ({ output }: WorkflowRollbackContext<ReadableStream<string>>) => {
      state.began++;
      if (state.stuck) await new Promise(() => {});
      const stored = output instanceof StoredStream;
      state.seen.push(`${stored} ${await read(output as ReadableStream<string>)}`);
    };
    const workflow = defineWorkflow({ name: "pouring" }, async (_event, step) => {
      await step.do("pour", () => streamOf("water"), { rollback });
      throw new Error("spilt");
    });
    return { workflow, state };
  }

  test("can be read by the rollback", async () => {
    const { workflow, state } = pouring();
    const { workflows } = subject.start({ workflow });
    const instance = await workflows.workflow.create();

    await untilStatus(subject.clock, instance, "errored");
    expect(await instance.status()).toMatchObject({ rollback: { outcome: "complete" } });
    expect(state.seen).toEqual(["true water"]);
  });

  test("can be read by the rollback in another process", async () => {
    const { workflow, state } = pouring();
    state.stuck = true;
    const lost = subject.start({ workflow }, { clock: subject.anotherClock() });
    await lost.workflows.workflow.create({ id: "one" });
    await withTime(lost.clock, () => expect(state.began).toBe(1));
    subject.clock.advance(lost.clock.now() - subject.clock.now());
    state.stuck = false;
    outliveLeases(subject);

    const { workflows } = subject.start({ workflow });
    const instance = await workflows.workflow.get("one");
    await untilStatus(subject.clock, instance, "errored");
    expect(state.seen).toEqual(["true water"]);
  });

  test("are kept by a restart from a later step, and by the one after that", async () => {
    let poured = 0;
    const workflow = defineWorkflow({ name: "drinking" }, async (_event, step) => {
      const stream = await step.do("pour", () => streamOf(`glass ${++poured}`));
      await step.do("drink", () => {});
      return read(stream);
    });
    const { workflows } = subject.start({ workflow });
    const instance = await workflows.workflow.create();
    await expect(instance.result()).resolves.toBe("glass 1");

    for (const run of [2, 3]) {
      await instance.restart({ from: { name: "drink" } });
      await untilStatus(subject.clock, instance, "complete");
      expect(await instance.status()).toMatchObject({ run, output: "glass 1" });
    }
    await instance.restart({ from: { name: "pour" } });
    await untilStatus(subject.clock, instance, "complete");
    expect(await instance.status()).toMatchObject({ run: 4, output: "glass 2" });
  });
});
