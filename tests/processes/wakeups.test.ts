import { describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { useProcessGroup } from "../support/process-group.ts";

/** No process polls for as long as a test takes: only a wake-up explains that something runs. */
const NO_POLLING = { pollIntervalMs: 3_600_000 };

describe.each(ENGINES)("a process that doesn't poll ($name)", (engine) => {
  const group = useProcessGroup();

  test("is woken by each trigger of another process", async () => {
    await group.open(engine);
    const worker = await group.start({ worker: NO_POLLING });
    for (let number = 0; number < 10; number++) {
      const [id] = await group.trigger("note");
      await group.seen(worker, "ran", id);
    }
  });

  test("is woken for what another process has no place for", async () => {
    await group.open(engine);
    const busy = await group.start({ worker: { ...NO_POLLING, concurrency: 1 } });
    await busy.request({ do: "trigger", hook: "hold", count: 1 });
    await group.seen(busy, "started");
    const free = await group.start({ worker: NO_POLLING });
    for (let number = 0; number < 5; number++) {
      const [id] = await busy.request({ do: "trigger", hook: "note", count: 1 });
      await group.seen(free, "ran", id);
    }
  });

  test("learns of what another process has triggered for later", async () => {
    await group.open(engine);
    const worker = await group.start({ worker: NO_POLLING });
    const { id } = await group.app.hooks.note.trigger("", { processAt: Date.now() + 500 });

    await group.seen(worker, "ran", id);
  });

  test("is woken by the last trigger of a process that ends right after it", async () => {
    await group.open(engine);
    const worker = await group.start({ worker: NO_POLLING });
    for (let number = 0; number < 3; number++) {
      const process = await group.start({ worker: false });
      const ids = await process.request({ do: "trigger", hook: "note", count: 3, inTurn: true });
      await process.request({ do: "stop" });
      await process.ended;
      for (const id of ids) await group.seen(worker, "ran", id);
    }
  });

  test("is woken by a dead letter that an operator redrives", async () => {
    await group.open(engine);
    const worker = await group.start({ worker: NO_POLLING });
    const { id } = await group.app.hooks.refuse.trigger("");
    await eventually(async () => expect((await group.app.durableHooks.get(id))?.status).toBe("failed"));
    await group.app.durableHooks.redrive(id);

    await eventually(() => expect(worker.runs.filter(({ hookId }) => hookId === id)).toHaveLength(2));
  });
});
