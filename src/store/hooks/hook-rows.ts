import type { WorkClass } from "../queue/work-class.ts";
import { toNumber, toNumberOrNull } from "../rows.ts";
import type { HookLinePlace } from "./hook-lines.ts";
import type {
  ClaimedHook,
  HookLease,
  HookRecord,
  HookStatistics,
  HookStatus,
  SearchedHook,
  SettleResult,
} from "./hook-records.ts";

type Row = Record<string, unknown>;

export function toLease(row: Row): HookLease {
  return { namespace: row.namespace as string, id: row.id as string, lock: row.lock as string };
}

export function toClaimedHook(row: Row): ClaimedHook {
  return {
    namespace: row.namespace as string,
    id: row.id as string,
    lock: row.lock as string,
    name: row.name as string,
    key: row.key as string | null,
    ownId: Boolean(row.own_id),
    attempts: toNumber(row.attempts),
    recoveries: toNumber(row.recoveries),
    inDoubt: Boolean(row.in_doubt),
    triggers: toNumber(row.triggers),
    payload: row.payload as string,
    retries: row.retries as string | null,
    trace: row.trace as string | null,
    createdAt: toNumber(row.created_at),
    lastAttemptAt: toNumberOrNull(row.previous_attempt_at),
    dueAt: toNumber(row.due_at),
    claimedAt: toNumber(row.claimed_at),
    lineKey: row.line_key as string | null,
  };
}

export function toHookRecord(row: Row): HookRecord {
  return {
    namespace: row.namespace as string,
    id: row.id as string,
    name: row.name as string,
    key: row.key as string | null,
    status: row.status as HookStatus,
    class: toNumber(row.class) as WorkClass,
    lock: row.lock as string | null,
    attempts: toNumber(row.attempts),
    recoveries: toNumber(row.recoveries),
    triggers: toNumber(row.triggers),
    payload: row.payload as string,
    retries: row.retries as string | null,
    error: row.error as string | null,
    lineKey: row.line_key as string | null,
    rateKey: row.rate_key as string | null,
    createdAt: toNumber(row.created_at),
    lastAttemptAt: toNumberOrNull(row.last_attempt_at),
    availableAt: toNumberOrNull(row.available_at),
    finishedAt: toNumberOrNull(row.finished_at),
  };
}

export function toSearchedHook(row: Row): SearchedHook {
  return {
    namespace: row.namespace as string,
    id: row.id as string,
    name: row.name as string,
    createdAt: toNumber(row.created_at),
    finishedAt: toNumberOrNull(row.finished_at),
    matches: Boolean(row.matches),
    error: row.error as string | null,
  };
}

export function toLinePlace(row: Row): HookLinePlace {
  const startedAt = toNumberOrNull(row.started_at ?? null);
  return { ahead: toNumber(row.ahead), held: toNumber(row.held), startedAt };
}

export function toStatistics(row: Row): HookStatistics {
  return {
    pending: toNumber(row.pending),
    due: toNumber(row.due),
    processing: toNumber(row.processing),
    failed: toNumber(row.failed),
    completed: toNumber(row.completed),
    oldestDueMs: toNumberOrNull(row.oldest_due_ms),
  };
}

export function toSettleResult(row: Row): SettleResult {
  return row.result as SettleResult;
}
