import type { KnownSchedules, ScheduleFiring, ScheduleKey, ScheduleScope, ScheduleTiming } from "./schedule-records.ts";

/** The statements for schedules. There are few schedules, and these statements are rare. */
export interface ScheduleStatements {
  /** All schedules of these namespaces, in the order of their names. */
  list(namespaces: readonly string[]): Promise<KnownSchedules>;

  /**
   * Adds the schedules that are missing. If a schedule of the same name but other times is paused, the new one is paused too.
   */
  insert(schedules: readonly ScheduleTiming[]): Promise<void>;

  /** Notes that a process has these in its code. */
  confirm(schedules: readonly ScheduleKey[]): Promise<void>;

  /** Deletes those of these that no process has confirmed since that time. Returns the number. */
  retire(schedules: readonly ScheduleKey[], confirmedBefore: number): Promise<number>;

  /**
   * Moves a schedule on to its next time and creates the instance, in one transaction; only if it is due, and still at the time
   * that the sender knows. An id that exists is left alone. Says whether it was fired. Not sent again: if the reply was lost,
   * the schedule itself tells.
   */
  fire(firing: ScheduleFiring): Promise<boolean>;

  /** Returns the number of schedules in scope, paused now or before. */
  pause(scope: ScheduleScope): Promise<number>;

  /** Only those that are paused. */
  resume(schedules: readonly ScheduleTiming[]): Promise<void>;
}
