import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { useProcessGroup } from "../support/process-group.ts";
import { waitUntil } from "../support/wait-until.ts";

const REFUSED = "The outcome of a hook was not written";

describe.each(ENGINES)("a process that stood still past its lease ($name)", (engine) => {
  const group = useProcessGroup();

  test("finds its work taken over, and the other's result stands", async () => {
    await group.open(engine);
    const stopped = await group.start({ worker: { leaseMs: 3000 }, keepCompleted: true });
    const [held = ""] = await group.trigger("holdDeaf");
    await group.seen(stopped, "started", held);
    stopped.kill("SIGSTOP");

    const other = await group.start({ worker: { leaseMs: 3000 }, keepCompleted: true });
    const takenOver = await group.seen(other, "started", held);
    await other.request({ do: "open" });
    await group.emptied();
    const result = await group.app.durableHooks.get(held);
    stopped.kill("SIGCONT");
    await group.seen(stopped, "aborted", held);
    await stopped.request({ do: "open" });
    await group.seen(stopped, "ended", held);

    expect(takenOver.attempt).toBe(2);
    expect(result).toMatchObject({ status: "completed", attempts: 2 });
    // What the stopped process does next comes after whatever it might have written about the lost hook.
    await other.request({ do: "stop" });
    const [next = ""] = await group.trigger("note");
    await group.seen(stopped, "ran", next);
    await group.emptied();
    expect(await group.app.durableHooks.get(held)).toEqual(result);
    expect(stopped.runs.filter(({ event, hookId }) => event === "started" && hookId === held)).toHaveLength(1);
  });

  test("has the outcome refused that it comes to write too late", async () => {
    await group.open(engine);
    const gate = join(group.directory, "gate");
    const blocked = await group.start({ worker: { leaseMs: 3000 }, keepCompleted: true });
    // The handler keeps the event loop from noticing that the lease is over, and is done the moment that it ends.
    const [hook = ""] = await group.trigger("block", 1, gate);
    await group.seen(blocked, "started", hook);

    const other = await group.start({ worker: { leaseMs: 3000 }, keepCompleted: true });
    const takenOver = await group.seen(other, "started", hook);
    writeFileSync(gate, "");
    await group.emptied();
    await waitUntil("the late outcome was refused", () => blocked.output.includes(REFUSED));

    expect(takenOver.attempt).toBe(2);
    expect(other.output).not.toContain(REFUSED);
    expect(await group.app.durableHooks.get(hook)).toMatchObject({ status: "completed", attempts: 2 });
  });
});
