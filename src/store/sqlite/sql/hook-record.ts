import type { HookStatus } from "../../hooks/hook-records.ts";

/** A hook's status follows from its queue columns. */
export const STATUS_CONDITIONS: Record<HookStatus, string> = {
  pending: "available_at is not null and lock is null",
  processing: "available_at is not null and lock is not null",
  failed: "available_at is null and error is not null",
  completed: "available_at is null and error is null",
};

const STATUS = `case ${Object.entries(STATUS_CONDITIONS)
  .map(([status, condition]) => `when ${condition} then '${status}'`)
  .join(" ")} end`;

export const RECORD = `namespace, id, name, key, ${STATUS} as status, class, attempts, recoveries, triggers, payload, retries, error, created_at,
  last_attempt_at, available_at, finished_at`;
