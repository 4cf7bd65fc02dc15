import { describe, expect, test } from "vitest";
import type { ScheduleFiring, ScheduleKey } from "../../src/store/schedules/schedule-records.ts";
import { DRIVERS } from "../support/engines.ts";
import { useInstances } from "../support/use-instances.ts";

const HOUR = 3_600_000;

describe.each(DRIVERS)("schedules in the store, on $name,", (engine) => {
  const subject = useInstances(engine);
  const statements = () => subject.store.store.engine.schedules;
  const key = (overrides: Partial<ScheduleKey> = {}): ScheduleKey => ({
    namespace: subject.namespace,
    workflow: "checkout",
    name: "daily",
    cron: "0 9 * * *",
    timezone: "UTC",
    ...overrides,
  });
  const firing = (dueAt: number, overrides: Partial<ScheduleFiring> = {}): ScheduleFiring => ({
    ...key(),
    dueAt,
    nextAt: dueAt + HOUR,
    lastAt: dueAt,
    instance: subject.instance({ id: `daily:${dueAt}` }),
    ...overrides,
  });
  const only = async () => (await statements().list([subject.namespace])).schedules;

  test("one that is known is left alone", async () => {
    await statements().insert([{ ...key(), dueAt: subject.now + HOUR }]);
    const confirmedAt = subject.now;
    subject.clock.advance(5);
    await statements().insert([{ ...key(), dueAt: subject.now + 2 * HOUR }]);
    const stored = { ...key(), dueAt: confirmedAt + HOUR, lastAt: null, paused: false, confirmedAt };
    expect(await statements().list([subject.namespace])).toEqual({ at: subject.now, schedules: [stored] });
    expect(await statements().list([`${subject.namespace}-other`])).toEqual({ at: subject.now, schedules: [] });
  });

  test("firing moves it on and creates the instance", async () => {
    const due = subject.now;
    await statements().insert([{ ...key(), dueAt: due }]);
    expect(await statements().fire(firing(due))).toBe(true);
    expect(await only()).toMatchObject([{ dueAt: due + HOUR, lastAt: due }]);
    expect(await subject.find(`daily:${due}`)).toMatchObject({ status: "queued" });
  });

  test("one of many processes fires a schedule at a time", async () => {
    const due = subject.now;
    await statements().insert([{ ...key(), dueAt: due }]);
    const fired = await Promise.all(Array.from({ length: 8 }, () => statements().fire(firing(due))));
    expect(fired.filter(Boolean)).toHaveLength(1);
    expect(await subject.list()).toHaveLength(1);
  });

  test("a time that hasn't come, has been fired or is paused isn't fired", async () => {
    const due = subject.now + HOUR;
    await statements().insert([{ ...key(), dueAt: due }]);
    expect(await statements().fire(firing(due))).toBe(false);
    expect(await statements().fire(firing(due - 2 * HOUR))).toBe(false);
    expect(await statements().pause({ ...key(), name: null })).toBe(1);
    subject.clock.advance(HOUR);
    expect(await statements().fire(firing(due))).toBe(false);
    expect(await statements().fire(firing(due, key({ name: "another" })))).toBe(false);
    expect(await subject.list()).toEqual([]);
  });

  test("a process that knows an older time fires nothing, though the schedule is due again", async () => {
    const due = subject.now - 3 * HOUR;
    await statements().insert([{ ...key(), dueAt: due }]);
    expect(await statements().fire(firing(due))).toBe(true); // its next time has passed, too
    expect(await statements().fire(firing(due, { instance: subject.instance({ id: "again" }) }))).toBe(false);
    expect(await only()).toMatchObject([{ dueAt: due + HOUR, lastAt: due }]);
    expect(await subject.list()).toHaveLength(1);
  });

  test("an instance that is there already is left alone", async () => {
    const due = subject.now;
    await statements().insert([{ ...key(), dueAt: due }]);
    await subject.create({ id: `daily:${due}`, params: '"mine"' });
    expect(await statements().fire(firing(due))).toBe(true);
    expect(await subject.list()).toMatchObject([{ params: '"mine"' }]);
  });

  test("if the instance can't be created, nothing is moved on", async () => {
    const due = subject.now;
    await statements().insert([{ ...key(), dueAt: due }]);
    const broken = subject.instance({ params: "not JSON" });
    await expect(statements().fire(firing(due, { instance: broken }))).rejects.toMatchObject({
      code: "store.rejected",
    });
    expect(await only()).toMatchObject([{ dueAt: due, lastAt: null }]);
    expect(await subject.list()).toEqual([]);
  });

  test("only schedules that no process has confirmed for long are retired", async () => {
    await statements().insert([
      { ...key(), dueAt: 1 },
      { ...key({ name: "gone" }), dueAt: 1 },
    ]);
    subject.clock.advance(HOUR);
    await statements().confirm([key()]);
    expect(await statements().retire([key(), key({ name: "gone" })], subject.now)).toBe(1);
    expect(await only()).toMatchObject([{ name: "daily", confirmedAt: subject.now }]);
  });

  test("resuming takes those that are paused", async () => {
    await statements().insert([
      { ...key({ name: "a" }), dueAt: 1 },
      { ...key({ name: "b" }), dueAt: 1 },
    ]);
    await statements().pause(key({ name: "b" }));
    await statements().resume(["a", "b"].map((name) => ({ ...key({ name }), dueAt: 2 })));
    expect(await only()).toMatchObject([
      { name: "a", dueAt: 1, paused: false },
      { name: "b", dueAt: 2, paused: false },
    ]);
  });
});
