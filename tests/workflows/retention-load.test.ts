import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowEvent } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually, useWorkflows, type WorkflowProcess } from "./support/use-workflows.ts";

const HOUR = 3_600_000;
const BATCH = 100;
/** Due for purge: so many batches, and some that have more than a row in the journal. */
const BATCHES = 30;
const LONG_JOURNAL = 12_000;
/** What may go at once. */
const MOST_INSTANCES = 100;
const MOST_ROWS = 5000;
const DEPENDENTS = ["journal", "event", "past_run", "stream_chunk"];

const stream = () =>
  new ReadableStream({
    start(controller) {
      controller.enqueue("a chunk");
      controller.close();
    },
  });

type Kind = "plain" | "stream" | "event" | "sleep";

const work = defineWorkflow({ name: "work" }, async ({ payload }: WorkflowEvent<Kind>, step) => {
  if (payload === "event") await step.waitForEvent("word", { type: "word" });
  if (payload === "stream") await step.do("paper", stream);
  if (payload === "sleep") await step.sleep("long", "30 days");
  return step.do("last", () => "done");
});

type Process = WorkflowProcess<{ work: typeof work }>;

describe.each(ENGINES)("a purge beside live work on $name", (engine) => {
  const subject = useWorkflows(engine);
  const prefix = engine.dialect === "postgres" ? "perdure." : "perdure_";

  async function query(process: Process, text: string): Promise<Record<string, unknown>[]> {
    return process.store.engine.transaction((transaction) => transaction.query(text, []));
  }

  /**
   * How many rows there are of the instances up to this one, which is to say, of those that were there before the live ones.
   */
  async function rowsUpTo(process: Process, ref: string): Promise<{ instances: number; dependents: number }> {
    const old = engine.dialect === "postgres" ? `ref collate "C" <= '${ref}'` : `ref <= '${ref}'`;
    const count = (table: string) => `(select count(*) from ${prefix}${table} where ${old})`;
    const dependents = DEPENDENTS.map(count).join(" + ");
    const [row] = await query(process, `select ${count("instance")} as instances, ${dependents} as dependents`);
    return { instances: Number(row?.["instances"]), dependents: Number(row?.["dependents"]) };
  }

  /** What belongs to no instance, by table. */
  async function orphans(process: Process): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const table of [...DEPENDENTS, "label", "deleted_instance"]) {
      const missing = `not exists (select 1 from ${prefix}instance as instance where instance.ref = orphan.ref)`;
      const [row] = await query(process, `select count(*) as count from ${prefix}${table} as orphan where ${missing}`);
      counts[table] = Number(row?.["count"]);
    }
    return counts;
  }

  async function lengthen(process: Process, id: string): Promise<void> {
    const columns = "ref, run, position, kind, type, name, count, attempt, at";
    await query(
      process,
      `insert into ${prefix}journal (${columns})
       with recursive number (n) as (select 1 union all select n + 1 from number where n < ${LONG_JOURNAL})
       select instance.ref, 1, 1000 + n, 'completed', 'do', 'more', n, 1, 0
       from number cross join ${prefix}instance as instance where instance.id = '${id}'`,
    );
  }

  /** Instances that were finished an hour ago, and others that are kept, or aren't finished. */
  async function history(): Promise<void> {
    const process = subject.start({ work }, { concurrency: 100 });
    const { workflows } = process;
    const due = { successRetention: "1 hour" } as const;
    const labels = { tenant: "a" };
    for (let batch = 0; batch < BATCHES; batch++) {
      const plain = Array.from({ length: BATCH }, () => ({ params: "plain" as const, retention: due }));
      await workflows.work.createBatch(plain);
    }
    const special = ["stream", "event", "plain"] as const;
    await workflows.work.createBatch(special.map((kind) => ({ id: kind, params: kind, retention: due, labels })));
    await (await workflows.work.get("event")).sendEvent({ type: "word" });
    await (await workflows.work.get("plain")).restart();
    await workflows.work.createBatch([
      { id: "kept", params: "stream", retention: { successRetention: "2 hours" }, labels },
      { id: "for-ever", params: "plain" },
      { id: "asleep", params: "sleep", retention: { successRetention: 0, errorRetention: 0 } },
    ]);
    const finished = BATCHES * BATCH + special.length + 2;
    await eventually(async () => expect((await workflows.work.counts()).complete).toBe(finished));
    await lengthen(process, "plain");
    await process.close();
  }

  test("goes in small pieces, takes what is due and nothing else, and leaves nothing behind", async () => {
    await history();
    subject.clock.advance(HOUR);
    const process = subject.start({ work });
    const [newest] = await query(
      process,
      `select ref from ${prefix}instance order by created_at desc, ref desc limit 1`,
    );
    const ref = newest?.["ref"] as string;
    const source = process.processor.sources.find(({ kind }) => kind === "instance");

    const results: Promise<unknown>[] = [];
    const ids: string[] = [];
    let before = await rowsUpTo(process, ref);
    let pieces = 0;
    for (let more: boolean | undefined = true; more; pieces++) {
      const live = Array.from({ length: 3 }, (_, index) => ({
        id: `live-${pieces}-${index}`,
        params: index === 0 ? ("stream" as const) : ("plain" as const),
      }));
      const created = process.workflows.work.createBatch(live);
      more = await source?.purge();
      const after = await rowsUpTo(process, ref);
      expect(before.instances - after.instances).toBeLessThanOrEqual(MOST_INSTANCES);
      expect(before.dependents - after.dependents).toBeLessThanOrEqual(MOST_ROWS);
      before = after;
      ids.push(...live.map(({ id }) => id));
      results.push(...(await created).map((instance) => instance.result()));
    }

    expect(pieces).toBeGreaterThan(BATCHES);
    expect(await Promise.all(results)).toEqual(ids.map(() => "done"));
    const { instances } = await process.workflows.work.list({ limit: 1000 });
    expect(instances.map(({ id }) => id).sort()).toEqual(["asleep", "for-ever", "kept", ...ids].sort());
    expect(await orphans(process)).toEqual({
      journal: 0,
      event: 0,
      past_run: 0,
      stream_chunk: 0,
      label: 0,
      deleted_instance: 0,
    });
    expect(await (await process.workflows.work.get("kept")).result()).toBe("done");
  });
});
