import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/** Lines may have other limits than when they were blocked. There are as many as keys in use, and all of them are read. */
export function openLines(schema: SchemaPrefix): Statement {
  return {
    name: "open_lines",
    slow: true,
    text: `
with opened as (
  update ${schema}line as line set blocked = false, available_at = ${NOW}
  where (line.kind, line.key) in (
    select line.kind, line.key from ${schema}line as line
    where line.namespace = any ($2::text[]) and (line.blocked or line.available_at is null)
    for update skip locked
  )
)
select exists (select from ${schema}line as line where line.namespace = any ($2::text[])) as there`,
  };
}
