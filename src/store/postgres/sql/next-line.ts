import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/** How long until somebody should look at a line. Index: line_due gives the first entry of each namespace. */
export function nextLine(schema: SchemaPrefix): Statement {
  return {
    name: "next_line",
    planOnce: true,
    text: `
select min(earliest.available_at) - ${NOW} as remaining
from unnest($2::text[], $3::text[]) as scope(namespace, names)
cross join lateral (
  select line.available_at
  from ${schema}line as line
  where line.namespace = scope.namespace and line.available_at is not null and line.name = any (scope.names::text[])
  order by line.available_at, line.key
  limit 1
) as earliest`,
  };
}
