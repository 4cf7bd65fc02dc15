import { describe, expect, test } from "vitest";
import { defineWorkflow, NonRetryableError, type WorkflowStep } from "../../src/index.ts";
import { forever } from "../hooks/support/handlers.ts";
import { ENGINES } from "../support/engines.ts";
import { outliveLeases } from "./support/lose-process.ts";
import { eventually, untilStatus, useWorkflows } from "./support/use-workflows.ts";

describe.each(ENGINES)("an error of an inner step on $name", (engine) => {
  const subject = useWorkflows(engine);

  /** Runs a step whose function is `outer`; gives how often that was called, and how the instance ended. */
  async function run(outer: (step: WorkflowStep) => Promise<unknown>) {
    let attempts = 0;
    const workflow = defineWorkflow({ name: "nested" }, async (_event, step) =>
      step.do("outer", { retries: { limit: 2, delay: 10 } }, () => {
        attempts++;
        return outer(step);
      }),
    );
    const instance = await subject.start({ workflow }).workflows.workflow.create({ id: "one" });
    await eventually(async () => {
      await subject.clock.advanceAndSettle(100);
      expect((await instance.status()).status).toMatch(/complete|errored/);
    });
    return { attempts, state: await instance.status() };
  }

  test.each([undefined, "CardDeclined"])(
    "fails the outer step without another attempt if it is a NonRetryableError, also one named %s",
    async (name) => {
      const { attempts, state } = await run((step) =>
        step.do("inner", () => {
          throw new NonRetryableError("declined", name);
        }),
      );

      expect(attempts).toBe(1);
      expect(state).toMatchObject({
        status: "errored",
        error: { name: name ?? "NonRetryableError", message: "declined" },
      });
    },
  );

  test("fails all outer steps of a NonRetryableError that comes from the innermost one", async () => {
    let middle = 0;
    const { attempts } = await run((step) =>
      step.do("middle", () => {
        middle++;
        return step.do("inner", { retries: { limit: 0 } }, () => {
          throw new NonRetryableError("declined", "CardDeclined");
        });
      }),
    );

    expect([attempts, middle]).toEqual([1, 1]);
  });

  test("leaves the outer step alone if its function catches it", async () => {
    const { attempts, state } = await run(async (step) => {
      const declined = () => {
        throw new NonRetryableError("declined", "CardDeclined");
      };
      return step.do("inner", declined).catch(({ name }: Error) => `caught ${name}`);
    });

    expect(attempts).toBe(1);
    expect(state).toMatchObject({ status: "complete", output: "caught CardDeclined" });
  });

  test("lets the outer step be retried if it is an ordinary error, without running the inner step again", async () => {
    let inner = 0;
    const { attempts, state } = await run((step) =>
      step.do("inner", { retries: { limit: 1, delay: 10 } }, () => {
        inner++;
        throw new Error("busy");
      }),
    );

    expect([attempts, inner]).toEqual([3, 2]);
    expect(state).toMatchObject({ status: "errored", error: { name: "Error", message: "busy" } });
  });

  test("is still a NonRetryableError when another process gets it from the journal", async () => {
    let attempts = 0;
    let inner = 0;
    const workflow = defineWorkflow({ name: "taken-over" }, async (_event, step) =>
      step.do("outer", async () => {
        attempts++;
        const declined = step.do("inner", () => {
          inner++;
          throw new NonRetryableError("declined", "CardDeclined");
        });
        if (attempts === 1) await declined.catch(() => forever());
        await declined;
      }),
    );
    const lost = subject.start({ workflow }, { clock: subject.anotherClock() });
    const created = await lost.workflows.workflow.create({ id: "one" });
    await eventually(async () => expect((await created.history()).entries).toHaveLength(1));
    outliveLeases(subject);
    const instance = await subject.start({ workflow }).workflows.workflow.get("one");
    await untilStatus(subject.clock, instance, "errored");

    expect([attempts, inner]).toEqual([2, 1]);
    expect((await instance.status()).error).toMatchObject({ name: "CardDeclined", message: "declined" });
  });
});
