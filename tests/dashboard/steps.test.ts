import { describe, expect, test } from "vitest";
import type { Entry } from "../../dashboard/data/types.ts";
import { toSteps } from "../../dashboard/instance/steps.ts";
import { TimeScale } from "../../dashboard/instance/time-scale.ts";

const START = Date.parse("2026-03-01T00:00:00Z");
const at = (ms: number) => new Date(START + ms).toISOString();
const ended = (until: number) => ({ startedAt: START, until: START + until, finished: true });

let position = 0;
function entry(ms: number, kind: string, name: string, more: Partial<Entry> = {}): Entry {
  position += 1;
  return { run: 1, position, at: at(ms), kind, type: "do", name, count: 1, ...more };
}

const spans = (steps: ReturnType<typeof toSteps>) =>
  steps.map(({ name, state, depth, segments }) => [
    name,
    state,
    depth,
    segments.map(({ kind, from, to, failed }) => `${failed ? "failed " : ""}${kind} ${from - START}–${to - START}`),
  ]);

describe("the steps of a run", () => {
  test("begin after the commit before their end, if the journal doesn't say when", () => {
    const steps = toSteps(
      [entry(100, "completed", "a"), entry(250, "completed", "b"), entry(250, "completed", "c")],
      ended(250),
    );
    expect(spans(steps)).toEqual([
      ["a", "complete", 0, ["work 0–100"]],
      ["b", "complete", 0, ["work 100–250"]],
      ["c", "complete", 0, ["work 100–250"]],
    ]);
    expect(steps.every(({ segments }) => segments[0]?.soft)).toBe(true);
  });

  test("show attempts, the time until the retry, and the rollback", () => {
    const steps = toSteps(
      [
        entry(10, "undoable", "pay", { attempt: 1 }),
        entry(50, "failed", "pay", { attempt: 1, dueAt: at(90) }),
        entry(120, "failed", "pay", { attempt: 2 }),
        entry(120, "rollingBack", "order", { type: "rollback" }),
        entry(150, "rolledBack", "pay", { attempt: 1 }),
      ],
      ended(150),
    );
    expect(spans(steps)).toEqual([
      ["pay", "rolledBack", 0, ["failed work 10–50", "retry 50–90", "failed work 90–120", "rollback 120–150"]],
      ["order", "rolledBack", 0, ["rollback 120–150"]],
    ]);
  });

  test("show waits until they end, and what hasn't ended until now", () => {
    const now = { startedAt: START, until: START + 900, finished: false };
    const steps = toSteps(
      [
        entry(5, "waiting", "nap", { type: "sleep", dueAt: at(400) }),
        entry(400, "completed", "nap", { type: "sleep" }),
        entry(400, "waiting", "answer", { type: "waitForEvent", awaits: "yes" }),
      ],
      now,
      { type: "do", name: "poll", count: 1, since: at(700) },
    );
    expect(spans(steps)).toEqual([
      ["nap", "complete", 0, ["sleep 5–400"]],
      ["answer", "waiting", 0, ["wait 400–900"]],
      ["poll", "running", 0, ["work 700–900"]],
    ]);
  });

  test("follow the step that contains them, although it ends later", () => {
    const steps = toSteps(
      [
        entry(10, "completed", "inner", { inside: "do:outer#1" }),
        entry(20, "completed", "after"),
        entry(30, "completed", "outer"),
      ],
      ended(30),
    );
    expect(steps.map(({ name, depth }) => [name, depth])).toEqual([
      ["after", 0],
      ["outer", 0],
      ["inner", 1],
    ]);
  });

  test("name the instance that they have created, unless it is hidden", () => {
    const steps = toSteps(
      [
        entry(10, "completed", "receipt", { type: "create", output: "r-1" }),
        entry(20, "completed", "receipt", { type: "create", count: 2, output: "[REDACTED]" }),
      ],
      ended(20),
    );
    expect(steps.map(({ child }) => child)).toEqual([{ workflowName: "receipt", id: "r-1" }, null]);
  });

  test("that wait for a child are called after its workflow, and show its steps only if no other step does", () => {
    const steps = toSteps(
      [
        entry(10, "completed", "receipt", { type: "create", output: "r-1" }),
        entry(10, "completed", "receipt", { type: "create", count: 2, output: "[REDACTED]" }),
        entry(20, "completed", "receipt/r-1", { type: "result" }),
        entry(20, "completed", "receipt/r-2", { type: "result" }),
      ],
      ended(20),
    );
    expect(steps.map(({ title, child, expands }) => [title, child?.id, expands])).toEqual([
      ["receipt", "r-1", true],
      ["receipt", undefined, false],
      ["receipt", "r-1", false],
      ["receipt", "r-2", true],
    ]);
  });
});

describe("the scale of a waterfall", () => {
  const busy = (from: number, to: number) => ({
    segments: [{ kind: "work" as const, from: START + from, to: START + to, failed: false, soft: false, open: false }],
  });
  const DAY = 86_400_000;

  test("gives idle days little room, so that milliseconds of work can be seen", () => {
    const scale = new TimeScale([busy(0, 100), busy(2 * DAY, 2 * DAY + 100)], START, START + 2 * DAY + 100, true);
    expect(scale.stretches.filter(({ collapsed }) => collapsed).length).toBe(1);
    expect(scale.place(START + 100)).toBeGreaterThan(0.4);
    expect(scale.place(START + 2 * DAY)).toBeLessThan(0.6);
    expect(scale.place(START + 2 * DAY + 100)).toBeCloseTo(1);
  });

  test("is true to time without collapsing, and leads back from every place to its time", () => {
    const plain = new TimeScale([busy(0, 100), busy(900, 1000)], START, START + 1000, false);
    expect(plain.place(START + 500)).toBeCloseTo(0.5);
    for (const collapse of [true, false]) {
      const scale = new TimeScale([busy(0, 100), busy(DAY, DAY + 300)], START, START + DAY + 300, collapse);
      for (const ms of [0, 50, 100, DAY, DAY + 299])
        expect(scale.timeAt(scale.place(START + ms)) - START).toBeCloseTo(ms, 0);
    }
  });

  test("never has a place beyond its ends", () => {
    const scale = new TimeScale([], START, START, true);
    for (const ms of [-10, 0, 10]) {
      expect(scale.place(START + ms)).toBeGreaterThanOrEqual(0);
      expect(scale.place(START + ms)).toBeLessThanOrEqual(1);
    }
  });
});
