import { afterEach, describe, expect, test, vi } from "vitest";
import { defineWorkflow, type WorkflowStep } from "../../src/index.ts";
import type { InstanceStatements } from "../../src/store/instances/instance-statements.ts";
import { ENGINES } from "../support/engines.ts";
import { untilStatus, useWorkflows, type WorkflowProcess } from "./support/use-workflows.ts";

const LATE_MS = 1500;

describe.each(ENGINES)("waits after late answers on $name", (engine) => {
  const subject = useWorkflows(engine);

  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** The database does what it is asked at once, but its first answer takes a while. */
  function answerLate({ store, clock }: WorkflowProcess<never>, name: "claim" | "insert" | "commit"): void {
    const { statements } = store.instances;
    const original = statements[name].bind(statements) as (...parameters: unknown[]) => Promise<unknown[]>;
    let first = true;
    const late = async (...parameters: unknown[]) => {
      const answer = await original(...parameters);
      const isLate = first && answer.length > 0;
      if (isLate) first = false;
      if (isLate) await new Promise<void>((resolve) => clock.setTimer(resolve, LATE_MS));
      return answer;
    };
    vi.spyOn(statements as Pick<InstanceStatements, "claim">, name as "claim").mockImplementation(late as never);
  }

  const waits: readonly {
    readonly title: string;
    readonly wait: (step: WorkflowStep, ms: number) => Promise<unknown>;
  }[] = [
    { title: "a sleep", wait: (step, ms) => step.sleep("wait", ms) },
    {
      title: "a wait for an event",
      wait: (step, ms) => step.waitForEvent("wait", { type: "word", timeout: ms }).catch(() => {}),
    },
  ];
  const answers = ["claim", "insert", "commit"] as const;
  const cases = waits.flatMap((wait) =>
    answers.flatMap((answer) => [6000, 3000].map((duration) => ({ ...wait, answer, duration }))),
  );

  test.each(cases)(
    "$title of $duration ms isn't shorter because the answer to a $answer was late",
    async ({ wait, answer, duration }) => {
      let calledAt = 0;
      let endedAt = 0;
      const workflow = defineWorkflow({ name: "sleeper" }, async (_event, step) => {
        if (answer === "commit") await step.do("first", () => {});
        calledAt ||= subject.clock.now();
        await wait(step, duration);
        endedAt ||= subject.clock.now();
      });
      const process = subject.process({ workflow });
      answerLate(process as never, answer);
      if (answer === "insert") process.start();
      const creating = process.workflows.workflow.create();
      if (answer === "insert") await subject.clock.advanceAndSettle(LATE_MS);
      const instance = await creating;
      process.start();
      await untilStatus(subject.clock, instance, "complete");
      expect(endedAt - calledAt).toBeGreaterThanOrEqual(duration);
    },
  );

  test.each([6000, 3000])(
    "a retry isn't tried before its delay of %i ms is over, though the answer to a claim was late",
    async (delay) => {
      const triedAt: number[] = [];
      const workflow = defineWorkflow({ name: "trier" }, async (_event, step) => {
        await step.do("try", { retries: { limit: 1, delay, backoff: "constant" } }, () => {
          triedAt.push(subject.clock.now());
          if (triedAt.length === 1) throw new Error("not yet");
        });
      });
      const process = subject.process({ workflow });
      answerLate(process as never, "claim");
      const instance = await process.workflows.workflow.create();
      process.start();
      await untilStatus(subject.clock, instance, "complete");
      const [first = 0, second = 0] = triedAt;
      expect(second - first).toBeGreaterThanOrEqual(delay);
    },
  );
});
