import type { SchemaPrefix } from "../sql/statement.ts";

/** When a subject was last claimed, and how many leases of it have run out in a row. */
export function subjectStarts(schema: SchemaPrefix): string {
  return `alter table ${schema}subject add column last_started_at bigint, add column timeouts integer not null default 0;
`;
}
