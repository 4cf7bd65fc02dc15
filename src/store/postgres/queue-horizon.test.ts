import { expect, test } from "vitest";
import { ControlledClock } from "../../testing/controlled-clock.ts";
import { hookLanes, instanceLanes } from "../queue/lanes.ts";
import { BEFORE_ALL_RANKS } from "../queue/rank.ts";
import { WorkClass } from "../queue/work-class.ts";
import { askNextWake } from "./next-wake.ts";
import { QueueHorizon } from "./queue-horizon.ts";

const names = ["greet"];
const lanes = hookLanes([{ namespace: "app", names }], true);
const LATER = 1_000_000;

/** What is saved up for whole looks at first. */
const SAVED_MS = 300;

/** A horizon of looks that took so long together, after which nothing was due at this time. */
function lookedFor(milliseconds: number) {
  const clock = new ControlledClock();
  const horizon = new QueueHorizon(clock);
  horizon.took(milliseconds);
  horizon.saw(lanes, { now: LATER, remaining: null });
  return { clock, horizon };
}

const SLOW = SAVED_MS + 50;

test("looks are whole while they take little of the time", () => {
  const { clock, horizon } = lookedFor(SAVED_MS);
  for (let look = 0; look < 100; look++) {
    expect(horizon.since(lanes)).toBeNull();
    clock.advance(1000);
    horizon.took(25);
  }
});

test("a worker with little to do can afford slow looks, many at a time", () => {
  const { clock, horizon } = lookedFor(0);
  for (let minute = 0; minute < 10; minute++) {
    for (let look = 0; look < 10; look++) {
      expect(horizon.since(lanes)).toBeNull();
      horizon.took(25);
    }
    clock.advance(60_000);
  }
});

test("after slow looks, the next ones begin half a second before the time at which nothing was due", () => {
  expect(lookedFor(SLOW).horizon.since(lanes)).toEqual(lanes.map(() => LATER - 500));
});

test("a due row stays in sight until it is claimed", () => {
  const { horizon } = lookedFor(SLOW);
  horizon.saw(lanes, { now: LATER + 60_000, remaining: -50_000 });
  expect(horizon.since(lanes)).toEqual(lanes.map(() => LATER + 10_000 - 500));
});

test("a row that is due later doesn't hide one that becomes due before it", () => {
  const { horizon } = lookedFor(SLOW);
  horizon.saw(lanes, { now: LATER, remaining: 3_600_000 });
  expect(horizon.since(lanes)).toEqual(lanes.map(() => LATER - 500));
});

test("slow looks that are whole take a twentieth of the time at most, and are half a minute apart at most", () => {
  const { clock, horizon } = lookedFor(SLOW);
  expect(horizon.pauseMs).toBe(50 * 40);
  clock.advance(50 * 40);
  expect(horizon.since(lanes)).toBeNull();
  horizon.took(50);
  expect(horizon.since(lanes)).not.toBeNull();
  expect(lookedFor(60_000).horizon.pauseMs).toBe(30_000);
});

test("lanes that were never looked at are looked at as a whole, and so are those of other names", () => {
  const { horizon } = lookedFor(SLOW);
  expect(horizon.since(hookLanes([{ namespace: "other", names }], true))).toBeNull();
  expect(horizon.since(hookLanes([{ namespace: "app", names: ["greet", "wave"] }], true))).toBeNull();
});

test("lanes of priorities, in which every time is in the past, are read from their start, and lines as a whole", () => {
  const { horizon } = lookedFor(SLOW);
  const instances = instanceLanes([{ namespace: "app", names }], true);
  horizon.saw(instances, { now: LATER, remaining: null });
  const since = horizon.since(instances);
  expect(instances.map((lane, index) => [lane.class, since?.[index]])).toEqual([
    [WorkClass.leased, LATER - 500],
    [WorkClass.continuing, LATER - 500],
    [WorkClass.urgent, BEFORE_ALL_RANKS],
    [WorkClass.fresh, LATER - 500],
    [WorkClass.patient, BEFORE_ALL_RANKS],
  ]);
  expect(horizon.since(hookLanes([{ namespace: "app", names }], false, true))).toBeNull();
});

test("an answer about a part of the lanes ends after a second, or when all of them are looked at, and tells no names", async () => {
  const { clock, horizon } = lookedFor(SLOW);
  const found: unknown[] = [];
  const unclaimed = { namespaces: ["app"], depth: 100, found: (due: unknown) => found.push(due) };
  const ask = (remaining: number | null) =>
    askNextWake("hook", lanes, { unclaimed }, horizon, async () => ({
      rows: [{ now: LATER, remaining, took: 0 }],
      rowCount: 1,
    }));

  expect(await ask(null)).toBe(1000);
  clock.advance(1500);
  expect(await ask(null)).toBe(500);
  expect(await ask(10)).toBe(10);
  expect(found).toEqual([]);
});
