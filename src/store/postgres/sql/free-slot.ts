import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";
import { freeSlots } from "./tell-lines.ts";

/** What held a slot was deleted. Index: line_pkey. */
export function freeSlot(schema: SchemaPrefix): Statement {
  return {
    name: "free_slot",
    text: `
with clock as materialized (select ${NOW} as now)
${freeSlots(schema, "select $2::text as slot_key")}`,
  };
}
