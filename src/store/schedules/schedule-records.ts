import type { InstanceInsert } from "../instances/instance-records.ts";

/** The schedules of one name in a workflow; all of the workflow's, if the name is null. */
export interface ScheduleScope {
  readonly namespace: string;
  readonly workflow: string;
  readonly name: string | null;
}

/**
 * Names a schedule. Its times are part of that: a schedule whose times are changed is another one, so that old and new code can
 * run side by side, each by its own times.
 */
export interface ScheduleKey extends ScheduleScope {
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
}

export interface ScheduleRecord extends ScheduleKey {
  /** When it fires next; null while it is paused, or if no time is left. */
  readonly dueAt: number | null;
  /** The last of its times that it was fired for. */
  readonly lastAt: number | null;
  readonly paused: boolean;
  /** When a process last said that its code has this schedule. */
  readonly confirmedAt: number;
}

/** A schedule and when it fires next. */
export interface ScheduleTiming extends ScheduleKey {
  readonly dueAt: number | null;
}

export interface KnownSchedules {
  /** The database's time. */
  readonly at: number;
  readonly schedules: readonly ScheduleRecord[];
}

/** A process's request to fire a schedule that is due. */
export interface ScheduleFiring extends ScheduleKey {
  /** The due time that the sender knows. If it has changed, another process has fired the schedule. */
  readonly dueAt: number;
  readonly nextAt: number | null;
  /** The time that it is fired for. */
  readonly lastAt: number;
  /** Null if none can be created: then it only moves on. */
  readonly instance: InstanceInsert | null;
}
