import type { SchemaPrefix, Statement } from "./statement.ts";
import { NOW } from "./statement.ts";

/** The database's time. No index. */
export function readTime(_schema: SchemaPrefix): Statement {
  return { name: "read_time", text: `select ${NOW} as now` };
}
