import { existsSync } from "node:fs";
import { defineWorkflow, type WorkflowStepContext } from "../../src/index.ts";

export const SLOTS = 3;
export const STARTS = 5;

/** What the body of a step did, written down the moment it happened. */
export interface BodyEntry {
  readonly event: "began" | "ended" | "aborted";
  readonly instance: string;
  /** Its name, and which call of that name it is where it isn't the first. */
  readonly step: string;
  readonly attempt: number;
  /** In milliseconds; all processes of a test have one clock. */
  readonly at: number;
}

interface Surroundings {
  /** Writes down what a body does. */
  write(entry: BodyEntry): void;
  /** Resolves when the test says so. */
  readonly gate: Promise<void>;
}

type Body = (ctx: WorkflowStepContext) => unknown;

/**
 * The workflows of the processes. Each step writes down that it began and that it ended.
 *
 * - `steps` has so many, one after the other.
 * - `hold` has one in the middle that ends when it is told to (`open`), and doesn't listen to its signal.
 * - `block` has one in the middle that keeps the whole process busy, timers included, until a file is there.
 * - `wait` waits for so many events between its first and its last step.
 * - `naps` sleeps for a moment before each of its steps.
 * - `limited` has a step that takes a moment; no more than `SLOTS` of them run at a time, in all processes.
 * - `rated` has one step; no more than `STARTS` of them start in any second.
 * - `journey` does a bit of everything: steps one after the other, at once, and again; a nap.
 */
export function createPrograms({ write, gate }: Surroundings) {
  const note =
    (instance: string, act: Body = () => {}) =>
    async (ctx: WorkflowStepContext) => {
      const { name, count } = ctx.step;
      const entry = { instance, step: count === 1 ? name : `${name}#${count}`, attempt: ctx.attempt };
      const tell = (event: BodyEntry["event"]) => write({ ...entry, event, at: Date.now() });
      tell("began");
      ctx.signal.addEventListener("abort", () => tell("aborted"));
      await act(ctx);
      tell("ended");
      return entry.step;
    };
  return {
    steps: defineWorkflow<number>({ name: "steps" }, async ({ instanceId, payload }, step) => {
      const done: string[] = [];
      for (let number = 0; number < payload; number++) done.push(await step.do("step", note(instanceId)));
      return done;
    }),
    hold: defineWorkflow({ name: "hold" }, async ({ instanceId }, step) => {
      await step.do("first", note(instanceId));
      await step.do(
        "held",
        note(instanceId, () => gate),
      );
      return step.do("last", note(instanceId));
    }),
    block: defineWorkflow<string>({ name: "block" }, async ({ instanceId, payload }, step) => {
      await step.do("first", note(instanceId));
      await step.do(
        "blocked",
        note(instanceId, () => blockUntil(payload)),
      );
      return step.do("last", note(instanceId));
    }),
    wait: defineWorkflow<{ times: number; timeout: `${number} seconds` }>(
      { name: "wait" },
      async ({ instanceId, payload }, step) => {
        await step.do("first", note(instanceId));
        const received: unknown[] = [];
        for (let time = 0; time < payload.times; time++) {
          received.push((await step.waitForEvent("event", { type: "go", timeout: payload.timeout })).payload);
        }
        await step.do("last", note(instanceId));
        return received;
      },
    ),
    naps: defineWorkflow<number>({ name: "naps" }, async ({ instanceId, payload }, step) => {
      for (let number = 0; number < payload; number++) {
        await step.sleep("nap", 300);
        await step.do("awake", note(instanceId));
      }
    }),
    limited: defineWorkflow({ name: "limited", concurrency: { limit: SLOTS } }, async ({ instanceId }, step) => {
      await step.do(
        "work",
        note(instanceId, () => new Promise((resolve) => setTimeout(resolve, 20))),
      );
    }),
    rated: defineWorkflow(
      { name: "rated", rateLimit: { limit: STARTS, period: "1 second" } },
      async ({ instanceId }, step) => {
        await step.do("work", note(instanceId));
      },
    ),
    journey: defineWorkflow({ name: "journey" }, async ({ instanceId }, step) => {
      const first = await step.do("first", note(instanceId));
      await step.sleep("nap", 200);
      const both = await Promise.all([step.do("left", note(instanceId)), step.do("right", note(instanceId))]);
      const again = await step.do(
        "again",
        { retries: { limit: 20, delay: 50, backoff: "constant" } },
        note(instanceId, ({ attempt }) => {
          if (attempt === 1) throw new Error("not at the first attempt");
        }),
      );
      return [first, ...both, again, await step.do("last", note(instanceId))];
    }),
  };
}

export type Programs = ReturnType<typeof createPrograms>;
export type ProgramName = keyof Programs;

function blockUntil(path: string): void {
  const bell = new Int32Array(new SharedArrayBuffer(4));
  while (!existsSync(path)) Atomics.wait(bell, 0, 0, 1);
}
