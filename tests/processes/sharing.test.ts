import { describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { useProcessGroup } from "../support/process-group.ts";

const BEFORE = 5000;
const MEANWHILE = 5000;

describe.each(ENGINES)("two processes on one database ($name)", (engine) => {
  const group = useProcessGroup();

  test("share ten thousand hooks: each runs once, and none is lost", async () => {
    await group.open(engine);
    const before = await group.trigger("note", BEFORE);
    const workers = await Promise.all([
      group.start({ worker: { concurrency: 20 } }),
      group.start({ worker: { concurrency: 20 } }),
    ]);
    const meanwhile = await group.trigger("note", MEANWHILE);
    await group.emptied(90_000);

    const ran = group.runs.map(({ hookId }) => hookId);
    expect(ran.toSorted()).toEqual([...before, ...meanwhile].toSorted());
    for (const worker of workers) expect(worker.runs).not.toHaveLength(0);
    expect(await group.statistics()).toMatchObject({ pending: 0, processing: 0, failed: 0 });
  });

  test("share what they trigger themselves", async () => {
    await group.open(engine);
    const workers = await Promise.all([
      group.start({ worker: { concurrency: 5 } }),
      group.start({ worker: { concurrency: 5 } }),
    ]);
    const triggered = await Promise.all(
      workers.map((worker) => worker.request({ do: "trigger", hook: "note", count: 500 })),
    );
    await group.emptied();

    const ran = group.runs.map(({ hookId }) => hookId);
    expect(ran.toSorted()).toEqual(triggered.flat().toSorted());
  });
});
