import { toNumber, toNumberOrNull } from "../rows.ts";
import type {
  ClaimedInstance,
  Deadline,
  EntryKind,
  HistoryEntry,
  InstanceCount,
  InstancePosition,
  InstanceRecord,
  InstanceStatus,
  JournalEntry,
  NamedLease,
  PastRun,
  RenewedInstance,
  RollbackReason,
  SearchedInstance,
  StepType,
  StoredEvent,
  UnreceivedRecords,
  VersionCount,
} from "./instance-records.ts";

type Row = Record<string, unknown>;

export function toClaimedInstance(row: Row): ClaimedInstance {
  return {
    namespace: row.namespace as string,
    name: row.name as string,
    id: row.id as string,
    version: toNumber(row.version),
    ref: row.ref as string,
    run: toNumber(row.run),
    lock: row.lock as string,
    params: row.params as string,
    createdAt: toNumber(row.created_at),
    recoveries: toNumber(row.recoveries),
    wakes: toNumber(row.wakes),
    paused: Boolean(row.paused),
    schedule: row.schedule as string | null,
    trace: row.trace as string | null,
    slotKey: row.slot_key as string | null,
    timeout: toNumberOrNull(row.timeout),
    deadline: toNumberOrNull(row.deadline),
    rollingBack: row.rolling_back as RollbackReason | null,
    begun: Boolean(row.begun),
    startedAt: toNumberOrNull(row.started_at ?? null) ?? toNumber(row.claimed_at),
    dueAt: toNumber(row.due_at),
    claimedAt: toNumber(row.claimed_at),
  };
}

/** `now` is the database's time. */
export function toDeadline(row: Row): Deadline {
  const instance = { namespace: row.namespace as string, name: row.name as string, id: row.id as string };
  const at = toNumber(row.deadline);
  const timeoutMs = toNumber(row.timeout);
  return {
    instance,
    ref: row.ref as string,
    run: toNumber(row.run),
    at,
    timeoutMs,
    remainingMs: at - toNumber(row.now),
  };
}

export function toNamedLease(row: Row): NamedLease {
  const instance = { namespace: row.namespace as string, name: row.name as string, id: row.id as string };
  return { instance, ref: row.ref as string, run: toNumber(row.run), lock: row.lock as string };
}

export function toJournalEntry(row: Row): JournalEntry {
  return {
    position: toNumber(row.position),
    kind: row.kind as EntryKind,
    type: row.type as StepType,
    name: row.name as string,
    count: toNumber(row.count),
    attempt: toNumber(row.attempt),
    value: row.value as string | null,
    dueAt: toNumberOrNull(row.due_at),
    event: toNumberOrNull(row.event),
    parent: row.parent as string | null,
    began: toNumberOrNull(row.began ?? null),
    at: toNumber(row.at),
  };
}

export function toStoredEvent(row: Row): StoredEvent {
  return {
    id: row.id as string,
    sequence: toNumber(row.sequence),
    type: row.type as string,
    payload: row.payload as string,
    at: toNumber(row.at),
  };
}

/** From a row for each event. */
export function toUnreceivedEvents(rows: readonly Row[]): UnreceivedRecords {
  const events = rows.map((row) => ({ ...toStoredEvent(row), payload: row.payload as string | null }));
  return { total: toNumber(rows[0]?.total ?? 0), events };
}

export function toRenewedInstance(row: Row): RenewedInstance {
  return {
    ref: row.ref as string,
    run: toNumber(row.run),
    lock: row.lock as string,
    wakes: toNumber(row.wakes),
    paused: Boolean(row.paused),
    at: toNumber(row.at),
  };
}

export function toInstanceRecord(row: Row): InstanceRecord {
  return {
    namespace: row.namespace as string,
    name: row.name as string,
    id: row.id as string,
    version: toNumber(row.version),
    ref: row.ref as string,
    run: toNumber(row.run),
    status: row.status as InstanceStatus,
    params: row.params as string,
    output: row.output as string | null,
    error: row.error as string | null,
    rollback: row.rollback as string | null,
    labels: row.labels as string | null,
    priority: toNumber(row.priority),
    schedule: row.schedule as string | null,
    trace: row.trace as string | null,
    parent: row.parent as string | null,
    slotKey: row.slot_key as string | null,
    rateKey: row.rate_key as string | null,
    createdAt: toNumber(row.created_at),
    startedAt: toNumberOrNull(row.started_at),
    finishedAt: toNumberOrNull(row.finished_at),
    availableAt: toNumberOrNull(row.available_at),
  };
}

export function toSearchedInstance(row: Row): SearchedInstance {
  return {
    namespace: row.namespace as string,
    name: row.name as string,
    id: row.id as string,
    ref: row.ref as string,
    run: toNumber(row.run),
    matches: Boolean(row.matches),
    error: row.error as string | null,
  };
}

export function toInstancePosition(row: Row): InstancePosition {
  return { run: toNumber(row.run), status: row.status as InstanceStatus, position: toNumber(row.position) };
}

export function toInstanceCount(row: Row): InstanceCount {
  return { name: row.name as string, status: row.status as InstanceStatus, count: toNumber(row.count) };
}

export function toVersionCount(row: Row): VersionCount {
  return { name: row.name as string, version: toNumber(row.version), count: toNumber(row.count) };
}

export function toHistoryEntry(row: Row): HistoryEntry {
  return {
    ...toJournalEntry(row),
    run: toNumber(row.run),
    eventId: row.event_id as string | null,
    eventType: row.event_type as string | null,
    eventPayload: row.event_payload as string | null,
  };
}

export function toPastRun(row: Row): PastRun {
  return {
    run: toNumber(row.run),
    version: toNumber(row.version),
    status: row.status as InstanceStatus,
    output: row.output as string | null,
    error: row.error as string | null,
    rollback: row.rollback as string | null,
    startedAt: toNumberOrNull(row.started_at),
    finishedAt: toNumberOrNull(row.finished_at),
  };
}
