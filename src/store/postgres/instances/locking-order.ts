import type { HookReference } from "../../hooks/hook-records.ts";
import type { InstanceName, InstanceRun } from "../../instances/instance-records.ts";
import type { ScheduleKey } from "../../schedules/schedule-records.ts";
import type { SubjectName } from "../../subjects/subject-records.ts";
import { compareText } from "../../text-order.ts";

/**
 * Every statement locks the rows of a table in one order, and inserts in the same order, because inserting a row that another
 * transaction is inserting waits for that transaction like a lock. So no two statements deadlock, in whatever order callers
 * give their batches.
 */
type Order<Row> = (left: Row, right: Row) => number;

export function byRef(left: Pick<InstanceRun, "ref">, right: Pick<InstanceRun, "ref">): number {
  return compareText(left.ref, right.ref);
}

export function byName(left: InstanceName, right: InstanceName): number {
  return (
    compareText(left.namespace, right.namespace) || compareText(left.name, right.name) || compareText(left.id, right.id)
  );
}

export function byReference(left: HookReference, right: HookReference): number {
  return compareText(left.namespace, right.namespace) || compareText(left.id, right.id);
}

export function bySubject(left: SubjectName, right: SubjectName): number {
  return (
    compareText(left.profile, right.profile) ||
    compareText(left.dispatcherId, right.dispatcherId) ||
    compareText(left.subjectKey, right.subjectKey)
  );
}

export function bySchedule(left: ScheduleKey, right: ScheduleKey): number {
  return (
    compareText(left.namespace, right.namespace) ||
    compareText(left.workflow, right.workflow) ||
    compareText(left.name, right.name) ||
    compareText(left.cron, right.cron) ||
    compareText(left.timezone, right.timezone)
  );
}

/** Most batches are in order already, because Perdure's ids rise with time. Those aren't copied. */
export function inOrder<Row>(rows: readonly Row[], order: Order<Row>): readonly Row[] {
  for (let index = 1; index < rows.length; index++) {
    if (order(rows[index - 1] as Row, rows[index] as Row) > 0) return [...rows].sort(order);
  }
  return rows;
}
