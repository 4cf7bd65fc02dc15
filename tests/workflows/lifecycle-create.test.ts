import { describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { becomes, Sample } from "./support/sample.ts";
import { useWorkflows } from "./support/use-workflows.ts";

describe.each(ENGINES)("creating instances on $name", (engine) => {
  const subject = useWorkflows(engine);

  /** A process that runs nothing: what it creates is queued. */
  function setUp() {
    const { workflow } = new Sample();
    const process = subject.process({ sample: workflow });
    return { workflow, process, binding: process.workflows.sample };
  }

  const idsOf = (instances: readonly { id: string }[]) => instances.map(({ id }) => id);

  test("gives them an id of their own, or the caller's", async () => {
    const { binding } = setUp();
    const own = await binding.create({ id: "order:1.a_b-c", params: "complete" });
    const made = await Promise.all([binding.create({ params: "complete" }), binding.create({ params: "complete" })]);

    expect(own).toMatchObject({ id: "order:1.a_b-c", workflowName: "sample" });
    expect(new Set(idsOf(made)).size).toBe(2);
    for (const { id } of made) expect(id).toMatch(/^[\w.:-]{1,100}$/);
  });

  test("begins with run 1, queued until a worker claims them", async () => {
    const { binding } = setUp();
    const created = new Date(subject.clock.now());
    const instance = await binding.create({ params: "complete" });

    expect(await instance.status()).toEqual({
      status: "queued",
      params: "complete",
      run: 1,
      labels: {},
      createdAt: created,
      startedAt: null,
      finishedAt: null,
    });
  });

  test("refuses an id that the workflow has, whatever happened to that instance", async () => {
    const { binding } = setUp();
    const first = await binding.create({ id: "one", params: "complete" });
    const again = () => binding.create({ id: "one", params: "sleep" });
    const refusal = { name: "ConflictError", code: "instance.already_exists" };

    await expect(again()).rejects.toMatchObject(refusal);
    await first.terminate();
    await expect(again()).rejects.toMatchObject(refusal);
    expect(await first.status()).toMatchObject({ status: "terminated", run: 1 });
    await first.delete();
    await expect(again()).resolves.toMatchObject({ id: "one" });
  });

  test("refuses all but one of the callers that create the same id at once, in one process and in several", async () => {
    const { binding, workflow } = setUp();
    const other = subject.process({ sample: workflow }).workflows.sample;
    const attempts = [binding, other, binding, other, binding].map((one) => one.create({ id: "one", params: "sleep" }));
    const outcomes = (await Promise.allSettled(attempts)).map((outcome) =>
      outcome.status === "fulfilled" ? "created" : outcome.reason.code,
    );

    expect(outcomes.toSorted()).toEqual(["created", ...Array(4).fill("instance.already_exists")]);
    expect((await binding.list()).instances).toHaveLength(1);
  });

  test('gives the existing instance, if the caller says onConflict: "return"', async () => {
    const sample = new Sample();
    const process = subject.start({ sample: sample.workflow });
    const first = await process.workflows.sample.create({ id: "one", params: "complete" });
    await first.result();
    const again = await process.workflows.sample.create({ id: "one", params: "fail", onConflict: "return" });

    await expect(again.result()).resolves.toBe("complete");
    expect(sample.began).toEqual(["after"]);
    expect(await again.status()).toMatchObject({ status: "complete", run: 1 });
  });

  test("keeps ids of different workflows apart", async () => {
    const { workflow } = setUp();
    const process = subject.process({ sample: workflow, other: { name: "other", workflow } });
    await process.workflows.sample.create({ id: "one", params: "complete" });

    await expect(process.workflows.other.create({ id: "one", params: "complete" })).resolves.toMatchObject({
      id: "one",
      workflowName: "other",
    });
  });

  test("of a batch skips those that exist, and says which are new", async () => {
    const { binding } = setUp();
    await binding.create({ id: "b", params: "complete" });
    const created = await binding.createBatch([
      { id: "a", params: "complete" },
      { id: "b", params: "fail" },
      { id: "c", params: "complete" },
      { id: "a", params: "fail" },
    ]);

    expect(idsOf(created)).toEqual(["a", "c"]);
    expect(idsOf((await binding.list({ order: "oldest" })).instances).toSorted()).toEqual(["a", "b", "c"]);
  });

  test("of a batch also gives those that exist, if the caller wants them", async () => {
    const { binding } = setUp();
    await binding.create({ id: "b", params: "complete" });
    const created = await binding.createBatch([
      { id: "a", params: "complete" },
      { id: "b", params: "complete", onConflict: "return" },
    ]);

    expect(idsOf(created)).toEqual(["a", "b"]);
  });

  test("takes a hundred at once and runs them all, and refuses more with nothing created", async () => {
    const sample = new Sample();
    const process = subject.start({ sample: sample.workflow });
    const batch = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ id: `i${index}`, params: "complete" as const }));

    await expect(process.workflows.sample.createBatch(batch(101))).rejects.toMatchObject({ code: "create.invalid" });
    expect((await process.workflows.sample.list()).instances).toEqual([]);
    const created = await process.workflows.sample.createBatch(batch(100));
    expect(created).toHaveLength(100);
    for (const instance of created) await expect(instance.result()).resolves.toBe("complete");
    expect(sample.began).toHaveLength(100);
    await expect(process.workflows.sample.createBatch([])).resolves.toEqual([]);
  });

  test("of a batch creates nothing where one of them can't be created", async () => {
    const { binding } = setUp();
    const batch = [{ id: "fine" }, { id: "not/fine" }];

    await expect(binding.createBatch(batch as never)).rejects.toMatchObject({ code: "id.invalid" });
    expect((await binding.list()).instances).toEqual([]);
  });

  test("refuses what it doesn't understand", async () => {
    const { binding } = setUp();
    const refused = [{ onConflict: "replace" }, { retries: 1 }, { params: () => {} }, null, "one"];
    for (const options of refused) {
      await expect(binding.create(options as never)).rejects.toMatchObject({ name: "InvalidInputError" });
    }
    expect((await binding.list()).instances).toEqual([]);
  });

  test("can be asked for by their ids afterwards, by any process, but only where there is one", async () => {
    const { binding, workflow } = setUp();
    await binding.create({ id: "one", params: "complete" });
    const other = subject.start({ sample: workflow }).workflows.sample;
    const found = await other.get("one");

    await expect(found.result()).resolves.toBe("complete");
    await becomes(found, "complete");
    await expect(other.get("two")).rejects.toMatchObject({ name: "NotFoundError", code: "instance.not_found" });
  });
});
