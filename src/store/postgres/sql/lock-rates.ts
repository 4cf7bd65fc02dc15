import type { SchemaPrefix, Statement } from "./statement.ts";

/** Makes sure that rates have rows that can be locked. Index: line_pkey. */
export function ensureRates(schema: SchemaPrefix): Statement {
  return {
    name: "ensure_rates",
    text: `
insert into ${schema}line (kind, key, namespace, name)
select 1, item.key, $2, $3 from unnest($1::text[]) as item(key) order by item.key collate "C"
on conflict do nothing`,
  };
}

/** Locks rates, except those that somebody else has locked. Index: line_pkey. */
export function lockRates(schema: SchemaPrefix): Statement {
  return {
    name: "lock_rates",
    text: `select line.key from ${schema}line as line where line.kind = 1 and line.key = any ($1::text[]) for update skip locked`,
  };
}
