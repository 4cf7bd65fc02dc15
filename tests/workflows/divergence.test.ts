import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowInstance, type WorkflowStep } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { afterLong, replaceProcess, untilFarOff } from "./support/lose-process.ts";
import { eventually, useWorkflows } from "./support/use-workflows.ts";

type Code = (step: WorkflowStep) => Promise<unknown>;

const MINUTE = 60_000;

describe.each(ENGINES)("code that diverges from a history on $name", (engine) => {
  const subject = useWorkflows(engine);
  const ran: string[] = [];

  function program(code: Code, onDivergence: "warn" | "stop" = "stop") {
    return { order: defineWorkflow({ name: "order", onDivergence }, async (_event, step) => code(step)) };
  }

  const effect = (step: WorkflowStep, name: string) => step.do(name, async () => void ran.push(name));

  const charging: Code = async (step) => {
    await effect(step, "charge");
    await step.sleep("rest", "1 hour");
    await effect(step, "ship");
    return "shipped";
  };
  const renamed: Code = async (step) => {
    await effect(step, "bill");
    await step.sleep("rest", "1 hour");
    return "shipped";
  };

  /** An instance runs the old code until it sleeps; then a process with other code has it. */
  async function change(before: Code, after: Code, onDivergence?: "warn" | "stop") {
    ran.length = 0;
    const old = program(before, onDivergence);
    const first = subject.start(old);
    const created = await first.workflows.order.create({ id: "one" });
    await untilFarOff(subject, created);
    const second = await replaceProcess(subject, first, program(after, onDivergence));
    const instance = await second.workflows.order.get("one");
    const warnings = () => second.logs.lines.flatMap(({ details = {} }) => ("expected" in details ? [details] : []));
    return { old, second, instance, warnings };
  }

  function untilHeld(instance: Pick<WorkflowInstance, "id" | "workflowName" | "status">): Promise<void> {
    const status = async () => ({ status: "diverged" in (await instance.status()) ? "diverged" : "not yet" });
    return afterLong(subject, { id: instance.id, workflowName: instance.workflowName, status } as never, "diverged");
  }

  test("is reported before a renamed step runs, not when the instance ends", async () => {
    const { warnings } = await change(
      charging,
      async (step) => {
        await step.do("bill", async () => void ran.push(`bill after ${warnings().length} warning`));
        await step.sleep("rest", "1 hour");
      },
      "warn",
    );
    subject.clock.advance(60 * MINUTE);
    await eventually(() => expect(ran).toEqual(["charge", "bill after 1 warning"]));
    expect(warnings()).toEqual([{ workflow: "order", instance: "one", expected: "do:charge", called: "do:bill" }]);
  });

  test("holds the instance, so that a renamed step doesn't charge again", async () => {
    const { instance, warnings, second } = await change(charging, renamed);
    await untilHeld(instance);

    expect(ran).toEqual(["charge"]);
    expect(warnings()[0]).toMatchObject({ expected: "do:charge", called: "do:bill" });
    expect(await instance.status()).toMatchObject({
      status: "waiting",
      diverged: {
        code: "workflow.diverged",
        message: expect.stringContaining("calls do:bill where the history of the instance has do:charge"),
      },
    });
    expect(await second.workflows.order.counts()).toMatchObject({ diverged: 1, waiting: 0 });
    expect((await second.workflows.order.list({ status: "diverged" })).instances).toMatchObject([{ id: "one" }]);
    expect((await instance.history()).entries).toMatchObject([{ name: "charge" }, { name: "rest" }]);
  });

  test("holds the instance of code that would catch any error and continue", async () => {
    const { instance } = await change(charging, async (step) => {
      try {
        return await effect(step, "bill");
      } catch {
        return "caught";
      } finally {
        await effect(step, "clean up").catch(() => {});
      }
    });
    await untilHeld(instance);
    expect(ran).toEqual(["charge"]);
    expect(await instance.status()).toMatchObject({ status: "waiting", diverged: { code: "workflow.diverged" } });
  });

  test("is held until a process has matching code, and nothing was counted meanwhile", async () => {
    const { instance, second, old } = await change(charging, renamed);
    await untilHeld(instance);
    for (let tries = 0; tries < 10; tries++) await subject.clock.advanceAndSettle(MINUTE);
    const third = await replaceProcess(subject, second, old);
    const again = await third.workflows.order.get("one");
    await afterLong(subject, again, "complete");
    expect(ran).toEqual(["charge", "ship"]);
    expect(await again.status()).not.toHaveProperty("diverged");
  });

  test("is tried at once when a process with matching code starts", async () => {
    const { instance, second, old } = await change(charging, renamed);
    await untilHeld(instance);
    await second.stop();
    const third = subject.start(old); // no time passes from here on
    const again = await third.workflows.order.get("one");
    await eventually(async () => expect(await again.status()).not.toHaveProperty("diverged"));
    await afterLong(subject, again, "complete");
    expect(ran).toEqual(["charge", "ship"]);
  });

  test("is tried at once when an operator resumes it", async () => {
    const { instance, warnings } = await change(charging, renamed);
    await untilHeld(instance);
    const { length } = warnings();
    await instance.resume();
    await eventually(() => expect(warnings()).toHaveLength(length + 1));
    await eventually(async () => expect(await instance.status()).toHaveProperty("diverged"));
    expect(ran).toEqual(["charge"]);
  });

  test("can be paused, resumed and terminated while it is held", async () => {
    const { instance } = await change(charging, renamed);
    await untilHeld(instance);
    await instance.pause();
    expect(await instance.status()).toMatchObject({ status: "paused" });
    await instance.resume();
    await untilHeld(instance);
    await instance.terminate();
    expect(await instance.status()).toMatchObject({ status: "terminated" });
  });

  test("restarts on the new code when an operator says so", async () => {
    const { instance } = await change(charging, renamed);
    await untilHeld(instance);
    await instance.restart();
    await afterLong(subject, instance, "complete");
    expect(ran).toEqual(["charge", "bill"]);
  });

  test("is noticed when a step was removed, as soon as a new one is called", async () => {
    const { instance, warnings } = await change(charging, async (step) => {
      await step.sleep("rest", "1 hour");
      await effect(step, "ship");
    });
    await untilHeld(instance);
    expect(ran).toEqual(["charge"]);
    expect(warnings()[0]).toMatchObject({ expected: "do:charge", called: "do:ship" });
  });

  /** A step that calls another inside, and is tried again after an hour. */
  const nesting =
    (inner: string): Code =>
    (step) =>
      step.do("outer", { retries: { limit: 3, delay: "1 hour" } }, async () => {
        await effect(step, inner);
        if (ran.length === 1) throw new Error("not yet");
        return "done";
      });

  test("is noticed when a step inside another was renamed, which doesn't charge again", async () => {
    const { instance, warnings } = await change(nesting("charge"), nesting("bill"));
    await untilHeld(instance);
    expect(ran).toEqual(["charge"]);
    expect(warnings()[0]).toMatchObject({ expected: "do:charge", called: "do:bill" });
  });

  test("is reported when a step inside another was renamed, before that runs", async () => {
    const { instance, warnings } = await change(nesting("charge"), nesting("bill"), "warn");
    await afterLong(subject, instance, "complete");
    expect(ran).toEqual(["charge", "bill"]);
    expect(warnings()).toMatchObject([{ expected: "do:charge", called: "do:bill" }]);
  });

  test.each<[string, Code]>([
    ["returns", async () => "early"],
    [
      "throws",
      async () => {
        throw new Error("early");
      },
    ],
  ])("holds the instance of code that %s without the steps of the history", async (_, code) => {
    const { instance, warnings, second, old } = await change(charging, code);
    await untilHeld(instance);
    expect(warnings()[0]).toMatchObject({ expected: "do:charge", called: "nothing more" });
    expect((await instance.history()).entries).toMatchObject([{ name: "charge" }, { name: "rest" }]);
    const third = await replaceProcess(subject, second, old);
    await afterLong(subject, await third.workflows.order.get("one"), "complete");
    expect(ran).toEqual(["charge", "ship"]);
  });

  test("isn't seen where branches of a step's body call theirs in another order than before", async () => {
    const branches =
      (...names: string[]): Code =>
      (step) =>
        step.do("outer", { retries: { limit: 3, delay: "1 hour" } }, async () => {
          await Promise.all(names.map((name) => effect(step, name)));
          if (ran.length === 2) throw new Error("not yet");
          return "done";
        });
    const { instance, warnings } = await change(branches("a", "b"), branches("new", "b", "a"));
    await afterLong(subject, instance, "complete");
    expect(ran).toEqual(["a", "b", "new"]);
    expect(warnings()).toEqual([]);
  });

  const matching: readonly [string, Code, Code][] = [
    ["the same code", charging, charging],
    [
      "a renamed step with an alias",
      charging,
      async (step) => {
        await step.do("bill", { aliases: ["charge"] }, async () => void ran.push("bill"));
        await step.sleep("rest", "1 hour");
        await effect(step, "ship");
      },
    ],
    [
      "steps after the stored ones",
      charging,
      async (step) => {
        await effect(step, "charge");
        await step.sleep("rest", "1 hour");
        await effect(step, "thank");
        await effect(step, "ship");
      },
    ],
  ];

  test.each(matching)("isn't seen in %s", async (_what, before, after) => {
    const { instance, warnings } = await change(before, after);
    await afterLong(subject, instance, "complete");
    expect(ran.filter((name) => name === "charge" || name === "bill")).toEqual(["charge"]);
    expect(warnings()).toEqual([]);
  });

  test("isn't seen where a restart left out a wait that the code had begun between kept steps", async () => {
    let fails = true;
    const racing: Code = async (step) => {
      await Promise.race([effect(step, "fast"), step.sleep("patience", "1 hour")]);
      await effect(step, "prize");
      await step.do("last", { retries: { limit: 0, delay: 0 } }, async () => {
        if (fails) throw new Error("not yet");
      });
      return "done";
    };
    ran.length = 0;
    const { workflows } = subject.start(program(racing));
    const instance = await workflows.order.create({ id: "one" });
    await expect(instance.result()).rejects.toThrow("not yet");
    fails = false;
    await instance.retryFailedStep();
    await expect(instance.result()).resolves.toBe("done");
    await instance.restart({ from: { name: "last" } });
    await expect(instance.result()).resolves.toBe("done");
    expect(ran).toEqual(["fast", "prize"]);
  });

  test("isn't seen where parallel steps were lost before they ended", async () => {
    const parallel: Code = async (step) => {
      const lost = step.do("lost", { timeout: "2 hours" }, () =>
        ran.includes("again") ? "late" : new Promise<string>(() => {}),
      );
      const branch = async () => {
        await Promise.resolve();
        await effect(step, "quick");
        await effect(step, "next");
      };
      await branch();
      return Promise.race([lost, step.sleep("rest", "1 hour")]);
    };
    ran.length = 0;
    const first = subject.start(program(parallel));
    await first.workflows.order.create({ id: "one" });
    await eventually(() => expect(ran).toEqual(["quick", "next"]));
    ran.push("again");
    const second = await replaceProcess(subject, first, program(parallel));
    const instance = await second.workflows.order.get("one");
    await afterLong(subject, instance, "complete");
    expect(await instance.result()).toBe("late");
    expect(ran).toEqual(["quick", "next", "again"]);
  });

  test.each([["ignore"], [true], [null]])("refuses %j as onDivergence", (onDivergence) => {
    const options = { name: "order", onDivergence } as never;
    expect(() => defineWorkflow(options, async () => {})).toThrow(/onDivergence must be "warn" or "stop"/);
  });
});
