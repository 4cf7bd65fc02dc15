import { expect } from "vitest";
import { defineWorkflow, type ScheduleOption, type ScheduleSummary, type WorkflowEvent } from "../../../src/index.ts";
import { eventually } from "../../hooks/support/use-hooks.ts";
import type { WorkflowProcess, WorkflowsUnderTest } from "../../workflows/support/use-workflows.ts";

/** When the clocks of tests begin. */
export const BEGIN = Date.UTC(2031, 4, 6, 12);
export const SECOND = 1000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

export type Event = WorkflowEvent<unknown>;

/** A workflow with these schedules, and the events that its instances were run with. */
export function scheduled(...schedules: ScheduleOption[]) {
  const events: Event[] = [];
  const workflow = defineWorkflow({ name: "report", schedules }, async (event: Event) => {
    events.push(event);
  });
  return { workflow, events };
}

export type ReportProcess = Pick<
  WorkflowProcess<{ report: ReturnType<typeof scheduled>["workflow"] }>,
  "fragment" | "workflows" | "clock"
>;

/** The ids of all instances, oldest first. */
export async function idsOf({ workflows }: ReportProcess): Promise<string[]> {
  const { instances } = await workflows.report.list({ order: "oldest", limit: 1000 });
  return instances.map(({ id }) => id);
}

/** Waits until a process has stored so many schedules, and gives them. */
export async function stored({ fragment, clock }: ReportProcess, count = 1): Promise<ScheduleSummary[]> {
  await clock.advanceAndSettle(0); // then the process knows of them, too, and waits for the next time
  return eventually(async () => {
    const schedules = await fragment.schedules.list();
    expect(schedules).toHaveLength(count);
    return schedules;
  });
}

/** Moves the time to a moment at once, as if no process had looked meanwhile. */
export function moveTo({ clock }: Pick<WorkflowsUnderTest, "clock">, time: number): void {
  clock.advance(time - clock.now());
}

/** Waits until the next time of the only schedule is this. */
export function firesNextAt(process: ReportProcess, time: number): Promise<void> {
  return eventually(async () => expect((await stored(process))[0]?.nextAt?.getTime()).toBe(time));
}
