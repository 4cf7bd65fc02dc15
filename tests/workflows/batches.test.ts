import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import type { BindingOf } from "../../src/workflows/instances/typed-bindings.ts";
import { ENGINES } from "../support/engines.ts";
import { useWorkflows } from "./support/use-workflows.ts";

const work = defineWorkflow<number | undefined>({ name: "work" }, async ({ payload }) => payload ?? "none");
const idsOf = (instances: readonly { id: string }[]) => instances.map(({ id }) => id);

describe.each(ENGINES)("batches on $name", (engine) => {
  const subject = useWorkflows(engine);

  test("each instance is created by itself, and errors name each that is refused", async () => {
    const { workflows } = subject.process({ work });
    await workflows.work.create({ id: "taken" });
    const { created, errors } = await workflows.work.createBatch({
      instances: [
        { id: "a", params: 1, labels: { tenant: "x" } },
        { id: "taken" },
        { id: "not an id" },
        { id: "b", params: (() => {}) as never },
        { id: "a" },
        { id: "taken", onConflict: "return" },
        null as never,
        {},
      ],
    });

    expect(idsOf(created).slice(0, 2)).toEqual(["a", "taken"]);
    expect(created).toHaveLength(3);
    expect(errors.map(({ index, id, code }) => [index, id, code])).toEqual([
      [1, "taken", "instance.already_exists"],
      [2, "not an id", "id.invalid"],
      [3, "b", "value.unsupported"],
      [4, "a", "instance.already_exists"],
      [6, undefined, "create.invalid"],
    ]);
    expect((await workflows.work.counts()).total).toBe(3);
  });

  test("several equal instances are created by their number", async () => {
    const process = subject.process({ work });
    const { created, errors } = await process.workflows.work.createBatch({
      count: 5,
      params: 7,
      labels: { of: "batch" },
    });
    await process.drain();

    expect(errors).toEqual([]);
    expect(new Set(idsOf(created)).size).toBe(5);
    expect(await Promise.all(created.map((instance) => instance.result()))).toEqual([7, 7, 7, 7, 7]);
    expect((await process.workflows.work.list({ labels: { of: "batch" } })).instances).toHaveLength(5);
  });

  test("every way of creating takes a priority", async () => {
    const began: string[] = [];
    const ranked = defineWorkflow<string>({ name: "ranked" }, async ({ payload }, step) => {
      await step.do("work", () => void began.push(payload));
    });
    const process = subject.process({ ranked }, { concurrency: 1 });
    await process.workflows.ranked.create({ params: "usual" });
    await process.workflows.ranked.createBatch({ count: 2, params: "many", priority: 5 });
    await process.workflows.ranked.restartOrCreate({ id: "one", params: "ensured", priority: 10 });
    await process.drain();
    expect(began).toEqual(["ensured", "many", "many", "usual"]);
  });

  test("the array form gives what is new, and refuses everything if one is wrong", async () => {
    const { workflows } = subject.process({ work });
    await workflows.work.create({ id: "a" });

    expect(idsOf(await workflows.work.createBatch([{ id: "a" }, { id: "b" }]))).toEqual(["b"]);
    await expect(workflows.work.createBatch([{ id: "c" }, { id: "-" }])).rejects.toMatchObject({ code: "id.invalid" });
    expect((await workflows.work.counts()).total).toBe(2);
  });

  test.each([
    { instances: Array.from({ length: 101 }, () => ({})) },
    { instances: "a" },
    { instances: [], count: 1 },
    { count: 101 },
    { count: -1 },
    { count: 1.5 },
    { count: 1, id: "a" },
    {},
    null,
    "a",
    Array.from({ length: 101 }, () => ({})),
  ])("%o is no batch", async (batch) => {
    const { workflows } = subject.process({ work });

    await expect(workflows.work.createBatch(batch as never)).rejects.toMatchObject({ code: "create.invalid" });
    expect((await workflows.work.counts()).total).toBe(0);
  });

  test("a workflow creates batches of children, once", async () => {
    const parent = defineWorkflow({ name: "parent" }, async (_event, step, { workflows }) => {
      const instances = [{ params: 1 }, { params: 2 }, { id: "taken" }];
      const { created, errors } = await (workflows.work as BindingOf<typeof work>).createBatch({ instances });
      await step.sleep("long", "1 hour");
      return [created.length, errors.map(({ code }) => code)];
    });
    const process = subject.process({ work, parent });
    await process.workflows.work.create({ id: "taken" });
    const instance = await process.workflows.parent.create();
    await process.drain();
    subject.clock.advance(3_600_000);
    await process.drain();

    await expect(instance.result()).resolves.toEqual([2, ["instance.already_exists"]]);
    expect((await process.workflows.work.counts()).total).toBe(3);
  });

  test("many instances are deleted at once, and errors name those that don't exist", async () => {
    const { workflows } = subject.process({ work });
    await workflows.work.createBatch([{ id: "a" }, { id: "b" }, { id: "c" }]);
    const { deleted, errors } = await workflows.work.deleteBatch(["a", "x", "b", "a", "not an id"]);

    expect(idsOf(deleted)).toEqual(["a", "b", "a"]);
    expect(errors.map(({ index, id, code }) => [index, id, code])).toEqual([
      [1, "x", "instance.not_found"],
      [4, "not an id", "id.invalid"],
    ]);
    expect(idsOf((await workflows.work.list()).instances)).toEqual(["c"]);
    await expect(workflows.work.deleteBatch("c" as never)).rejects.toMatchObject({ code: "options.invalid" });
    await expect(workflows.work.deleteBatch(Array(101).fill("c"))).rejects.toMatchObject({ code: "options.invalid" });
  });
});

describe.each(ENGINES)("making sure that something runs on $name", (engine) => {
  const subject = useWorkflows(engine);

  test("it is created, left alone while it is under way, and restarted when it is finished", async () => {
    const process = subject.process({ work });
    const ensure = (params?: number) =>
      process.workflows.work.restartOrCreate({ id: "a", ...(params === undefined ? {} : { params }) });

    expect((await ensure(1)).outcome).toBe("created");
    expect((await ensure(2)).outcome).toBe("unchanged");
    await process.drain();
    const { outcome, instance } = await ensure(3);
    expect(outcome).toBe("restarted");
    await process.drain();
    await expect(instance.result()).resolves.toBe(3);
    expect((await ensure()).outcome).toBe("restarted");
    await process.drain();
    await expect(instance.result()).resolves.toBe(3); // the params of the run before
    expect((await instance.status()).run).toBe(3);
    expect((await instance.history()).earlierRuns).toHaveLength(2);
  });

  test.each([
    ["always", "restarted"],
    ["queued", "restarted"],
    [["errored", "queued"], "restarted"],
    ["errored", "unchanged"],
    [["running", "complete"], "unchanged"],
  ] as const)("when: %o of one that is queued gives %s", async (when, expected) => {
    const { workflows } = subject.process({ work });
    await workflows.work.create({ id: "a" });

    const { outcome, instance } = await workflows.work.restartOrCreate({ id: "a", when });
    expect(outcome).toBe(expected);
    const { run } = await instance.status();
    expect([run, (await instance.history()).earlierRuns.length]).toEqual(expected === "restarted" ? [2, 1] : [1, 0]);
  });

  test("lets one of many callers create the instance, and one restart it", async () => {
    const processes = [subject.process({ work }), subject.process({ work })];
    const ask = async () => {
      const asked = processes.flatMap(({ workflows }) =>
        Array.from({ length: 5 }, () => workflows.work.restartOrCreate({ id: "a" })),
      );
      return (await Promise.all(asked)).map(({ outcome }) => outcome).sort();
    };

    expect(await ask()).toEqual(["created", ...Array(9).fill("unchanged")]);
    await processes[0]?.drain();
    expect(await ask()).toEqual(["restarted", ...Array(9).fill("unchanged")]);
  });

  test.each([{}, { id: "a", when: "never" }, { id: "a", when: [] }, { id: "a", onConflict: "return" }, { id: "" }])(
    "%o is refused",
    async (options) => {
      const { workflows } = subject.process({ work });

      await expect(workflows.work.restartOrCreate(options as never)).rejects.toMatchObject({
        code: expect.stringMatching(/^(create|id)\.invalid$/),
      });
      expect((await workflows.work.counts()).total).toBe(0);
    },
  );
});
