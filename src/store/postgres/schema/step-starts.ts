import type { SchemaPrefix } from "../sql/statement.ts";

/** In which order steps began, where the order of their first entries doesn't tell. */
export function stepStarts(schema: SchemaPrefix): string {
  return `alter table ${schema}journal add column began integer;
`;
}
