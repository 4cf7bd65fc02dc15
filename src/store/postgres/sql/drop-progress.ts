import type { SchemaPrefix, Statement } from "./statement.ts";

/** What a step told while it ran. Index: journal_pkey. */
export function dropProgress(schema: SchemaPrefix): Statement {
  return {
    name: "drop_progress",
    text: `
update ${schema}journal as journal set value = null
where journal.ref = $1 and journal.run = $2 and journal.position >= $3 and journal.kind = 'progress'
  and journal.type = $4 and journal.name = $5 and journal.count = $6 and journal.parent is not distinct from $7`,
  };
}
