import {
  defineWorkflow,
  type Explanation,
  type WaitingReason,
  type WorkflowEvent,
  type WorkflowInstance,
  type WorkflowStep,
} from "../../../src/index.ts";
import { Gate } from "../../hooks/support/handlers.ts";

const MINUTE = 60_000;

/** How an instance gets stuck: its code reads this. */
export interface Stuck {
  readonly how: "sleep" | "event" | "retry" | "token" | "child" | "both" | "complete" | "fail" | "undo" | "work";
  readonly number: number;
}

type Expected = Partial<Record<keyof Extract<WaitingReason, { reason: WaitingReason["reason"] }> | string, unknown>>;

/** One kind of stuck state, with the right answer for the nth of its kind. */
export interface StuckState {
  readonly title: string;
  readonly how: Stuck["how"];
  /** Done to the instance once it is parked or finished. */
  readonly afterwards?: (instance: WorkflowInstance, number: number) => Promise<void>;
  readonly expected: (number: number, now: number, id: string) => Expected;
  readonly others?: number;
}

const at = (time: number) => new Date(time);
const eventually = (number: number) => (number % 2 === 0 ? null : number * MINUTE);

export const STUCK_STATES: readonly StuckState[] = [
  {
    title: "a sleep",
    how: "sleep",
    expected: (number, now) => ({
      reason: "sleeping",
      step: { type: "sleep", name: `rest ${number}`, count: 1 },
      until: at(now + number * MINUTE),
    }),
  },
  {
    title: "a wait for an event, with events of other types",
    how: "event",
    afterwards: async (instance, number) => {
      for (let sent = 0; sent < number % 4; sent++)
        await instance.sendEvent({ type: `other-${sent % 2}`, payload: "secret" });
    },
    expected: (number, now) => ({
      reason: "waitingForEvent",
      type: `word-${number}`,
      since: at(now),
      until: at(now + number * MINUTE),
      unreceived: number % 4,
    }),
  },
  {
    title: "a retry",
    how: "retry",
    expected: (number, now) => ({
      reason: "retrying",
      step: { type: "do", name: `work ${number}`, count: 1 },
      attempt: 2,
      of: 4,
      due: at(now + number * MINUTE),
      error: { name: "RangeError", message: `secret ${number}` },
    }),
  },
  {
    title: "a wait for a token",
    how: "token",
    expected: (number, now) => ({ reason: "waitingForToken", since: at(now), until: at(now + number * MINUTE) }),
  },
  {
    title: "a wait for a child",
    how: "child",
    expected: (number, now, id) => ({
      reason: "waitingForChild",
      workflowName: "child",
      id: `${id}-child`,
      since: at(now),
      until: eventually(number) === null ? null : at(now + number * MINUTE),
    }),
  },
  {
    title: "two waits at once",
    how: "both",
    expected: (number, now) => ({ reason: "sleeping", until: at(now + number * MINUTE) }),
    others: 1,
  },
  {
    title: "a pause",
    how: "sleep",
    afterwards: (instance, number) => instance.pause(number % 3 === 0 ? {} : { by: `operator-${number}` }),
    expected: (number) => ({ reason: "paused", pausing: false, by: number % 3 === 0 ? null : `operator-${number}` }),
  },
  {
    title: "a good end",
    how: "complete",
    expected: (_, now) => ({ reason: "finished", status: "complete", at: at(now) }),
  },
  {
    title: "a bad end",
    how: "fail",
    expected: (number, now) => ({
      reason: "finished",
      status: "errored",
      at: at(now),
      error: { name: "RangeError", message: `secret ${number}` },
    }),
  },
  {
    title: "a retry of a rollback",
    how: "undo",
    expected: (number, now) => ({
      reason: "retrying",
      step: { type: "do", name: `work ${number}`, count: 1 },
      attempt: 2,
      of: 4,
      due: at(now + number * MINUTE),
      error: { name: "RangeError", message: `secret ${number}` },
    }),
  },
  {
    title: "a termination",
    how: "event",
    afterwards: (instance) => instance.terminate(),
    expected: (_, now) => ({ reason: "finished", status: "terminated", at: at(now) }),
  },
];

/** A workflow whose instances get stuck in every way. */
export class StuckWorkflows {
  /** The step `work` waits for it. */
  readonly gate: Gate = new Gate();

  readonly child = defineWorkflow({ name: "child" }, async (_event, step) => {
    await step.sleep("rest", "1 year");
  });
  readonly stuck = defineWorkflow({ name: "stuck" }, async (event: WorkflowEvent<Stuck>, step) => {
    await this.#getStuck(event.payload, event.instanceId, step);
  });
  readonly limited = defineWorkflow(
    { name: "limited", concurrency: { limit: 1, key: ({ number }: Stuck) => `tenant-${number}` } },
    async (event: WorkflowEvent<Stuck>, step) => {
      await this.#getStuck(event.payload, event.instanceId, step);
    },
  );
  readonly rated = defineWorkflow(
    { name: "rated", rateLimit: { limit: 1, period: "1 hour", key: ({ number }: Stuck) => `tenant-${number}` } },
    async () => {},
  );

  async #getStuck({ how, number }: Stuck, id: string, step: WorkflowStep): Promise<void> {
    const time = number * MINUTE;
    const fail = () => {
      throw new RangeError(`secret ${number}`);
    };
    const sleep = () => step.sleep(`rest ${number}`, time);
    const event = (timeout: number) => step.waitForEvent("word", { type: `word-${number}`, timeout });
    if (how === "sleep") await sleep();
    if (how === "event") await event(time);
    if (how === "both") await Promise.all([event(time + MINUTE), sleep()]);
    if (how === "retry")
      await step.do(`work ${number}`, { retries: { limit: 3, delay: time, backoff: "constant" } }, fail);
    if (how === "token") await (await step.createToken("payment", { timeout: time })).result();
    if (how === "child") {
      const child = await step.create(this.child, { id: `${id}-child` });
      const timeout = eventually(number);
      await child.result(timeout === null ? {} : { timeout });
    }
    if (how === "undo") {
      const rollbackConfig = { retries: { limit: 3, delay: time, backoff: "constant" } } as const;
      await step.do(`work ${number}`, () => {}, { rollback: fail, rollbackConfig });
      fail();
    }
    if (how === "fail") fail();
    if (how === "work") await step.do("work", () => this.gate.opened);
  }
}

/** The parts of an answer that a state decides, for comparison. */
export function answerOf({ reason, others, sentence }: Explanation, expected: object): object {
  const fields = Object.keys(expected).map((name) => [name, (reason as unknown as Record<string, unknown>)[name]]);
  return { ...Object.fromEntries(fields), others: others.length, tells: sentence.includes("secret") };
}
