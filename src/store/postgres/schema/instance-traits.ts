import type { SchemaPrefix } from "../sql/statement.ts";

/** What only some instances have: see `InstanceTraits`. */
export function instanceTraits(schema: SchemaPrefix): string {
  return `alter table ${schema}instance
  add column success_retention bigint,
  add column error_retention bigint,
  add column priority smallint not null default 0,
  add column slot_key text collate "C",
  add column rate_key text collate "C",
  add column schedule json,
  add column labels json;
`;
}
