import { describe, expect, test } from "vitest";
import type { InstancePage } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { becomes, type Mode, Sample } from "./support/sample.ts";
import { eventually, useWorkflows } from "./support/use-workflows.ts";

describe.each(ENGINES)("lists of instances on $name", (engine) => {
  const subject = useWorkflows(engine);

  function setUp() {
    const sample = new Sample();
    const process = subject.process({ sample: sample.workflow, other: { name: "other", workflow: sample.workflow } });
    return { sample, process, binding: process.workflows.sample };
  }

  const idsOf = ({ instances }: { instances: readonly { id: string }[] }) => instances.map(({ id }) => id);

  test("have the workflow's own, the newest first, or the oldest", async () => {
    const { process, binding } = setUp();
    for (const id of ["a", "b", "c"]) await binding.create({ id, params: "complete" });
    await process.workflows.other.create({ id: "d", params: "complete" });

    expect(idsOf(await binding.list())).toEqual(["c", "b", "a"]);
    expect(idsOf(await binding.list({ order: "oldest" }))).toEqual(["a", "b", "c"]);
    expect(idsOf(await process.workflows.other.list())).toEqual(["d"]);
  });

  test("can be of one status", async () => {
    const { process, binding } = setUp();
    process.start();
    const modes: Mode[] = ["complete", "fail", "sleep", "work"];
    for (const mode of modes)
      await becomes(await binding.create({ id: mode, params: mode }), ...["complete", "errored", "waiting", "running"]);
    const paused = await binding.create({ id: "paused", params: "sleep" });
    await becomes(paused, "waiting");
    await paused.pause();
    await becomes(paused, "paused");
    const terminated = await binding.create({ id: "terminated", params: "sleep" });
    await terminated.terminate();
    await becomes(await binding.get("fail"), "errored");
    await becomes(await binding.get("complete"), "complete");
    await eventually(async () => expect(idsOf(await binding.list({ status: "waiting" }))).toEqual(["sleep"]));

    const expected = { complete: "complete", errored: "fail", waiting: "sleep", paused: "paused", running: "work" };
    for (const [status, id] of Object.entries(expected)) {
      expect(idsOf(await binding.list({ status: status as never }))).toEqual([id]);
    }
    expect(idsOf(await binding.list({ status: "terminated" }))).toEqual(["terminated"]);
    expect(idsOf(await binding.list({ status: "queued" }))).toEqual([]);
  });

  test("end before their limit where few of many match, and their cursors find them all", async () => {
    const { workflows } = subject.process({ sample: new Sample().workflow }, { workflowLimits: { batchSize: 1000 } });
    const labels = { tenant: "a" };
    const created = { params: "complete", labels } as const;
    const oldest = ["a", "b", "c"];
    for (const id of oldest) await (await workflows.sample.create({ id, ...created })).terminate();
    for (let batch = 0; batch < 6; batch++) await workflows.sample.createBatch(new Array(1000).fill(created));
    const pages: string[][] = [];
    let cursor: string | null = null;
    do {
      const page: InstancePage = await workflows.sample.list({
        status: "terminated",
        labels,
        ...(cursor === null ? {} : { cursor }),
      });
      pages.push(idsOf(page));
      cursor = page.cursor;
    } while (cursor !== null);

    expect(pages).toEqual([[], ["c", "b", "a"]]);
  });

  test("can be of a time", async () => {
    const { binding } = setUp();
    const start = subject.clock.now();
    for (const id of ["a", "b", "c"]) {
      await binding.create({ id, params: "complete" });
      await subject.clock.advanceAndSettle(1000);
    }

    expect(idsOf(await binding.list({ createdFrom: new Date(start + 1000) }))).toEqual(["c", "b"]);
    expect(idsOf(await binding.list({ createdBefore: start + 1000 }))).toEqual(["a"]);
    expect(idsOf(await binding.list({ createdFrom: start + 1, createdBefore: start + 1001 }))).toEqual(["b"]);
  });

  test.each(["oldest", "newest"] as const)(
    "come in pages that hold while instances are created, %s first",
    async (order) => {
      const { binding } = setUp();
      // All at the same moment: times alone would not tell them apart.
      const ids = Array.from({ length: 10 }, (_, index) => `i${index}`);
      for (const id of ids) await binding.create({ id, params: "complete" });
      const seen: string[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < 4; page++) {
        const listed = await binding.list({ order, limit: 3, ...(cursor === null ? {} : { cursor }) });
        seen.push(...idsOf(listed));
        cursor = listed.cursor;
        if (order === "newest" || page === 0) await binding.create({ id: `late${page}`, params: "complete" });
      }

      if (order === "newest") {
        expect(seen).toEqual(ids.toReversed());
        expect(cursor).toBeNull();
      } else expect(seen).toEqual([...ids, "late0"]);
    },
  );

  test("have no next page where the last one is just full", async () => {
    const { binding } = setUp();
    for (const id of ["a", "b"]) await binding.create({ id, params: "complete" });

    expect((await binding.list({ limit: 2 })).cursor).toBeNull();
    expect((await binding.list({ limit: 1 })).cursor).not.toBeNull();
  });

  test("refuse what they don't understand", async () => {
    const { binding } = setUp();
    const refused = [{ status: "done" }, { limit: 0 }, { order: "up" }, { createdFrom: "today" }, { page: 2 }];
    for (const options of refused) {
      await expect(binding.list(options as never)).rejects.toMatchObject({ code: "options.invalid" });
    }
    await expect(binding.list({ cursor: "§" })).rejects.toMatchObject({ code: "cursor.invalid" });
  });
});
