import type { Belonging } from "./belongings.ts";
import { isInstanceOf, type SchemaPrefix, type Statement } from "./statement.ts";

/** So many rows, at most, of what deleted instances have left in one table. Index: the table's primary key. */
export function sweepBelongings(table: Belonging): (schema: SchemaPrefix) => Statement {
  return (schema) => ({
    name: `sweep_${table}`,
    text: `
delete from ${schema}${table} as belonging
where belonging.ctid = any (array(
  select found.ctid
  from unnest($1::text[]) as gone(ref)
  cross join lateral (
    select owned.ctid from ${schema}${table} as owned where ${isInstanceOf("owned", "gone")} limit $2
  ) as found
  limit $2
))`,
  });
}
