import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/**
 * How long until somebody should look at a line. The limit that is none keeps the order: PostgreSQL would rather read and sort the
 * few lines that it believes in. Index: line_due gives the first entry of each namespace.
 */
export function nextLine(schema: SchemaPrefix): Statement {
  return {
    name: "next_line",
    planOnce: true,
    text: `
select min(earliest.available_at) - ${NOW} as remaining
from unnest($2::text[], $3::text[]) as scope(namespace, names)
cross join lateral (
  select line.available_at from (
    select line.available_at, line.name
    from ${schema}line as line
    where line.namespace = scope.namespace and line.available_at is not null
    order by line.available_at, line.key
    limit (select null::bigint)
  ) as line
  where line.name = any (scope.names::text[])
  limit 1
) as earliest`,
  };
}
