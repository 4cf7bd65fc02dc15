import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowEvent, type WorkflowStep } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { becomes, comesToRest } from "./support/sample.ts";
import { eventually, useWorkflows, type WorkflowProcess } from "./support/use-workflows.ts";

const BOUND = { onParentEnd: "terminate" } as const;

describe.each(ENGINES)("children of a parent that ends, on $name", (engine) => {
  const subject = useWorkflows(engine);
  const child = defineWorkflow({ name: "child" }, async (_event, step) => {
    await step.waitForEvent("the end", { type: "end", timeout: "1 year" });
  });

  type Code = (step: WorkflowStep) => Promise<unknown>;

  function parentOf(code: Code, options: { timeout?: string } = {}) {
    return defineWorkflow({ name: "parent", ...(options as { timeout?: "1 hour" }) }, async (_event, step) => {
      await step.create(child, { id: "bound", ...BOUND });
      await step.create(child, { id: "left" });
      return await code(step);
    });
  }

  const waits: Code = (step) => step.waitForEvent("go on", { type: "go-on", timeout: "1 year" });

  type AnyProcess = { readonly store: WorkflowProcess<never>["store"] };

  async function status({ store }: AnyProcess, id: string, name = "child"): Promise<string | undefined> {
    const [record] = await store.instances.statements.find([{ namespace: subject.namespace, name, id }]);
    return record?.status;
  }

  async function ends(process: AnyProcess, id: string): Promise<void> {
    await eventually(async () => {
      await subject.clock.advanceAndSettle(10);
      expect(await status(process, id)).toBe("terminated");
    });
  }

  test.each<[string, Code, string]>([
    ["completes", async (step) => step.do("last", () => "done"), "complete"],
    [
      "fails",
      async (step) => {
        await step.do("last", () => "done");
        throw new Error("broken");
      },
      "errored",
    ],
  ])("are terminated when it %s, if they are bound to it, and left otherwise", async (_, code, ended) => {
    const process = subject.start({ parent: parentOf(code), child });
    const parent = await process.workflows.parent.create({ id: "one" });
    await becomes(parent, ended);
    await ends(process, "bound");

    expect(await status(process, "left")).toBe("waiting");
    expect((await (await process.workflows.child.get("bound")).status()).labels).toEqual({});
  });

  test.each(["terminate", "terminate with rollback", "delete"])("are ended by its %s", async (operation) => {
    const process = subject.start({ parent: parentOf(waits), child });
    const parent = await process.workflows.parent.create({ id: "one" });
    await becomes(parent, "waiting");
    if (operation === "delete") await parent.delete();
    else await parent.terminate({ rollback: operation !== "terminate" });
    await ends(process, "bound");

    expect(await status(process, "left")).toBe("waiting");
  });

  test("are ended when its time is over", async () => {
    const process = subject.start({ parent: parentOf(waits, { timeout: "1 hour" }), child });
    await becomes(await process.workflows.parent.create({ id: "one" }), "waiting");
    await subject.clock.advanceAndSettle(3_600_000);
    await ends(process, "bound");

    expect(await status(process, "left")).toBe("waiting");
  });

  test("are ended after its rollback, and rolled back themselves", async () => {
    const notes: string[] = [];
    const undone = defineWorkflow({ name: "child" }, async (_event, step) => {
      await step.do("book", () => "booked", { rollback: async () => void notes.push("child") });
      await step.sleep("long", "1 year");
    });
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
      const bound = await step.create(undone, { id: "bound", ...BOUND });
      await step.do("pay", () => "paid", { rollback: async () => void notes.push("parent") });
      await step.waitForEvent("go on", { type: "go-on" });
      throw new Error(`broken ${bound.id}`);
    });
    const process = subject.start({ parent, child: undone });
    const one = await process.workflows.parent.create({ id: "one" });
    await becomes(one, "waiting");
    await becomes(await process.workflows.child.get("bound"), "waiting");
    await one.sendEvent({ type: "go-on" });
    await ends(process, "bound");

    expect(notes).toEqual(["parent", "child"]);
    expect(await (await process.workflows.child.get("bound")).status()).toMatchObject({
      rollback: { outcome: "complete" },
    });
  });

  test("are ended down to the last grandchild, in whatever state they are", async () => {
    const middle = defineWorkflow({ name: "middle" }, async (event: WorkflowEvent<{ id: string }>, step) => {
      await step.create(child, { id: event.payload.id, ...BOUND });
      await step.sleep("long", "1 year");
    });
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
      await step.create(middle, { id: "middle", params: { id: "grandchild" }, ...BOUND });
      await step.create(child, { id: "paused", ...BOUND });
      await waits(step);
    });
    const process = subject.start({ parent, middle, child });
    const one = await process.workflows.parent.create({ id: "one" });
    await becomes(one, "waiting");
    await eventually(async () => expect(await status(process, "grandchild")).toBe("waiting"));
    await (await process.workflows.child.get("paused")).pause();
    await one.sendEvent({ type: "go-on" });
    await ends(process, "paused");
    await ends(process, "grandchild");

    expect(await status(process, "middle", "middle")).toBe("terminated");
  });

  test("are ended once each, however many they are", async () => {
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
      const ids = Array.from({ length: 250 }, (_, index) => `child-${index}`);
      await Promise.all(ids.map((id) => step.create(child, { id, ...BOUND })));
      await waits(step);
    });
    const process = subject.start({ parent, child }, { concurrency: 20 });
    const one = await process.workflows.parent.create({ id: "one" });
    await becomes(one, "waiting");
    await one.terminate();

    await eventually(async () => {
      await subject.clock.advanceAndSettle(10);
      expect((await process.workflows.child.counts()).terminated).toBe(250);
    });
  });

  test("continue if it is restarted, and are ended when the new run ends", async () => {
    const process = subject.start({ parent: parentOf(waits), child });
    const parent = await process.workflows.parent.create({ id: "one" });
    await becomes(parent, "waiting");
    await parent.restart({ from: { name: "go on", type: "waitForEvent" } });
    await becomes(parent, "waiting");
    expect(await status(process, "bound")).toBe("waiting");
    await parent.sendEvent({ type: "go-on" });
    await ends(process, "bound");
  });

  test("are ended by another process, if theirs is lost with the parent's end", async () => {
    const parent = parentOf(waits);
    const lost = subject.start({ parent, child }, { clock: subject.anotherClock() });
    const one = await lost.workflows.parent.create({ id: "one" });
    await becomes(one, "waiting");
    await lost.stop();
    await one.terminate(); // no worker runs
    const next = subject.start({ parent, child });
    await ends(next, "bound");
  });

  test("that were created with their parent's end in between are ended all the same", async () => {
    const process = subject.start({ parent: parentOf(waits), child });
    const { statements } = process.store.instances;
    const insert = statements.insert.bind(statements);
    statements.insert = async (instances) => {
      const bound = instances.some(({ id }) => id === "bound");
      if (bound) await (await process.workflows.parent.get("one")).terminate();
      return insert(instances);
    };
    await process.workflows.parent.create({ id: "one" });
    await ends(process, "bound");
  });

  test("are never instances of another creator, even if the parent asks for their ids", async () => {
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
      const options = { id: "foreign", onConflict: "return", ...BOUND } as const;
      return await step.create(child, options).catch((error) => error.code);
    });
    const process = subject.start({ parent, child });
    await process.workflows.child.create({ id: "foreign" });
    const { instances } = process.store;
    const { awaitEnd } = instances;
    instances.awaitEnd = async (request) => {
      await (await process.workflows.parent.get("one")).terminate();
      return awaitEnd.call(instances, request);
    };
    const one = await process.workflows.parent.create({ id: "one" });

    await expect(one.result()).resolves.toBe("instance.already_exists");
    await comesToRest(process);
    expect(await status(process, "foreign")).toBe("waiting");
  });

  test("that an earlier run of their parent created end with the next", async () => {
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
      await step.create(child, { id: "bound", onConflict: "return", ...BOUND });
      await waits(step);
    });
    const process = subject.start({ parent, child });
    const one = await process.workflows.parent.create({ id: "one" });
    await becomes(one, "waiting");
    await one.restart();
    await becomes(one, "waiting");
    await one.sendEvent({ type: "go-on" });
    await ends(process, "bound");
  });

  test("have one of two policies, and nothing else", async () => {
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
      return await step.create(child, { onParentEnd: "kill" as "leave" }).catch((error) => error.code);
    });
    const process = subject.start({ parent, child });
    const one = await process.workflows.parent.create();

    expect(await one.result()).toBe("create.invalid");
    await expect(process.workflows.child.create({ onParentEnd: "terminate" } as object)).rejects.toMatchObject({
      code: "create.invalid",
    });
  });
});
