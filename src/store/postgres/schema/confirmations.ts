import type { SchemaPrefix } from "../sql/statement.ts";

/**
 * Whether the present owner has written that it begins. Only owners of what was taken over do, and of hooks on their last attempt:
 * of those it must be known whether a lost owner had begun.
 */
export function confirmations(schema: SchemaPrefix): string {
  return `alter table ${schema}hook add column confirmed boolean not null default false;
alter table ${schema}instance add column confirmed boolean not null default false;
`;
}
