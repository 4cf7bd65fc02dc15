import { toNumber, toNumberOrNull } from "../rows.ts";
import type { JobRecord, JobWriteResult } from "./job-records.ts";

export function toJobRecord(row: Record<string, unknown>): JobRecord {
  return {
    namespace: row.namespace as string,
    id: row.id as string,
    actor: row.actor as string | null,
    request: row.request as string,
    progress: row.progress as string,
    lock: row.lock as string | null,
    startedAt: toNumber(row.started_at),
    endedAt: toNumberOrNull(row.ended_at),
    cancelled: Boolean(row.cancelled),
  };
}

/** The answer to a write: the row that was written, if the owner still had it. */
export function toWriteResult(row: Record<string, unknown> | undefined): JobWriteResult {
  if (row === undefined) return "lost";
  return row.cancelled ? "cancelled" : "written";
}
