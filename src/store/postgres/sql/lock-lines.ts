import type { SchemaPrefix, Statement } from "./statement.ts";
import { batch, NOW } from "./statement.ts";

/**
 * Locks those of these lines that are still to be looked at, and that nobody else is looking at. What is written in them is read by
 * later statements of the transaction, which see everything that was committed before the lock was free. Index: line_pkey.
 */
export function lockLines(schema: SchemaPrefix): Statement {
  return {
    name: "lock_lines",
    planOnce: true,
    text: `
select line.kind, line.key, line.namespace, line.name
from ${batch(2, { kind: "smallint", key: "text" })} as item
cross join lateral (
  select * from ${schema}line as line
  where line.kind = any (array[item.kind]) and line.key = any (array[item.key]) and line.available_at <= ${NOW}
  for update skip locked
) as line`,
  };
}
