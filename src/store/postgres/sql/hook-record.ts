import type { HookStatus } from "../../hooks/hook-records.ts";

/** A hook's status follows from its queue columns. */
export const STATUS_CONDITIONS: Record<HookStatus, string> = {
  pending: "hook.available_at is not null and hook.lock is null",
  processing: "hook.available_at is not null and hook.lock is not null",
  failed: "hook.available_at is null and hook.error is not null",
  completed: "hook.available_at is null and hook.error is null",
};

const STATUS = `case ${Object.entries(STATUS_CONDITIONS)
  .map(([status, condition]) => `when ${condition} then '${status}'`)
  .join(" ")} end`;

export const RECORD = `hook.namespace, hook.id, hook.name, hook.key, ${STATUS} as status, hook.class, hook.attempts, hook.recoveries,
  hook.triggers, hook.payload::text as payload, hook.retries::text as retries, hook.error::text as error, hook.created_at,
  hook.last_attempt_at, hook.available_at, hook.finished_at`;
