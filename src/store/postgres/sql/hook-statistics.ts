import { STATUS_CONDITIONS } from "./hook-record.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/** Reads every hook of the namespace: for people who look, not for loops. */
export function hookStatistics(schema: SchemaPrefix): Statement {
  return {
    name: "hook_statistics",
    slow: true,
    text: `
select
  count(*) filter (where ${STATUS_CONDITIONS.pending}) as pending,
  count(*) filter (where ${STATUS_CONDITIONS.pending} and hook.available_at <= ${NOW}) as due,
  count(*) filter (where ${STATUS_CONDITIONS.processing}) as processing,
  count(*) filter (where ${STATUS_CONDITIONS.failed}) as failed,
  count(*) filter (where ${STATUS_CONDITIONS.completed}) as completed,
  ${NOW} - min(hook.available_at) filter (where ${STATUS_CONDITIONS.pending} and hook.available_at <= ${NOW}) as oldest_due_ms
from ${schema}hook as hook
where hook.namespace = $2`,
  };
}
