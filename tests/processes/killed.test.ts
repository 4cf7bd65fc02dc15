import { describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { useProcessGroup } from "../support/process-group.ts";

const HOUR_MS = 3_600_000;
/** As often as it may run: once, and three retries. */
const POISON_ATTEMPTS = 4;

describe.each(ENGINES)("a process that is killed ($name)", (engine) => {
  const group = useProcessGroup();

  test("leaves its work to the next process of its machine, which doesn't wait for the lease", async () => {
    await group.open(engine);
    const killed = await group.start({ worker: { leaseMs: HOUR_MS }, keepCompleted: true });
    const [held = ""] = await group.trigger("hold");
    await group.seen(killed, "started", held);
    const neighbours = await group.trigger("note", 10);
    killed.kill("SIGKILL");
    await killed.ended;

    const next = await group.start({ worker: { leaseMs: HOUR_MS }, keepCompleted: true });
    const second = await group.seen(next, "started", held);
    await next.request({ do: "open" });
    await group.emptied();

    expect(second.attempt).toBe(2);
    expect(await group.app.durableHooks.get(held)).toMatchObject({ status: "completed", attempts: 2 });
    const ran = new Set(group.runs.filter(({ event }) => event === "ran").map(({ hookId }) => hookId));
    expect(ran).toEqual(new Set(neighbours));
  });

  test("leaves its work to a process that runs already, after the lease", async () => {
    await group.open(engine);
    const killed = await group.start({ worker: { leaseMs: 3000 } });
    const [held = ""] = await group.trigger("hold");
    await group.seen(killed, "started", held);
    const other = await group.start({ worker: { leaseMs: 3000 } });
    killed.kill("SIGKILL");
    await killed.ended;

    const second = await group.seen(other, "started", held);
    await other.request({ do: "open" });
    await group.emptied();

    expect(second.attempt).toBe(2);
    expect(group.runs.filter(({ event }) => event === "ended")).toEqual([{ ...second, event: "ended" }]);
  });

  test("keeps its work for as long as it lives, however often the lease would have run out", async () => {
    await group.open(engine);
    const leaseMs = 4000; // long enough for a machine that is slow to renew it
    const owner = await group.start({ worker: { leaseMs } });
    const [held = ""] = await group.trigger("hold");
    await group.seen(owner, "started", held);
    const [claimed] = (await group.app.durableHooks.list({ status: "processing" })).hooks;
    const other = await group.start({ worker: { leaseMs } });
    // A later lease than the first two can have been: it has been renewed while the other process was looking.
    const later = (claimed?.availableAt?.getTime() ?? 0) + 2 * leaseMs;
    await eventually(async () =>
      expect((await group.app.durableHooks.get(held))?.availableAt?.getTime()).toBeGreaterThan(later),
    );
    await owner.request({ do: "open" });
    await group.emptied();

    expect(other.runs).toEqual([]);
    expect(owner.runs.map(({ event, attempt }) => [event, attempt])).toEqual([
      ["started", 1],
      ["ended", 1],
    ]);
  });

  test("by a hook of its own, again and again, ends with a dead letter while its neighbours complete", async () => {
    await group.open(engine);
    const before = await group.trigger("note", 20);
    const [poison = ""] = await group.trigger("poison");
    const after = await group.trigger("note", 20);
    // A supervisor starts it again each time.
    for (let ended = 0; ended < POISON_ATTEMPTS; ended++) {
      const worker = group.launch({ worker: { concurrency: 10, leaseMs: HOUR_MS } });
      expect((await worker.ended).signal).toBe("SIGKILL");
    }
    const last = await group.start({ worker: { concurrency: 10, leaseMs: HOUR_MS } });
    const late = await group.trigger("note", 20);
    await group.emptied();

    const starts = group.runs.filter(({ event, hookId }) => event === "started" && hookId === poison);
    expect(starts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
    expect(last.running).toBe(true);
    const { hooks: deadLetters } = await group.deadLetters();
    expect(deadLetters).toHaveLength(1);
    expect(deadLetters[0]).toMatchObject({ id: poison, error: { code: "hook.crash_loop" } });
    const ran = new Set(group.runs.filter(({ event }) => event === "ran").map(({ hookId }) => hookId));
    expect(ran).toEqual(new Set([...before, ...after, ...late]));
  });
});
