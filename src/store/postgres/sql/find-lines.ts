import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/** Lines that somebody should look at, those first that have waited longest. Index: line_due. */
export function findLines(schema: SchemaPrefix): Statement {
  return {
    name: "find_lines",
    planOnce: true,
    text: `
with clock as materialized (select ${NOW} as now)
select due.kind, due.key
from unnest($2::text[], $3::text[]) as scope(namespace, names)
cross join lateral (
  select line.kind, line.key, line.available_at
  from ${schema}line as line
  where line.namespace = scope.namespace
    and line.available_at <= (select now from clock)
    and line.name = any (scope.names::text[])
  order by line.available_at, line.key
  limit $4
) as due
order by due.available_at, due.key
limit $4`,
  };
}
