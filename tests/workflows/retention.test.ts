import { describe, expect, test } from "vitest";
import { defineWorkflow, WorkflowEntrypoint } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually, useWorkflows, type WorkflowProcess } from "./support/use-workflows.ts";

const HOUR = 3_600_000;

const work = defineWorkflow<{ fail?: boolean; sleep?: boolean } | undefined>(
  { name: "work", retention: { successRetention: "2 hours" } },
  async ({ payload }, step) => {
    await step.do("first", () => 1);
    if (payload?.sleep) await step.sleep("long", "30 days");
    if (payload?.fail) throw new Error("no");
  },
);
class Plain extends WorkflowEntrypoint {
  override async run(): Promise<string> {
    return "done";
  }
}

type Process = WorkflowProcess<{ work: typeof work }>;

/** Everything that may be purged now. Returns how many pieces that took. */
async function purge({ processor }: Pick<Process, "processor">): Promise<number> {
  let pieces = 0;
  for (const source of processor.sources) while (await source.purge()) pieces++;
  return pieces;
}

async function idsOf({ workflows }: Process): Promise<string[]> {
  const { instances } = await workflows.work.list({ order: "oldest" });
  return instances.map(({ id }) => id);
}

describe.each(ENGINES)("retention on $name", (engine) => {
  const subject = useWorkflows(engine);

  async function finish(process: Process, id: string, options: object = {}): Promise<void> {
    const instance = await process.workflows.work.create({ id, ...options });
    await process.drain();
    await instance.result().catch(() => {});
  }

  test("finished instances are kept for as long as create says, or else the workflow, or else for ever", async () => {
    const process = subject.process({ work });
    await finish(process, "by-the-workflow");
    await finish(process, "own", { retention: { successRetention: "1 hour" } });
    await finish(process, "errors-are-kept", { params: { fail: true } });
    await finish(process, "own-error", { params: { fail: true }, retention: { errorRetention: "1 hour" } });

    subject.clock.advance(HOUR - 1);
    await purge(process);
    expect(await idsOf(process)).toEqual(["by-the-workflow", "own", "errors-are-kept", "own-error"]);
    subject.clock.advance(1);
    await purge(process);
    expect(await idsOf(process)).toEqual(["by-the-workflow", "errors-are-kept"]);
    subject.clock.advance(HOUR);
    await purge(process);
    expect(await idsOf(process)).toEqual(["errors-are-kept"]);
  });

  test("a class can be registered with a retention", async () => {
    const process = subject.process({ plain: { name: "plain", workflow: Plain, retention: { successRetention: 0 } } });
    await process.workflows.plain.create({ id: "a" });
    await process.drain();
    await purge(process as never);

    await expect(process.workflows.plain.get("a")).rejects.toMatchObject({ code: "instance.not_found" });
  });

  test("terminated instances are kept as long as failed ones", async () => {
    const process = subject.process({ work });
    await process.workflows.work.create({
      id: "a",
      retention: { successRetention: "1 hour", errorRetention: "2 hours" },
    });
    await (await process.workflows.work.get("a")).terminate();

    subject.clock.advance(HOUR);
    await purge(process);
    expect(await idsOf(process)).toEqual(["a"]);
    subject.clock.advance(HOUR);
    await purge(process);
    expect(await idsOf(process)).toEqual([]);
  });

  test("an unfinished, paused or restarted instance isn't purged, however short its retention", async () => {
    const process = subject.process({ work });
    const retention = { successRetention: 0, errorRetention: 0 };
    await process.workflows.work.create({ id: "sleeping", params: { sleep: true }, retention });
    await process.drain();
    await finish(process, "restarted", { retention });
    await (await process.workflows.work.get("restarted")).restart();
    await process.workflows.work.create({ id: "queued", retention });
    await process.workflows.work.create({ id: "paused", retention });
    await (await process.workflows.work.get("paused")).pause();

    subject.clock.advance(HOUR);
    await purge(process);
    expect(await idsOf(process)).toEqual(["sleeping", "restarted", "queued", "paused"]);
    await process.drain();
    await purge(process);
    expect(await idsOf(process)).toEqual(["sleeping", "paused"]);
  });

  test("nothing is left of what was purged, and its id can be used again", async () => {
    const process = subject.process({ work });
    const retention = { successRetention: 0 };
    for (let index = 0; index < 3; index++) {
      await finish(process, `a-${index}`, { retention, labels: { tenant: "a" } });
      await (await process.workflows.work.get(`a-${index}`)).restart();
      await process.drain();
    }
    await purge(process);
    subject.clock.advance(24 * HOUR); // what was under way when they were deleted is looked for later
    await purge(process);

    const tables = ["instance", "journal", "event", "past_run", "label", "deleted_instance"];
    const prefix = engine.dialect === "postgres" ? "perdure." : "perdure_";
    const rows = await process.store.engine.transaction(async ({ query }) => {
      const counts: unknown[] = [];
      for (const table of tables) {
        const [row] = await query(`select count(*) as count from ${prefix}${table}${ownRows(table)}`, []);
        counts.push(Number(row?.count));
      }
      return counts;
    });
    expect(rows).toEqual([0, 0, 0, 0, 0, 0]);
    await finish(process, "a-0");
    expect(await idsOf(process)).toEqual(["a-0"]);

    /** Other tests of this database have left theirs. */
    function ownRows(table: string): string {
      if (table === "deleted_instance") return "";
      const own = `(select ref from ${prefix}instance where namespace <> '${subject.namespace}')`;
      return ` where ref not in ${own}`;
    }
  });

  test("a purge that is interrupted continues, and work continues beside it", async () => {
    const process = subject.process({ work });
    const retention = { successRetention: 0 };
    for (let batch = 0; batch < 3; batch++) {
      await process.workflows.work.createBatch(Array.from({ length: 90 }, () => ({ retention })));
      await process.drain();
    }
    const source = process.processor.sources.find(({ kind }) => kind === "instance");
    await source?.purge();
    const { total } = await process.workflows.work.counts();
    expect(total).toBeGreaterThan(0);
    expect(total).toBeLessThan(270);

    const another = subject.start({ work });
    const purging = purge(another);
    const live = await another.workflows.work.create({ id: "live" });
    await expect(live.result()).resolves.toBeUndefined();
    await purging;
    expect(await idsOf(another)).toEqual(["live"]);
  });

  test("a worker purges by itself, beside its work", async () => {
    const process = subject.start({ work });
    await process.workflows.work.create({ id: "a", retention: { successRetention: "1 minute" } });
    await eventually(async () => expect((await process.workflows.work.counts()).complete).toBe(1));
    await eventually(async () => {
      subject.clock.advance(20_000);
      expect(await idsOf(process)).toEqual([]);
    });
  });

  test.each([
    { successRetention: "soon" },
    { successRetention: -1 },
    { errorRetention: null },
    { forever: true },
    "1 day",
  ])("%o is refused, and nothing is stored", async (retention) => {
    const process = subject.process({ work });

    await expect(process.workflows.work.create({ retention: retention as never })).rejects.toMatchObject({
      code: expect.stringMatching(/^(create|duration)\.invalid$/),
    });
    expect(await idsOf(process)).toEqual([]);
    expect(() => defineWorkflow({ name: "bad", retention: retention as never }, async () => {})).toThrow();
  });
});
