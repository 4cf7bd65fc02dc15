import { describe, expect, test } from "vitest";
import { ENGINES, type TestEngine } from "../support/engines.ts";
import { useProcessGroup } from "../support/process-group.ts";
import type { WorkerSettings } from "../support/worker-settings.ts";

interface Way {
  readonly name: string;
  readonly engine: TestEngine;
  readonly settings: Partial<WorkerSettings>;
}

const WAYS: readonly Way[] = ENGINES.flatMap((engine) => {
  if (engine.dialect === "sqlite") return [{ name: "SQLite", engine, settings: {} }];
  return [
    { name: "PostgreSQL by URL", engine, settings: {} },
    { name: "PostgreSQL by the application's own pool", engine, settings: { ownPool: true } },
  ];
});

const ENDED_BY_ITSELF = { code: 0, signal: null };

describe.each(WAYS)("a process that is asked to stop ($name)", ({ engine, settings }) => {
  const group = useProcessGroup();

  test("waits for what runs, hands back the rest uncounted, and ends by itself", async () => {
    await group.open(engine);
    const worker = await group.start({
      ...settings,
      deadlineMs: 2000,
      keepCompleted: true,
      worker: { concurrency: 2 },
    });
    const [ends = ""] = await group.trigger("hold");
    const [hangs = ""] = await group.trigger("holdDeaf");
    await group.seen(worker, "started", ends);
    await group.seen(worker, "started", hangs);
    const [waits = ""] = await group.trigger("note");
    worker.kill("SIGTERM");
    await worker.stopping();
    const [late = ""] = await group.trigger("note");
    await worker.request({ do: "open", hook: "hold" });

    expect(await worker.ended).toEqual(ENDED_BY_ITSELF);
    const hookOf = (id: string) => group.app.durableHooks.get(id);
    expect(await hookOf(ends)).toMatchObject({ status: "completed", attempts: 1 });
    for (const id of [hangs, waits, late]) expect(await hookOf(id)).toMatchObject({ status: "pending", attempts: 0 });
    expect(worker.runs.map(({ event, hookId }) => [event, hookId])).toEqual([
      ["started", ends],
      ["started", hangs],
      ["ended", ends],
      ["aborted", hangs],
    ]);

    const next = await group.start(settings);
    expect(await group.seen(next, "started", hangs)).toMatchObject({ attempt: 1 });
    await next.request({ do: "open" });
    await group.emptied();
  });

  test("ends by itself when nothing runs", async () => {
    await group.open(engine);
    const worker = await group.start(settings);
    worker.kill("SIGTERM");

    expect(await worker.ended).toEqual(ENDED_BY_ITSELF);
  });

  test("ends by itself in the middle of a backlog, and loses nothing", async () => {
    await group.open(engine);
    const triggered = await group.trigger("note", 2000);
    const worker = await group.start({ ...settings, worker: { concurrency: 5 } });
    await group.seen(worker, "ran");
    worker.kill("SIGTERM");

    expect(await worker.ended).toEqual(ENDED_BY_ITSELF);
    const { pending, processing } = await group.statistics();
    expect(processing).toBe(0);
    expect(pending + worker.runs.length).toBe(triggered.length);
  });

  test("ends by itself after it has only triggered", async () => {
    await group.open(engine);
    const process = await group.start({ ...settings, worker: false });
    const triggered = await process.request({ do: "trigger", hook: "note", count: 10 });
    await process.request({ do: "stop" });

    expect(await process.ended).toEqual(ENDED_BY_ITSELF);
    expect(await group.statistics()).toMatchObject({ pending: triggered.length });
    expect(process.output).toBe("");
  });
});
