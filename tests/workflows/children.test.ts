import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowEvent } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { outliveLeases } from "./support/lose-process.ts";
import { eventually, untilStatus, useWorkflows, withTime } from "./support/use-workflows.ts";

describe.each(ENGINES)("children on $name", (engine) => {
  const subject = useWorkflows(engine);

  const child = defineWorkflow({ name: "child" }, async (event: WorkflowEvent<string>, step) =>
    step.do("work", () => `did ${event.payload}`),
  );

  test("are created by a step, by its binding, and in batches, each with an id of its own", async () => {
    const parent = defineWorkflow({ name: "parent" }, async (_event, step, { workflows }) => {
      const byStep = await step.create(child, { params: "a" });
      const again = await step.create("child", { params: "b" });
      const byBinding = await workflows["child"]?.create({ params: "c" });
      const batch = await workflows["child"]?.createBatch([{ params: "d" }, { params: "e" }]);
      return [byStep, again, byBinding, ...(batch ?? [])].map((created) => created?.id as string);
    });
    const process = subject.start({ parent, child });
    const instance = await process.workflows.parent.create();
    const ids = await instance.result();

    expect(new Set(ids).size).toBe(5);
    const results = await Promise.all(ids.map(async (id) => (await process.workflows.child.get(id)).result()));
    expect(results).toEqual(["did a", "did b", "did c", "did d", "did e"]);
  });

  test("show their parents in status and lists, and parents show their children in the history", async () => {
    const parent = defineWorkflow({ name: "parent" }, async (_event, step, { workflows }) => {
      await step.create(child, { params: "a", id: "a" });
      await workflows["child"]?.createBatch([{ params: "b", id: "b" }]);
    });
    const process = subject.start({ parent, child });
    const instance = await process.workflows.parent.create({ id: "first:1" });
    await instance.result();
    await process.workflows.child.create({ params: "c", id: "c" });

    const shown = { workflowName: "parent", id: instance.id };
    expect(await (await process.workflows.child.get("a")).status()).toMatchObject({ parent: shown });
    expect(await instance.status()).not.toHaveProperty("parent");
    const { instances } = await process.workflows.child.list({ order: "oldest" });
    expect(Object.fromEntries(instances.map((one) => [one.id, one.parent]))).toEqual({
      a: shown,
      b: shown,
      c: undefined,
    });
    const { entries } = await instance.history();
    const created = entries.filter(({ type, kind }) => type === "create" && kind === "completed");
    expect(created.map(({ name, output }) => [name, output])).toEqual([
      ["child", "a"],
      ["child", "b"],
    ]);
  });

  test("aren't waited for, unless a step waits for their results", async () => {
    const slow = defineWorkflow({ name: "slow" }, async (_event, step) => {
      await step.sleep("rest", "1 hour");
    });
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
      await step.create(slow, { id: "slow" });
      const quick = await step.create(child, { params: "it" });
      return step.do("wait", () => quick.result());
    });
    const process = subject.start({ parent, child, slow });
    const instance = await process.workflows.parent.create();

    await expect(instance.result()).resolves.toBe("did it");
    const left = await process.workflows.slow.get("slow");
    await eventually(async () => expect((await left.status()).status).toBe("waiting"));
  });

  test("with ids that others have are refused, or taken as they are", async () => {
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
      const refused = await step.create(child, { id: "taken", params: "mine" }).catch((error) => error.code);
      const taken = await step.create(child, { id: "taken", params: "mine", onConflict: "return" });
      return [refused, taken.id];
    });
    const process = subject.start({ parent, child });
    const before = await process.workflows.child.create({ id: "taken", params: "somebody's" as never });
    const instance = await process.workflows.parent.create();

    await expect(instance.result()).resolves.toEqual(["instance.already_exists", "taken"]);
    await expect(before.result()).resolves.toBe("did somebody's");
  });

  test.each([{}, { id: "own" }])("are created once, also where the parent is lost right after: %o", async (options) => {
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
      const { id } = await step.create(child, { params: "once", ...options });
      return id;
    });
    const first = subject.process({ parent, child }, { clock: subject.anotherClock() });
    let inserts = 0;
    const { instances } = first.store;
    const { promise, resolve } = Promise.withResolvers<{ result: "superseded" }>();
    const insert = instances.insert.bind(instances);
    instances.insert = async (...request) => {
      const inserted = await insert(...request);
      inserts++;
      return inserted;
    };
    instances.commit = () => promise;
    first.start();
    await first.workflows.parent.create({ id: "one" });
    await eventually(() => expect(inserts).toBe(2));
    outliveLeases(subject);
    const second = subject.start({ parent, child });
    const instance = await second.workflows.parent.get("one");
    await untilStatus(subject.clock, instance, "complete");
    const { instances: all } = await second.workflows.child.list();
    resolve({ result: "superseded" });

    expect(all.map(({ id }) => id)).toEqual([await instance.result()]);
    const created = await second.workflows.child.get(await instance.result());
    await withTime(subject.clock, async () => expect((await created.status()).status).toBe("complete"));
  });

  test("have other ids in another run of their parent", async () => {
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
      const { id } = await step.create(child, { params: "x" });
      return id;
    });
    const process = subject.start({ parent, child });
    const instance = await process.workflows.parent.create();
    const first = await instance.result();
    await instance.restart();
    const second = await instance.result();

    expect(second).not.toBe(first);
    const { instances } = await process.workflows.child.list();
    expect(instances).toHaveLength(2);
  });

  test.each<[string, (step: { create: (...rest: never[]) => Promise<unknown> }) => Promise<unknown>, string]>([
    ["of an unknown workflow", (step) => step.create(...(["nobody"] as never[])), "workflow.not_found"],
    ["with a bad id", (step) => step.create(...(["child", { id: "a b" }] as never[])), "id.invalid"],
    ["with unknown options", (step) => step.create(...(["child", { name: "x" }] as never[])), "create.invalid"],
    [
      "with params that can't be stored",
      (step) => step.create(...(["child", { params: () => {} }] as never[])),
      "value.unsupported",
    ],
  ])("%s are refused at once", async (_, create, code) => {
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
      await create(step as never);
    });
    const process = subject.start({ parent, child });
    const instance = await process.workflows.parent.create();

    await expect(instance.result()).rejects.toMatchObject({ cause: { code } });
    expect((await process.workflows.child.list()).instances).toEqual([]);
  });
});
