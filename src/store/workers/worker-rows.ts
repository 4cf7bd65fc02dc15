import { toNumber, toNumberOrNull } from "../rows.ts";
import type { WorkerRecord } from "./worker-records.ts";

/** `work` is JSON text, or what the driver made of it. */
export function toWorkerRecord(row: Record<string, unknown>): WorkerRecord {
  const { work } = row;
  return {
    id: row.id as string,
    host: row.host as string,
    pid: toNumberOrNull(row.pid),
    version: row.version as string,
    concurrency: { hooks: toNumber(row.hook_slots), workflows: toNumber(row.workflow_slots) },
    work: (typeof work === "string" ? JSON.parse(work) : work) as WorkerRecord["work"],
    startedAt: toNumber(row.started_at),
    seenAt: toNumber(row.seen_at),
    silentMs: toNumber(row.silent_ms),
  };
}
