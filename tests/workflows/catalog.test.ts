import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { useWorkflows } from "./support/use-workflows.ts";

const work = defineWorkflow<"fail" | "sleep" | undefined>({ name: "work" }, async ({ payload }, step) => {
  if (payload === "sleep") await step.sleep("long", "30 days");
  if (payload === "fail") throw new Error("no");
  return payload ?? "done";
});
const other = defineWorkflow({ name: "other" }, async () => "done");

const idsOf = ({ instances }: { instances: readonly { id: string }[] }) => instances.map(({ id }) => id);

describe.each(ENGINES)("finding and counting instances on $name", (engine) => {
  const subject = useWorkflows(engine);

  test("labels are shown, and instances are found by them, all of them together", async () => {
    const { workflows } = subject.process({ work, other });
    await workflows.work.create({ id: "a", labels: { tenant: "x", "region/zone": "eu 1" } });
    await workflows.work.create({ id: "b", labels: { tenant: "x", plan: "Größe 'L' \"\\" } });
    await workflows.work.create({ id: "c", labels: { tenant: "y" } });
    await workflows.other.create({ id: "d", labels: { tenant: "x" } });
    await workflows.work.create({ id: "e" });

    expect((await (await workflows.work.get("a")).status()).labels).toEqual({ tenant: "x", "region/zone": "eu 1" });
    expect((await workflows.work.list({ labels: { tenant: "y" } })).instances[0]?.labels).toEqual({ tenant: "y" });
    expect((await (await workflows.work.get("e")).status()).labels).toEqual({});
    expect(idsOf(await workflows.work.list({ labels: { tenant: "x" } }))).toEqual(["b", "a"]);
    expect(idsOf(await workflows.work.list({ labels: { tenant: "x" }, order: "oldest" }))).toEqual(["a", "b"]);
    expect(idsOf(await workflows.work.list({ labels: { plan: "Größe 'L' \"\\", tenant: "x" } }))).toEqual(["b"]);
    expect(idsOf(await workflows.work.list({ labels: { tenant: "x", plan: "S" } }))).toEqual([]);
    expect(idsOf(await workflows.work.list({ labels: {} }))).toHaveLength(4);
  });

  test("labels stay through a restart, and go with a delete", async () => {
    const { workflows } = subject.process({ work });
    const instance = await workflows.work.create({ id: "a", labels: { tenant: "x" } });
    await instance.restart();
    expect(idsOf(await workflows.work.list({ labels: { tenant: "x" }, status: "queued" }))).toEqual(["a"]);
    await instance.delete();
    await workflows.work.create({ id: "a" });
    expect(idsOf(await workflows.work.list({ labels: { tenant: "x" } }))).toEqual([]);
  });

  test("instances are found by several statuses, by when they were created, and by when they were finished", async () => {
    const process = subject.process({ work });
    const { workflows } = process;
    const start = subject.clock.now();
    for (const [id, params] of [["a"], ["b", "fail"], ["c", "sleep"], ["d"]] as const) {
      await workflows.work.create({ id, params, labels: { of: "test" } });
      await process.drain();
      subject.clock.advance(1000);
    }

    for (const labels of [{}, { of: "test" }]) {
      const list = async (options: object) => idsOf(await workflows.work.list({ order: "oldest", labels, ...options }));
      expect(await list({ status: ["errored", "waiting"] })).toEqual(["b", "c"]);
      expect(await list({ status: ["complete", "complete"] })).toEqual(["a", "d"]);
      expect(await list({ createdFrom: start + 1000, createdBefore: start + 3000 })).toEqual(["b", "c"]);
      expect(await list({ finishedFrom: start + 1000 })).toEqual(["b", "d"]);
      expect(await list({ finishedBefore: new Date(start + 1000) })).toEqual(["a"]);
      expect(await list({ finishedFrom: start, finishedBefore: start + 4000, status: "complete" })).toEqual(["a", "d"]);
      expect(await list({ finishedFrom: start, status: ["waiting", "errored"] })).toEqual(["b"]);
      expect(await list({ finishedFrom: start, status: "waiting" })).toEqual([]);
    }
  });

  test("pages of any filter give every instance once, also when some come and go between them", async () => {
    const { workflows } = subject.process({ work, other });
    for (let index = 0; index < 7; index++) await workflows.work.create({ id: `w-${index}`, labels: { of: "test" } });
    for (let index = 0; index < 4; index++) await workflows.other.create({ id: `o-${index}` });
    const expected = [...Array.from({ length: 7 }, (_, index) => `w-${index}`)];

    for (const options of [{ labels: { of: "test" } }, { status: ["queued", "running"] as const }]) {
      const seen: string[] = [];
      let cursor: string | null | undefined;
      do {
        const page = await workflows.work.list({
          ...options,
          order: "oldest",
          limit: 3,
          ...(cursor ? { cursor } : {}),
        });
        seen.push(...idsOf(page));
        cursor = page.cursor;
      } while (cursor !== null);
      expect(seen).toEqual(expected);
    }
  });

  test("all workflows can be listed and counted together", async () => {
    const { fragment, workflows } = subject.process({ work, other });
    await workflows.work.create({ id: "a", labels: { tenant: "x" } });
    await workflows.other.create({ id: "b" });
    await workflows.other.create({ id: "c", labels: { tenant: "x" } });
    await (await workflows.other.get("b")).terminate();

    expect(idsOf(await fragment.instances.list({ order: "oldest" }))).toEqual(["a", "b", "c"]);
    expect(idsOf(await fragment.instances.list({ labels: { tenant: "x" } }))).toEqual(["c", "a"]);
    expect(idsOf(await fragment.instances.list({ status: "queued", limit: 1 }))).toEqual(["c"]);
    const { total, workflows: counts } = await fragment.instances.counts();
    expect(total).toMatchObject({ total: 3, queued: 2, terminated: 1, complete: 0 });
    expect(counts).toMatchObject({ work: { total: 1, queued: 1 }, other: { total: 2, queued: 1, terminated: 1 } });
  });

  test("counts are those of the statuses that instances have", async () => {
    const process = subject.process({ work, other });
    const { workflows } = process;
    expect(await workflows.work.counts()).toEqual({
      total: 0,
      queued: 0,
      running: 0,
      waiting: 0,
      diverged: 0,
      waitingForPause: 0,
      paused: 0,
      rollingBack: 0,
      complete: 0,
      errored: 0,
      terminated: 0,
      atLeast: [],
    });
    await workflows.work.createBatch([{}, {}, { params: "fail" }, { params: "sleep" }]);
    await process.drain();
    await workflows.work.createBatch([{ id: "a" }, { id: "b" }]);
    await (await workflows.work.get("a")).pause();
    await workflows.other.create();

    expect(await workflows.work.counts({ exact: true })).toEqual(await workflows.work.counts());
    await expect(workflows.work.counts({ exact: "yes" } as never)).rejects.toMatchObject({ code: "options.invalid" });
    expect(await workflows.work.counts()).toMatchObject({
      total: 6,
      queued: 1,
      waiting: 1,
      paused: 1,
      complete: 2,
      errored: 1,
    });
  });

  test.each([
    null,
    "tenant",
    [],
    { tenant: 1 },
    { tenant: "" },
    { "": "x" },
    { "a b": "x" },
    { tenant: "x".repeat(257) },
    { ["k".repeat(65)]: "x" },
    { tenant: "a\u0000b" },
    { tenant: "\ud800" },
    Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, "x"])),
  ])("the labels %o are refused, and nothing is stored", async (labels) => {
    const { workflows } = subject.process({ work });

    await expect(workflows.work.create({ labels: labels as never })).rejects.toMatchObject({ code: "create.invalid" });
    await expect(workflows.work.list({ labels: labels as never })).rejects.toMatchObject({ code: "options.invalid" });
    expect((await workflows.work.counts()).total).toBe(0);
  });

  test.each([{ status: [] }, { status: ["queued", "unknown"] }, { finishedFrom: "yesterday" }, { createdFrom: 1e300 }])(
    "the filter %o is refused",
    async (options) => {
      const { workflows } = subject.process({ work });

      await expect(workflows.work.list(options as never)).rejects.toMatchObject({ code: "options.invalid" });
    },
  );
});
