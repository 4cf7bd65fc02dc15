import { describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { idsOf, useWorkflowGroup } from "../support/workflow-group.ts";
import type { WorkflowProcess } from "../support/workflow-process.ts";
import { type BodyEntry, SLOTS, STARTS } from "../support/workflow-programs.ts";

const HOUR_MS = 3_600_000;
/** A slot that was freed is announced. Only the leases of a killed process may have to be found by the safety poll. */
const worker = { leaseMs: 3000, concurrency: 5 };
/** This worker doesn't poll while a test runs: what isn't announced to it isn't found. */
const deafWorker = { ...worker, pollIntervalMs: HOUR_MS };

/** How many bodies ran at a time, at most. What ran in a process that was killed ended then. */
function mostAtATime(processes: readonly { bodies: readonly BodyEntry[]; killedAt: number | null }[]): number {
  const changes: [at: number, change: number][] = [];
  for (const { bodies, killedAt } of processes) {
    const running = new Set<string>();
    for (const { event, instance, at } of bodies) {
      if (event === "aborted") continue;
      changes.push([at, event === "began" ? 1 : -1]);
      if (event === "began") running.add(instance);
      else running.delete(instance);
    }
    for (const _ of running) changes.push([killedAt ?? Number.POSITIVE_INFINITY, -1]);
  }
  changes.sort(([left, leftChange], [right, rightChange]) => left - right || leftChange - rightChange);
  let running = 0;
  let most = 0;
  for (const [, change] of changes) {
    running += change;
    most = Math.max(most, running);
  }
  return most;
}

describe.each(ENGINES)("limits that processes share ($name)", (engine) => {
  const group = useWorkflowGroup();

  test("are never exceeded, even when processes are killed, and freed slots go to waiting instances", async () => {
    await group.open(engine);
    const ids = idsOf("limited", 90);
    const killed = new Map<WorkflowProcess, number>();
    const processes = await Promise.all([1, 2, 3].map(() => group.start({ worker })));
    await group.create("limited", ids);
    for (let kills = 0; kills < 2; kills++) {
      // One process may have all the slots.
      const isBusy = (process: WorkflowProcess) => !killed.has(process) && process.began.length > 3;
      const victim = await waitUntil("a process has begun some", () => processes.find(isBusy));
      killed.set(victim, Date.now());
      victim.kill("SIGKILL");
      await victim.ended;
    }
    processes.push(await group.start({ worker }));
    await group.finished("limited", ids.length, 90_000);

    await group.expectComplete("limited", ids, ["work"]);
    const seen = processes.map((process) => ({ bodies: process.bodies, killedAt: killed.get(process) ?? null }));
    expect(mostAtATime(seen)).toBe(SLOTS);
  });

  test("let no more start in any period, by the database's time", async () => {
    await group.open(engine);
    await Promise.all([1, 2].map(() => group.start({ worker: deafWorker })));
    const ids = idsOf("rated", 3 * STARTS + 1);
    await group.create("rated", ids);
    await group.finished("rated", ids.length, 45_000);

    const { instances } = await group.app.workflows.rated.list({ limit: 100 });
    const starts = instances.map(({ startedAt }) => (startedAt as Date).getTime()).sort((left, right) => left - right);
    for (const [index, start] of starts.entries()) {
      if (index >= STARTS) expect(start - (starts[index - STARTS] as number)).toBeGreaterThanOrEqual(1000);
    }
  });
});
