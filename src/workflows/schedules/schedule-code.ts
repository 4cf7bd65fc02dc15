import type { ScheduleKey } from "../../store/schedules/schedule-records.ts";
import type { RegisteredWorkflow } from "../define/registered-workflows.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import type { WorkflowSchedule } from "./workflow-schedule.ts";

/** A schedule that this process has in its code. */
export interface CodeSchedule {
  readonly key: ScheduleKey;
  readonly workflow: RegisteredWorkflow;
  readonly schedule: WorkflowSchedule;
}

export function codeSchedules({ namespace, workflows }: WorkflowRuntime): CodeSchedule[] {
  return workflows.all.flatMap((workflow) =>
    workflow.schedules.map((schedule) => {
      const { cron, timezone } = schedule.times;
      return { key: { namespace, workflow: workflow.name, name: schedule.name, cron, timezone }, workflow, schedule };
    }),
  );
}

export function sameSchedule(left: ScheduleKey, right: ScheduleKey): boolean {
  const fields = ["namespace", "workflow", "name", "cron", "timezone"] as const;
  return fields.every((field) => left[field] === right[field]);
}
