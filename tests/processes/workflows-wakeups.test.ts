import { describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { idsOf, useWorkflowGroup } from "../support/workflow-group.ts";

/** No process polls for as long as a test takes: only a wake-up explains that something happens. */
const NO_POLLING = { pollIntervalMs: 3_600_000 };
/** Sooner than those who wait look by themselves. */
const BEFORE_THE_POLL_MS = 3500;

describe.each(ENGINES)("processes that don't poll ($name)", (engine) => {
  const group = useWorkflowGroup();

  test("get the results of what another process runs", async () => {
    await group.open(engine);
    await group.start({ worker: NO_POLLING });
    const asking = await group.start({ worker: false });
    const ids = idsOf("asked", 5);
    await group.create("wait", ["never", ...ids], { timeout: "3600 seconds", times: 1 });
    for (const id of ["never", ...ids]) await group.until("wait", id, "waiting");
    const ask = (id: string, timeoutMs: number) => asking.request({ do: "result", program: "wait", id, timeoutMs });
    ask("never", 3_600_000).catch(() => {}); // so that it listens all the time
    const early: unknown[] = [];
    for (const id of ids) {
      const result = ask(id, BEFORE_THE_POLL_MS).then(
        (output) => early.push(output),
        () => {}, // told late, by a machine that is slow
      );
      await (await group.app.workflows.wait.get(id)).sendEvent({ type: "go", payload: id });
      await result;
    }
    expect(early).not.toEqual([]);
  });

  test("run what another process creates, and what it has no room for", async () => {
    await group.open(engine);
    const busy = await group.start({ worker: { ...NO_POLLING, concurrency: 1 } });
    await busy.request({ do: "create", program: "hold", ids: ["held"], params: undefined });
    await busy.seen("began", "held", "held");
    const free = await group.start({ worker: NO_POLLING });
    for (const id of idsOf("next", 5)) {
      await busy.request({ do: "create", program: "steps", ids: [id], params: 1 });
      await free.seen("ended", id, "step");
    }
    for (const id of idsOf("other", 5)) {
      await group.create("steps", [id], 1);
      await free.seen("ended", id, "step");
    }
  });

  test("learn of events that another process sends to a run that they hold in memory", async () => {
    await group.open(engine);
    const runner = await group.start({ worker: NO_POLLING });
    const sender = await group.start({ worker: false });
    const times = 10; // each would last until its deadline without a wake-up
    let early = 0;
    await group.create("wait", ["held"], { timeout: "4.9 seconds", times });
    await runner.seen("ended", "held", "first");
    for (let payload = 0; payload < times; payload++) {
      await sender.request({ do: "event", program: "wait", id: "held", payload });
      const received = async () => {
        const entries = await group.journal("wait", "held");
        return entries.filter(({ kind }) => kind === "received").length > payload;
      };
      const inTime = await waitUntil("it was received", received, BEFORE_THE_POLL_MS).catch(() => false);
      if (inTime) early++;
      else await waitUntil("it was received, by a machine that is slow", received);
    }
    await group.until("wait", "held", "complete");

    expect(early).toBeGreaterThan(0);
    expect(await group.output("wait", "held")).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test("take up a parked run that another process sends an event to", async () => {
    await group.open(engine);
    const runner = await group.start({ worker: NO_POLLING });
    const sender = await group.start({ worker: false });
    const times = 3;
    await group.create("wait", ["parked"], { timeout: "3600 seconds", times });
    for (let payload = 0; payload < times; payload++) {
      await group.until("wait", "parked", "waiting");
      await sender.request({ do: "event", program: "wait", id: "parked", payload });
      await waitUntil("it was received", async () => {
        const entries = await group.journal("wait", "parked");
        return entries.filter(({ kind }) => kind === "received").length > payload;
      });
    }
    await runner.seen("ended", "parked", "last");
    await group.until("wait", "parked", "complete");

    expect(await group.output("wait", "parked")).toEqual([0, 1, 2]);
  });
});
