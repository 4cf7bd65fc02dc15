import type { Belonging } from "./belongings.ts";
import { batch, foundRows, isInstanceOf, type SchemaPrefix, type Statement } from "./statement.ts";

/** So many rows, at most, of what deleted instances have left in one table. Index: the table's primary key. */
export function sweepBelongings(table: Belonging): (schema: SchemaPrefix) => Statement {
  return (schema) => {
    const owned = `
    select owned.ctid
    from ${batch(1, { ref: "text" })} as gone
    cross join lateral (
      select owned.ctid from ${schema}${table} as owned where ${isInstanceOf("owned", "gone")} limit $2
    ) as owned
    limit $2`;
    return {
      name: `sweep_${table}`,
      text: `
delete from ${schema}${table} as belonging using ${foundRows(owned)} as found where belonging.ctid = found.ctid`,
    };
  };
}
