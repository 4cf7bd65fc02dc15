import { STATUS_CONDITIONS } from "./hook-record.ts";

/** Reads every hook of the namespace: for people who look, not for loops. */
export const HOOK_STATISTICS = `
select
  count(*) filter (where ${STATUS_CONDITIONS.pending}) as pending,
  count(*) filter (where ${STATUS_CONDITIONS.pending} and available_at <= ?1) as due,
  count(*) filter (where ${STATUS_CONDITIONS.processing}) as processing,
  count(*) filter (where ${STATUS_CONDITIONS.failed}) as failed,
  count(*) filter (where ${STATUS_CONDITIONS.completed}) as completed,
  ?1 - min(available_at) filter (where ${STATUS_CONDITIONS.pending} and available_at <= ?1) as oldest_due_ms
from perdure_hook
where namespace = ?2`;
