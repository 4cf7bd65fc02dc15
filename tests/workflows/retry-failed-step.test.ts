import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { afterLong, replaceProcess, untilFarOff } from "./support/lose-process.ts";
import { retryRepaired } from "./support/retry-repaired.ts";
import { untilStatus, useWorkflows } from "./support/use-workflows.ts";

const once = { retries: { limit: 0 } } as const;

describe.each(ENGINES)("retrying the failed step on $name", (engine) => {
  const subject = useWorkflows(engine);

  /** Banks that say no in the same words, until they are told not to. */
  function banks() {
    const charged: string[] = [];
    const broken = new Set(["first bank", "second bank"]);
    const charge = (bank: string) => () => {
      charged.push(bank);
      if (broken.has(bank)) throw new Error("declined");
      return bank;
    };
    return { charged, broken, charge };
  }

  test("a step whose error was caught stays failed, though the step that ended the run failed with the same words", async () => {
    const { charged, broken, charge } = banks();
    const workflow = defineWorkflow({ name: "workflow" }, async (_event, step) => {
      const first = await step.do("first", once, charge("first bank")).catch(() => "none");
      return [first, await step.do("second", once, charge("second bank"))];
    });
    const instance = await retryRepaired(subject, workflow, broken);
    expect(charged).toEqual(["first bank", "second bank", "second bank"]);
    expect((await instance.status()).output).toEqual(["none", "second bank"]);
  });

  test("the failure is known where the run ended in another process than the step, much later", async () => {
    const { charged, broken, charge } = banks();
    const workflow = defineWorkflow({ name: "workflow" }, async (_event, step) => {
      const outcomes = await Promise.allSettled([
        step.do("first", once, charge("first bank")),
        step.do("second", once, charge("second bank")),
      ]);
      await step.sleep("a night", "8 hours");
      const [, second] = outcomes;
      if (second?.status === "rejected") throw new Error("not paid", { cause: second.reason });
      return "paid";
    });
    const first = subject.start({ workflow });
    const instance = await first.workflows.workflow.create();
    await untilFarOff(subject, instance);
    const { workflows } = await replaceProcess(subject, first, { workflow });
    const again = await workflows.workflow.get(instance.id);
    await afterLong(subject, again, "errored");
    broken.clear();
    await again.retryFailedStep();
    await afterLong(subject, again, "complete");
    expect(charged).toEqual(["first bank", "second bank", "second bank"]);
  });

  test("a step that the function threw an error of its own about is retried, with all that failed beside it", async () => {
    const { charged, broken, charge } = banks();
    const workflow = defineWorkflow({ name: "workflow" }, async (_event, step) => {
      const outcomes = await Promise.allSettled([
        step.do("first", once, charge("first bank")),
        step.do("second", once, charge("second bank")),
      ]);
      if (outcomes.some(({ status }) => status === "rejected")) throw "some banks said no";
      return "paid";
    });
    const { workflows } = subject.start({ workflow });
    const instance = await workflows.workflow.create();
    await untilStatus(subject.clock, instance, "errored");
    expect((await instance.status()).error?.message).toBe("some banks said no");
    broken.clear();
    await instance.retryFailedStep();
    await untilStatus(subject.clock, instance, "complete");
    expect(charged).toEqual(["first bank", "second bank", "first bank", "second bank"]);
  });

  test("a failure is found in whatever property an error has it, though the function went on", async () => {
    const { charged, broken, charge } = banks();
    class PaymentError extends Error {
      readonly details: object;
      constructor(inner: unknown) {
        super("not paid");
        this.details = { tries: [{ inner }] };
      }
    }
    const workflow = defineWorkflow({ name: "workflow" }, async (_event, step) => {
      await step.do("first", once, charge("first bank")).catch(() => {});
      try {
        return await step.do("second", once, charge("second bank"));
      } catch (error) {
        await step.do("tell", () => {});
        throw new PaymentError(error);
      }
    });
    await retryRepaired(subject, workflow, broken);
    expect(charged).toEqual(["first bank", "second bank", "second bank"]);
  });

  test("a retry is refused where the function went on after the failure and then threw an error of its own", async () => {
    const { charged, charge } = banks();
    const workflow = defineWorkflow({ name: "workflow" }, async (_event, step) => {
      await step.do("first", once, charge("first bank")).catch(() => step.do("other", charge("another bank")));
      throw new Error("the parcel is lost");
    });
    const { workflows } = subject.start({ workflow });
    const instance = await workflows.workflow.create();
    await untilStatus(subject.clock, instance, "errored");
    await expect(instance.retryFailedStep()).rejects.toMatchObject({ code: "instance.no_failed_step" });
    expect(await instance.status()).toMatchObject({ run: 1, status: "errored" });
    expect(charged).toEqual(["first bank", "another bank"]);
  });

  test("a refused call after a caught failure isn't mistaken for that failure", async () => {
    const { charge } = banks();
    const workflow = defineWorkflow({ name: "workflow" }, async (_event, step) => {
      await step.do("first", once, charge("first bank")).catch(() => {});
      await step.sleep("forever", "a long time" as never);
    });
    const { workflows } = subject.start({ workflow });
    const instance = await workflows.workflow.create();
    await untilStatus(subject.clock, instance, "errored");
    await expect(instance.retryFailedStep()).rejects.toMatchObject({ code: "instance.no_failed_step" });
  });

  test("inside the failed step, too, a step whose error was caught stays failed", async () => {
    const { charged, broken, charge } = banks();
    const workflow = defineWorkflow({ name: "workflow" }, async (_event, step) => {
      const paid = step.do("pay", { retries: { limit: 1, delay: 10 } }, async () => {
        const first = await step.do("first", once, charge("first bank")).catch(() => "none");
        return [first, await step.do("second", once, charge("second bank"))];
      });
      const failure = await paid.then(
        () => null,
        (error: Error) => error,
      );
      await step.sleep("a night", "8 hours");
      if (failure !== null) throw failure;
      return paid;
    });
    const { workflows } = subject.start({ workflow });
    const instance = await workflows.workflow.create();
    await afterLong(subject, instance, "errored");
    broken.clear();
    await instance.retryFailedStep();
    await afterLong(subject, instance, "complete");
    expect(charged).toEqual(["first bank", "second bank", "second bank"]);
    expect((await instance.status()).output).toEqual(["none", "second bank"]);
  });

  test("events that no kept step has received stay for the waits of the new run, in their order", async () => {
    const { broken, charge } = banks();
    const workflow = defineWorkflow({ name: "workflow" }, async (_event, step) => {
      const words: string[] = [];
      const listen = async (name: string) => {
        words.push((await step.waitForEvent<string>(name, { type: "word" })).payload);
      };
      await listen("one");
      await step.do("pay", once, charge("first bank"));
      await listen("two");
      await listen("three");
      return words;
    });
    const runner = subject.process({ workflow });
    const instance = await runner.workflows.workflow.create();
    for (const payload of ["a", "b", "c"]) await instance.sendEvent({ type: "word", payload, id: payload });
    runner.start();
    await untilStatus(subject.clock, instance, "errored");
    broken.clear();
    await instance.retryFailedStep();
    await instance.sendEvent({ type: "word", payload: "sent again", id: "b" });
    await untilStatus(subject.clock, instance, "complete");
    expect((await instance.status()).output).toEqual(["a", "b", "c"]);
  });
});
