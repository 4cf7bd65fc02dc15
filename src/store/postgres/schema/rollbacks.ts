import type { SchemaPrefix } from "../sql/statement.ts";

/** Whether an instance is rolled back, and what became of that. */
export function rollbacks(schema: SchemaPrefix): string {
  return `alter table ${schema}instance
  add column rolling_back text collate "C",
  add column rollback json;
alter table ${schema}past_run add column rollback json;
`;
}
