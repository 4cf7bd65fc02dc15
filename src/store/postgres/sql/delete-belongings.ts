import { BELONGINGS } from "./belongings.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";

/** What an instance leaves behind. Index: each table's primary key. */
export function deleteBelongings(schema: SchemaPrefix): Statement {
  const parts = BELONGINGS.map((table) => `of_${table} as (delete from ${schema}${table} where ref = $1)`);
  return {
    name: "delete_belongings",
    text: `
with ${parts.join(",\n")}
select`,
  };
}
