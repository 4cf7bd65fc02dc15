import { describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { eventually, useWorkflows, withTime } from "../workflows/support/use-workflows.ts";
import { BEGIN, DAY, HOUR, idsOf, MINUTE, moveTo, scheduled, stored } from "./support/scheduled.ts";

describe.each(ENGINES)("code with other schedules on $name", (engine) => {
  const subject = useWorkflows(engine);

  test("runs beside the old code, each by its own times, and nothing fires twice", async () => {
    const old = scheduled({ cron: "0,30 * * * *", name: "often" });
    const young = scheduled({ cron: "30,45 * * * *", name: "often" });
    const first = subject.start({ report: old.workflow });
    await stored(first);
    const second = subject.start({ report: young.workflow });
    await stored(second, 2);
    const events = () => [...old.events, ...young.events].map(({ instanceId }) => instanceId.slice(-13, -8)).sort();
    moveTo(subject, BEGIN + 30 * MINUTE); // both have this time
    await withTime(subject.clock, () => expect(events()).toEqual(["12:30"]));
    moveTo(subject, BEGIN + 45 * MINUTE);
    await withTime(subject.clock, () => expect(events()).toEqual(["12:30", "12:45"]));
    moveTo(subject, BEGIN + 60 * MINUTE);
    await withTime(subject.clock, () => expect(events()).toEqual(["12:30", "12:45", "13:00"]));
    expect(await idsOf(first)).toHaveLength(3);
  });

  test("doesn't take back what newer code has stored when old code starts again", async () => {
    const old = scheduled("0 * * * *");
    const young = scheduled("15 * * * *");
    const first = subject.start({ report: old.workflow });
    await stored(first);
    const second = subject.start({ report: young.workflow });
    await stored(second, 2);
    await first.close();
    const again = subject.start({ report: old.workflow });
    for (let hour = 1; hour <= 3; hour++) {
      moveTo(subject, BEGIN + (hour - 1) * HOUR + 15 * MINUTE);
      await withTime(subject.clock, async () => expect(await idsOf(again)).toHaveLength(2 * hour - 1));
      moveTo(subject, BEGIN + hour * HOUR);
      await withTime(subject.clock, async () => expect(await idsOf(again)).toHaveLength(2 * hour));
    }
    expect(await stored(again, 2)).toMatchObject([{ cron: "0 * * * *" }, { cron: "15 * * * *" }]);
  });

  test("leaves schedules alone that it doesn't have, and deletes them after a day without confirmation", async () => {
    const old = scheduled("0 * * * *");
    const young = scheduled("15 * * * *");
    const first = subject.start({ report: old.workflow });
    await stored(first);
    await first.close();
    const second = subject.start({ report: young.workflow });
    expect(await stored(second, 2)).toMatchObject([{ inCode: false }, { inCode: true }]);
    moveTo(subject, BEGIN + 15 * MINUTE);
    await withTime(subject.clock, () => expect(young.events).toHaveLength(1));
    moveTo(subject, BEGIN + 2 * HOUR);
    await withTime(subject.clock, () => expect(young.events).toHaveLength(2));
    expect(await stored(second, 2)).toMatchObject([{ lastAt: null }, { lastAt: new Date(BEGIN + HOUR + 15 * MINUTE) }]);

    moveTo(subject, BEGIN + 25 * HOUR);
    await eventually(() => expect(stored(second)).resolves.toMatchObject([{ cron: "15 * * * *" }]));
    expect(old.events).toEqual([]);
    // Code that has it again begins with the next time: no process has missed times that no code had.
    const third = subject.start({ report: old.workflow });
    await stored(third, 2);
    const next = (await third.fragment.schedules.list()).find(({ cron }) => cron === "0 * * * *");
    expect(next?.nextAt?.getTime()).toBeGreaterThan(subject.clock.now());
  });

  test("that starts after all processes were down deletes no schedule in its first hour", async () => {
    const old = scheduled("0 12 * * *");
    const first = subject.start({ report: old.workflow });
    await stored(first);
    await first.close();
    subject.clock.advance(3 * DAY);
    const other = subject.start({ report: scheduled().workflow });
    await other.drain();
    await other.close(); // it has the workflow, and could run the instance
    const again = subject.start({ report: old.workflow });
    await withTime(subject.clock, () => expect(old.events).toHaveLength(1));
    expect(await idsOf(again)).toEqual(["0_12_x_x_x:2031-05-09T12:00:00.000Z"]);
  });

  test("keeps a pause when the times of a named schedule change", async () => {
    const old = scheduled({ cron: "0 * * * *", name: "often" });
    const young = scheduled({ cron: "15 * * * *", name: "often" }, { cron: "20 * * * *", name: "other" });
    const first = subject.start({ report: old.workflow });
    await stored(first);
    await first.fragment.schedules.pause({ workflow: "report", name: "often" });
    await first.close();
    const second = subject.start({ report: young.workflow });
    expect(await stored(second, 3)).toMatchObject([
      { cron: "0 * * * *", paused: true },
      { cron: "15 * * * *", paused: true, nextAt: null },
      { cron: "20 * * * *", paused: false },
    ]);
  });
});
