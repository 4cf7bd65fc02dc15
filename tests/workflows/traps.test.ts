import { afterEach, describe, expect, test, vi } from "vitest";
import { StoreError } from "../../src/errors.ts";
import { defineWorkflow, type WorkflowStepContext } from "../../src/index.ts";
import { Gate } from "../hooks/support/handlers.ts";
import { ENGINES } from "../support/engines.ts";
import { becomes, comesToRest } from "./support/sample.ts";
import { eventually, useWorkflows, withTime } from "./support/use-workflows.ts";

const HOUR = 3_600_000;

/** Mistakes that engines like this one are known to have made. Those about other parts are tested where these are. */
describe.each(ENGINES)("traps that workflows don't fall into, on $name", (engine) => {
  const subject = useWorkflows(engine);

  afterEach(() => {
    vi.restoreAllMocks();
  });

  async function complete(instance: { status(): Promise<{ status: string }> }): Promise<void> {
    await withTime(subject.clock, async () => expect((await instance.status()).status).toBe("complete"));
  }

  test("two sleeps at once each end at their own time, and the second isn't forgotten after the first", async () => {
    const ended: [string, number][] = [];
    const start = subject.clock.now();
    const workflow = defineWorkflow({ name: "both" }, async (_event, step) => {
      const sleep = async (name: string, hours: number) => {
        await step.sleep(name, hours * HOUR);
        await step.do(`after ${name}`, () => void ended.push([name, subject.clock.now() - start]));
      };
      await Promise.all([sleep("one", 1), sleep("two", 2)]);
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    await becomes(instance, "waiting");
    await comesToRest(process);
    await subject.clock.advanceAndSettle(HOUR);
    await withTime(subject.clock, () => expect(ended.map(([name]) => name)).toEqual(["one"]));
    await comesToRest(process);
    expect(await instance.status()).toMatchObject({ status: "waiting" });
    await subject.clock.advanceAndSettle(HOUR);
    await complete(instance);

    expect(ended.map(([name]) => name)).toEqual(["one", "two"]);
    expect(ended[1]?.[1]).toBeGreaterThanOrEqual(2 * HOUR);
  });

  test("a step that fails before the workflow awaits it, or without an await, doesn't end the process", async () => {
    const fail = () => Promise.reject(new Error("early"));
    const once = { retries: { limit: 0 } };
    const workflow = defineWorkflow({ name: "early" }, async (_event, step) => {
      const early = step.do("early", once, fail);
      void step.do("unheeded", once, fail);
      void step.waitForEvent("unheeded", { type: "none", timeout: "1 minute" });
      void step.sleep("", -1); // refused
      await step.sleep("long", "1 hour");
      return early.catch((error: Error) => `${error.message}, and told late`);
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    await becomes(instance, "waiting");
    await comesToRest(process);
    await subject.clock.advanceAndSettle(HOUR);
    await complete(instance);

    // Vitest fails where a rejection is unhandled: in the first execution, and in the one that goes on.
    expect(await instance.result()).toBe("early, and told late");
  });

  test("a wait goes through try, catch and finally without throwing", async () => {
    const seen: string[] = [];
    const workflow = defineWorkflow({ name: "caught" }, async (_event, step) => {
      try {
        await step.sleep("long", "1 hour");
        seen.push("slept");
      } catch {
        seen.push("caught");
      } finally {
        seen.push("finally");
      }
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    await becomes(instance, "waiting");
    await comesToRest(process);
    expect(seen).toEqual([]);
    await subject.clock.advanceAndSettle(HOUR);
    await complete(instance);

    expect(seen).toEqual(["slept", "finally"]);
  });

  test("a rejection beside it doesn't lose the result of a step that has finished", async () => {
    const gate = new Gate();
    const begun: string[] = [];
    const workflow = defineWorkflow({ name: "sibling" }, async (_event, step) => {
      const good = step.do("good", async () => {
        begun.push("good");
        await gate.opened;
        return "kept";
      });
      const bad = step.do("bad", { retries: { limit: 0 } }, () => Promise.reject(new Error("no")));
      await Promise.all([good, bad]).catch(() => {});
      gate.open();
      await step.sleep("long", "1 hour");
      return good;
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    await becomes(instance, "waiting");
    await comesToRest(process);
    await subject.clock.advanceAndSettle(HOUR);
    await complete(instance);

    await expect(instance.result()).resolves.toBe("kept");
    expect(begun).toEqual(["good"]);
  });

  test("several processes that are woken at once run a step once", async () => {
    const begun: string[] = [];
    const workflow = defineWorkflow({ name: "claimed" }, async (event, step) => {
      await step.do("work", () => void begun.push(event.instanceId));
    });
    const creator = subject.process({ workflow });
    const ids = Array.from({ length: 20 }, (_, index) => `i${index}`);
    const instances = await creator.workflows.workflow.createBatch(ids.map((id) => ({ id })));
    for (let worker = 0; worker < 3; worker++) subject.start({ workflow });
    for (const instance of instances) await complete(instance);

    expect(begun.toSorted()).toEqual(ids.toSorted());
  });

  test("a commit that fails neither runs the step again nor fails the instance", async () => {
    const begun: string[] = [];
    const workflow = defineWorkflow({ name: "flaky" }, async (_event, step) => {
      for (const name of ["a", "b"]) await step.do(name, () => void begun.push(name));
    });
    const process = subject.start({ workflow });
    const away = new StoreError("store.unavailable", "away", { transient: true, cause: new Error("ECONNRESET") });
    vi.spyOn(process.store.instances.statements, "commit").mockRejectedValueOnce(away).mockRejectedValueOnce(away);
    const instance = await process.workflows.workflow.create();
    await complete(instance);

    expect(begun).toEqual(["a", "b"]);
  });

  test("the engine's own work is never given up: an instance whose store fails again and again ends", async () => {
    const begun: string[] = [];
    const workflow = defineWorkflow({ name: "unlucky" }, async (_event, step) => {
      for (const name of ["a", "b"]) await step.do(name, () => void begun.push(name));
    });
    const process = subject.start({ workflow });
    const { statements } = process.store.instances;
    const away = new StoreError("store.unavailable", "away", { transient: true, cause: new Error("ECONNRESET") });
    const failures = { commit: 0, claim: 0, load: 0 };
    for (const name of ["commit", "claim", "load"] as const) {
      const call = statements[name].bind(statements) as (...parameters: unknown[]) => Promise<never>;
      // More often than any number of retries that one would choose.
      vi.spyOn(statements, name).mockImplementation(async (...parameters: unknown[]) => {
        if (failures[name]++ % 40 < 30) throw away;
        return call(...parameters);
      });
    }
    const instance = await process.workflows.workflow.create();
    await complete(instance);

    expect(failures.commit).toBeGreaterThan(30);
    expect(new Set(begun)).toEqual(new Set(["a", "b"]));
    expect(await instance.status()).not.toHaveProperty("error");
  });

  test("a renewal of a former owner changes nothing", async () => {
    const workflow = defineWorkflow({ name: "renewed" }, async (_event, step) => {
      await step.do("work", () => {});
      await step.sleep("long", "1 hour");
    });
    const process = subject.start({ workflow });
    const { statements } = process.store.instances;
    const commit = vi.spyOn(statements, "commit");
    const instance = await process.workflows.workflow.create();
    await becomes(instance, "waiting");
    await comesToRest(process);
    const name = { namespace: subject.namespace, name: "renewed", id: instance.id };
    const [parked] = await statements.find([name]);
    const { ref = "", run = 0 } = parked ?? {};
    const locks = commit.mock.calls.flatMap(([commits]) => commits.map(({ lock }) => lock));
    expect(locks).not.toEqual([]);
    for (const lock of [...locks, "somebody", ""]) {
      expect(await statements.renew([{ ref, run, lock }], 60_000)).toEqual([]);
    }

    expect(await statements.find([name])).toEqual([parked]);
    await instance.terminate();
    const [ended] = await statements.find([name]);
    for (const lock of locks) expect(await statements.renew([{ ref, run, lock }], 60_000)).toEqual([]);
    expect(await statements.find([name])).toEqual([ended]);
  });

  test("an event that comes while the instance is being parked wakes it", async () => {
    const workflow = defineWorkflow({ name: "raced" }, async (_event, step) => {
      return (await step.waitForEvent<string>("word", { type: "word", timeout: "1 day" })).payload;
    });
    const process = subject.process({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    const elsewhere = await subject.process({ workflow }).workflows.workflow.get("one");
    const { statements } = process.store.instances;
    const commit = statements.commit.bind(statements);
    vi.spyOn(statements, "commit").mockImplementationOnce(async (commits, sending) => {
      await elsewhere.sendEvent({ type: "word", payload: "just in time" });
      return commit(commits, sending);
    });
    process.start();
    await complete(instance);

    await expect(instance.result()).resolves.toBe("just in time");
  });

  test("an event from before the deadline counts, however late the instance is loaded", async () => {
    const workflow = defineWorkflow({ name: "deadline" }, async (_event, step) => {
      return (await step.waitForEvent<string>("word", { type: "word", timeout: "1 hour" })).payload;
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create();
    await becomes(instance, "waiting");
    await comesToRest(process);
    await process.stop();
    await subject.clock.advanceAndSettle(HOUR - 1);
    await instance.sendEvent({ type: "word", payload: "in time" });
    await subject.clock.advanceAndSettle(HOUR);
    process.start();

    await complete(instance);
    await expect(instance.result()).resolves.toBe("in time");
  });

  test("creating an instance runs nothing in the caller's way, and waits for nothing", async () => {
    const gate = new Gate();
    const workflow = defineWorkflow({ name: "slow" }, async (_event, step) => step.do("work", () => gate.opened));
    const instance = await subject.start({ workflow }).workflows.workflow.create();

    await becomes(instance, "running");
    gate.open();
    await instance.result();
  });

  test("steps that run at the same time each have a context of their own", async () => {
    const contexts: WorkflowStepContext[] = [];
    const gate = new Gate();
    const workflow = defineWorkflow({ name: "contexts" }, async (_event, step) => {
      const work = (name: string) =>
        step.do(name, async (ctx) => {
          contexts.push(ctx);
          await gate.opened;
          return ctx.step.name;
        });
      return Promise.all([work("a"), work("b"), work("a")]);
    });
    const instance = await subject.start({ workflow }).workflows.workflow.create();
    await eventually(() => expect(contexts).toHaveLength(3));
    gate.open();

    await expect(instance.result()).resolves.toEqual(["a", "b", "a"]);
    expect(contexts.map(({ step: { name, count } }) => `${name}#${count}`)).toEqual(["a#1", "b#1", "a#2"]);
    expect(new Set(contexts.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3);
  });
});
