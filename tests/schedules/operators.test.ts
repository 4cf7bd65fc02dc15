import { describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { useWorkflows, withTime } from "../workflows/support/use-workflows.ts";
import { BEGIN, DAY, firesNextAt, HOUR, idsOf, moveTo, scheduled, stored } from "./support/scheduled.ts";

describe.each(ENGINES)("looking after schedules on $name", (engine) => {
  const subject = useWorkflows(engine);

  test("a paused one doesn't fire, and doesn't make up for that when it is resumed", async () => {
    const { workflow, events } = scheduled("0 * * * *");
    const process = subject.start({ report: workflow });
    await stored(process);
    await process.fragment.schedules.pause({ workflow: "report" });
    expect(await stored(process)).toMatchObject([{ paused: true, nextAt: null }]);
    moveTo(subject, BEGIN + DAY + HOUR / 2);
    await process.drain();
    expect(await idsOf(process)).toEqual([]);

    await process.fragment.schedules.resume({ workflow: "report", name: "0_x_x_x_x" });
    await firesNextAt(process, BEGIN + DAY + HOUR);
    moveTo(subject, BEGIN + DAY + HOUR);
    await withTime(subject.clock, () => expect(events).toHaveLength(1));
    expect(await idsOf(process)).toEqual(["0_x_x_x_x:2031-05-07T13:00:00.000Z"]);
  });

  test("pausing and resuming reach the processes that fire", async () => {
    const { workflow, events } = scheduled("0 * * * *");
    const runs = subject.start({ report: workflow });
    const operates = subject.process({ report: workflow });
    await stored(runs);
    await operates.fragment.schedules.pause({ workflow: "report" });
    moveTo(subject, BEGIN + HOUR + HOUR / 2);
    await operates.fragment.schedules.resume({ workflow: "report" });
    moveTo(subject, BEGIN + 2 * HOUR);
    await withTime(subject.clock, () => expect(events).toHaveLength(1));

    expect(await idsOf(runs)).toEqual(["0_x_x_x_x:2031-05-06T14:00:00.000Z"]);
  });

  test("pausing what is paused and resuming what isn't change nothing", async () => {
    const { workflow } = scheduled("0 * * * *");
    const process = subject.start({ report: workflow });
    const { schedules } = process.fragment;
    await stored(process);
    await schedules.resume({ workflow: "report" });
    await firesNextAt(process, BEGIN + HOUR);
    await schedules.pause({ workflow: "report" });
    await schedules.pause({ workflow: "report" });
    expect(await schedules.list()).toMatchObject([{ paused: true }]);
  });

  test("one of several is paused by its name, all of them without", async () => {
    const { workflow } = scheduled({ cron: "0 * * * *", name: "a" }, { cron: "1 * * * *", name: "b" });
    const process = subject.start({ report: workflow });
    const { schedules } = process.fragment;
    await stored(process, 2);
    await schedules.pause({ workflow: "report", name: "b" });
    expect(await schedules.list()).toMatchObject([{ paused: false }, { paused: true }]);
    await schedules.pause({ workflow: "report" });
    expect(await schedules.list()).toMatchObject([{ paused: true }, { paused: true }]);
  });

  test("runNow creates an instance at once, and leaves the schedule as it is", async () => {
    const { workflow, events } = scheduled({ cron: "0 9 * * *", name: "daily", params: 7 });
    const process = subject.start({ report: workflow });
    await stored(process);
    const instance = await process.fragment.schedules.runNow({ workflow: "report" });
    await instance.result();

    expect(instance.id).toMatch(/^daily:[0-9a-z]{26}$/);
    expect(events).toMatchObject([{ payload: 7, schedule: { cron: "0 9 * * *", scheduledTime: BEGIN } }]);
    await firesNextAt(process, BEGIN + 21 * HOUR);
    expect(await stored(process)).toMatchObject([{ lastAt: null }]);
  });

  test("reports schedules that don't exist", async () => {
    const { workflow } = scheduled({ cron: "0 9 * * *", name: "a" }, { cron: "1 9 * * *", name: "b" });
    const { schedules } = subject.process({ report: workflow }).fragment;
    await expect(schedules.pause({ workflow: "report" })).rejects.toMatchObject({ code: "schedule.not_found" });
    await expect(schedules.resume({ workflow: "report" })).rejects.toMatchObject({ code: "schedule.not_found" });
    await expect(schedules.pause({ workflow: "nothing" })).rejects.toMatchObject({ code: "workflow.not_found" });
    await expect(schedules.runNow({ workflow: "report" })).rejects.toThrow(/several schedules; name one.*a, b/);
    await expect(schedules.runNow({ workflow: "report", name: "c" })).rejects.toThrow(/no such schedule/);
    await expect(schedules.pause({ work: "report" } as never)).rejects.toMatchObject({ code: "options.invalid" });
  });

  test("a schedule whose params aren't accepted when it fires leaves that time out, and says so", async () => {
    const { workflow, events } = scheduled("0 * * * *");
    const refusing = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: async () => ({ issues: [{ message: "no" }] }),
      },
    } as const;
    const process = subject.start({ report: { ...workflow, input: refusing } });
    await stored(process);
    moveTo(subject, BEGIN + HOUR);
    await withTime(subject.clock, () =>
      expect(process.logs.messages("error").join()).toMatch(/skipped one of its times/),
    );
    await firesNextAt(process, BEGIN + 2 * HOUR);
    expect(events).toEqual([]);
  });
});
