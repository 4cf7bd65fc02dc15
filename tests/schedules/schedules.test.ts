import { describe, expect, test, vi } from "vitest";
import { defineWorkflow, WorkflowEntrypoint, type WorkflowEvent } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { useWorkflows, withTime } from "../workflows/support/use-workflows.ts";
import {
  BEGIN,
  DAY,
  firesNextAt,
  HOUR,
  idsOf,
  MINUTE,
  moveTo,
  SECOND,
  scheduled,
  stored,
} from "./support/scheduled.ts";

describe.each(ENGINES)("schedules on $name", (engine) => {
  const subject = useWorkflows(engine);

  test("create an instance at each of their times, which knows its schedule", async () => {
    const { workflow, events } = scheduled("0 9 * * *");
    const process = subject.start({ report: workflow });
    const nine = BEGIN + 21 * HOUR;
    expect(await stored(process)).toEqual([
      {
        workflowName: "report",
        name: "0_9_x_x_x",
        cron: "0 9 * * *",
        timezone: "UTC",
        paused: false,
        nextAt: new Date(nine),
        lastAt: null,
        inCode: true,
      },
    ]);

    moveTo(subject, nine - SECOND);
    await process.processor.getNextWakeAt();
    expect(await idsOf(process)).toEqual([]);
    await withTime(subject.clock, () => expect(events).toHaveLength(1));
    await firesNextAt(process, nine + DAY);

    expect(events[0]).toMatchObject({
      instanceId: "0_9_x_x_x:2031-05-07T09:00:00.000Z",
      workflowName: "report",
      schedule: { cron: "0 9 * * *", scheduledTime: nine },
      payload: undefined,
    });
    expect(Number(events[0]?.timestamp)).toBeGreaterThanOrEqual(nine);
    moveTo(subject, nine + DAY);
    await withTime(subject.clock, () => expect(events).toHaveLength(2));
    expect(events[1]?.instanceId).toBe("0_9_x_x_x:2031-05-08T09:00:00.000Z");
    expect((await stored(process))[0]?.lastAt).toEqual(new Date(nine + DAY));
  });

  test("have time zones, params and names", async () => {
    const cron = "0 9 * * *";
    const { workflow, events } = scheduled({ cron, timezone: "Asia/Tokyo", params: { kind: "all" }, name: "daily" });
    const process = subject.start({ report: workflow });
    await firesNextAt(process, BEGIN + 12 * HOUR);
    moveTo(subject, BEGIN + 12 * HOUR);
    await withTime(subject.clock, () => expect(events).toHaveLength(1));

    expect(events[0]).toMatchObject({ instanceId: "daily:2031-05-07T00:00:00.000Z", payload: { kind: "all" } });
  });

  test("belong to classes, too, by the registry", async () => {
    const seen: unknown[] = [];
    class Report extends WorkflowEntrypoint<unknown, { kind: string }> {
      async run(event: WorkflowEvent<{ kind: string }>) {
        seen.push([event.payload, event.schedule]);
      }
    }
    const schedules = [{ cron: "*/5 * * * *", params: { kind: "class" } }];
    const process = subject.start({ report: { name: "report", workflow: Report, schedules } });
    await stored(process as never);
    moveTo(subject, BEGIN + 5 * MINUTE);
    await withTime(subject.clock, () => expect(seen).toHaveLength(1));

    expect(seen).toEqual([[{ kind: "class" }, { cron: "*/5 * * * *", scheduledTime: BEGIN + 5 * MINUTE }]]);
  });

  test("fire once, however many processes look", async () => {
    const { workflow, events } = scheduled("* * * * *");
    const processes = [1, 2, 3].map(() => subject.start({ report: workflow }));
    const [first] = processes as [(typeof processes)[0]];
    await stored(first);
    for (let minute = 1; minute <= 5; minute++) {
      moveTo(subject, BEGIN + minute * MINUTE);
      await withTime(subject.clock, () => expect(events).toHaveLength(minute));
    }

    const minutes = ["01", "02", "03", "04", "05"];
    expect(await idsOf(first)).toEqual(minutes.map((minute) => `x_x_x_x_x:2031-05-06T12:${minute}:00.000Z`));
    expect(new Set(events.map(({ instanceId }) => instanceId)).size).toBe(5);
  });

  test("fire once for all times that no process was running for, with the last of them", async () => {
    const { workflow, events } = scheduled("0 * * * *");
    const before = subject.start({ report: workflow });
    await stored(before);
    await before.close();
    subject.clock.advance(3 * DAY + 30 * MINUTE);

    const after = subject.start({ report: workflow });
    await withTime(subject.clock, () => expect(events).toHaveLength(1));
    await firesNextAt(after, BEGIN + 3 * DAY + HOUR);
    expect(await idsOf(after)).toEqual(["0_x_x_x_x:2031-05-09T12:00:00.000Z"]);
  });

  test("fire while there is no place for what they create", async () => {
    const release = Promise.withResolvers<void>();
    const { workflow } = scheduled("* * * * *");
    const endless = defineWorkflow({ name: "endless" }, async (_event, step) => {
      await step.do("wait", { timeout: "1 day" }, () => release.promise);
    });
    const process = subject.start({ report: workflow, endless }, { concurrency: 1 });
    await stored(process);
    await process.workflows.endless.create();
    for (let minute = 1; minute <= 2; minute++) {
      moveTo(subject, BEGIN + minute * MINUTE - 40 * SECOND); // shorter than a lease
      await subject.clock.advanceAndSettle(20 * SECOND);
      await withTime(subject.clock, async () => expect(await idsOf(process)).toHaveLength(minute));
    }
    release.resolve();
  });

  test("ask the database nothing between their times but a slow look", async () => {
    const { workflow } = scheduled("0 9 * * *");
    const process = subject.start({ report: workflow });
    await stored(process);
    const list = vi.spyOn(process.store.engine.schedules, "list");
    for (let round = 0; round < 30; round++) await subject.clock.advanceAndSettle(10 * SECOND);
    process.dispatcher.wake();
    await subject.clock.advanceAndSettle(SECOND);

    expect(list.mock.calls.length).toBeLessThanOrEqual(11); // five minutes
  });

  test("cost a process without any one look when it starts", async () => {
    const plain = defineWorkflow({ name: "plain" }, async () => {});
    const process = subject.process({ plain });
    const list = vi.spyOn(process.store.engine.schedules, "list");
    process.start();
    for (let round = 0; round < 30; round++) {
      await subject.clock.advanceAndSettle(10 * SECOND);
      if (round % 10 === 0) await (await process.workflows.plain.create()).result();
    }

    expect(list).toHaveBeenCalledTimes(1);
  });

  test("count for the next wake, and are drained", async () => {
    const { workflow, events } = scheduled("0 9 * * *");
    const process = subject.process({ report: workflow });
    await process.drain();
    expect(await process.processor.getNextWakeAt()).toEqual(new Date(BEGIN + 21 * HOUR));
    moveTo(subject, BEGIN + 21 * HOUR);
    await process.drain();

    expect(events).toHaveLength(1);
  });
});
