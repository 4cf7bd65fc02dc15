import type { SchemaPrefix, Statement } from "./statement.ts";

/** What an instance leaves behind. Indexes: journal_pkey, event_pkey, past_run_pkey. */
export function deleteBelongings(schema: SchemaPrefix): Statement {
  return {
    name: "delete_belongings",
    text: `
with journal as (delete from ${schema}journal where ref = $1),
event as (delete from ${schema}event where ref = $1)
delete from ${schema}past_run where ref = $1`,
  };
}
