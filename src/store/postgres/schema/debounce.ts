import type { SchemaPrefix } from "../sql/statement.ts";

/** How far a waiting hook with a key may be put off by debounced triggers; null is not at all. See `keyedTimes`. */
export function debounce(schema: SchemaPrefix): string {
  return `alter table ${schema}hook add column latest_at bigint;
`;
}
