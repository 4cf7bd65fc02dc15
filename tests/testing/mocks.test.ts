import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { createTestApp, introspectWorkflowInstance, type WorkflowInstanceModifier } from "../../src/testing/index.ts";

type Change = (modifier: WorkflowInstanceModifier) => Promise<void> | void;

async function open(end: "complete" | "errored" = "complete") {
  const calls: number[] = [];
  const workflow = defineWorkflow({ name: "payment" }, async (_, step) =>
    step.do("pay", { retries: { limit: 5, delay: "1 second" } }, ({ attempt }) => {
      calls.push(attempt);
      return "real";
    }),
  );
  const app = await createTestApp({ workflows: { workflow } });
  const instance = await introspectWorkflowInstance(app.workflows.workflow, "one");
  const run = async (change: Change) => {
    await instance.modify(async (modifier) => {
      await modifier.disableRetryDelays();
      await change(modifier);
    });
    const handle = await app.workflows.workflow.create({ id: "one" });
    await instance.waitForStatus(end);
    const { entries } = await handle.history();
    const attempts = entries.flatMap(({ kind, error }) => (kind === "failed" ? [error?.message] : []));
    return { attempts, output: end === "complete" ? await instance.getOutput() : null, calls };
  };
  return { run, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

/** A stream that takes a few turns of the event loop. */
function slowly(chunks: readonly string[]): ReadableStream<string> {
  const left = [...chunks];
  return new ReadableStream({
    async pull(controller) {
      await new Promise((resolve) => setImmediate(resolve));
      const chunk = left.shift();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
  });
}

const STEP = { name: "pay" };
const TIMEOUT = "The step didn't end in time: a test says so.";

describe("mocks of one step", () => {
  test.each<[string, Change, string[], unknown]>([
    [
      "two errors and then a result, as in Cloudflare's example",
      async (m) => {
        await m.mockStepError(STEP, new Error("declined"), 2);
        await m.mockStepResult(STEP, "mocked");
      },
      ["declined", "declined"],
      "mocked",
    ],
    [
      "a result that was named before the errors",
      async (m) => {
        await m.mockStepResult(STEP, "mocked");
        await m.mockStepError(STEP, new Error("declined"), 1);
      },
      ["declined"],
      "mocked",
    ],
    [
      "a timeout, an error and then a result",
      async (m) => {
        await m.forceStepTimeout(STEP, 1);
        await m.mockStepError(STEP, new Error("declined"), 1);
        await m.mockStepResult(STEP, "mocked");
      },
      [TIMEOUT, "declined"],
      "mocked",
    ],
    [
      "different errors, and then the step's own function",
      async (m) => {
        await m.mockStepError(STEP, new Error("first"), 1);
        await m.mockStepError(STEP, new Error("second"), 2);
      },
      ["first", "second", "second"],
      "real",
    ],
    [
      "without waiting for each, as in Cloudflare's types",
      (m) => {
        void m.forceStepTimeout(STEP, 1);
        void m.mockStepError(STEP, new Error("declined"), 1);
        void m.mockStepResult(STEP, "mocked");
      },
      [TIMEOUT, "declined"],
      "mocked",
    ],
  ])("follow each other: %s", async (_, change, attempts, output) => {
    await using payment = await open();
    const seen = await payment.run(change);
    expect(seen).toMatchObject({ attempts, output });
    expect(seen.calls).toEqual(output === "real" ? [attempts.length + 1] : []);
  });

  test("are refused where a step has a mocked result already", async () => {
    await using payment = await open();
    const outcomes: unknown[] = [];
    const { output } = await payment.run(async (m) => {
      await m.mockStepResult(STEP, "first");
      outcomes.push(await m.mockStepResult(STEP, "second").catch((error: { code: string }) => error.code));
    });
    expect([output, outcomes]).toEqual(["first", ["options.invalid"]]);
  });

  test.each<[string, (m: WorkflowInstanceModifier) => Promise<void>, string]>([
    ["an error", (m) => m.mockStepError(STEP, new Error("declined")), "declined"],
    ["a timeout", (m) => m.forceStepTimeout(STEP), TIMEOUT],
  ])("of %s for all attempts hold, though a result is mocked too", async (_, fail, message) => {
    for (const first of ["failure", "result"]) {
      await using payment = await open("errored");
      const { attempts, calls } = await payment.run(async (m) => {
        if (first === "failure") await fail(m);
        await m.mockStepResult(STEP, "mocked");
        if (first === "result") await fail(m);
      });
      expect([attempts, calls]).toEqual([Array(6).fill(message), []]);
    }
  });

  test("give a stream where one was mocked, also after a restart", async () => {
    const read = async (stream: unknown) => {
      const chunks: string[] = [];
      for await (const chunk of stream as ReadableStream<string>) chunks.push(chunk);
      return chunks.join("");
    };
    const workflow = defineWorkflow({ name: "export" }, async (_, step) =>
      read(await step.do("stream", async () => ReadableStream.from(["real"]))),
    );
    await using app = await createTestApp({ workflows: { workflow } });
    await using instance = await introspectWorkflowInstance(app.workflows.workflow, "one");
    await instance.modify((m) => void m.mockStepResult({ name: "stream" }, slowly(["mo", "cked"])));
    const handle = await app.workflows.workflow.create({ id: "one" });
    for (let run = 1; run <= 3; run++) {
      expect(await read(await instance.waitForStepResult({ name: "stream" }))).toBe("mocked");
      await instance.waitForStatus("complete");
      expect(await instance.getOutput()).toBe("mocked");
      await handle.restart();
    }
  });
});
