import { toNumber, toNumberOrNull } from "../rows.ts";
import type { ScheduleRecord } from "./schedule-records.ts";

export function toScheduleRecord(row: Record<string, unknown>): ScheduleRecord {
  return {
    namespace: row.namespace as string,
    workflow: row.workflow as string,
    name: row.name as string,
    cron: row.cron as string,
    timezone: row.timezone as string,
    dueAt: toNumberOrNull(row.due_at),
    lastAt: toNumberOrNull(row.last_at),
    paused: Boolean(row.paused),
    confirmedAt: toNumber(row.confirmed_at),
  };
}
