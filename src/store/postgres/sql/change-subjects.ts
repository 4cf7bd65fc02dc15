import type { SchemaPrefix, Statement } from "./statement.ts";
import { isSubjectOf, NOW, placedBatch } from "./statement.ts";
import { RECORD } from "./subject-record.ts";

const ITEM = {
  profile: "text",
  dispatcher_id: "text",
  subject_key: "text",
  revision: "bigint",
  change_id: "text",
  kind: "text",
  cursor: "text",
  meta: "text",
  due_at: "bigint",
  delay_ms: "bigint",
  lease_ms: "bigint",
  error: "text",
};

const NEXT_DUE_AT = "coalesce(item.due_at, clock.now + item.delay_ms)";
const AT_REST = "case when subject.failures > 0 then 'failed' else 'idle' end";

/**
 * What owners write, each only at the revision that it knows, and only if somebody has claimed the subject. The batch is in the
 * order of keys, in which rows are locked. Gives what was changed. Index: subject_pkey.
 */
export function changeSubjects(schema: SchemaPrefix): Statement {
  return {
    name: "change_subjects",
    planOnce: true,
    text: `
update ${schema}subject as subject set
  status = case item.kind when 'checkpoint' then 'running' when 'complete' then 'idle' when 'fail' then 'failed' else ${AT_REST} end,
  due_at = case when item.kind in ('complete', 'fail') then ${NEXT_DUE_AT} else subject.due_at end,
  available_at = case item.kind
    when 'checkpoint' then coalesce(clock.now + item.lease_ms, subject.available_at)
    when 'release' then subject.due_at
    else ${NEXT_DUE_AT} end,
  lease_owner = case item.kind when 'checkpoint' then subject.lease_owner end,
  attempts = case item.kind when 'complete' then 0 when 'release' then subject.attempts - 1 else subject.attempts end,
  failures = case item.kind when 'complete' then 0 when 'fail' then subject.failures + 1 else subject.failures end,
  timeouts = case when item.kind in ('complete', 'fail') then 0 else subject.timeouts end,
  error = case item.kind when 'complete' then null when 'fail' then item.error::json else subject.error end,
  last_success_at = case item.kind when 'complete' then clock.now else subject.last_success_at end,
  last_failure_at = case item.kind when 'fail' then clock.now else subject.last_failure_at end,
  cursor = coalesce(item.cursor::json, subject.cursor),
  meta = coalesce(item.meta::json, subject.meta),
  revision = subject.revision + 1,
  last_change = item.change_id,
  updated_at = clock.now
from (select ${NOW} as now) as clock
cross join ${placedBatch(2, ITEM)} as item
where ${isSubjectOf("subject", "item")}
  and subject.revision = item.revision and subject.lease_owner is not null
returning item.place, ${RECORD}`,
  };
}
