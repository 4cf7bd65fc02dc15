import type { Migration } from "../../migration.ts";
import type { SchemaPrefix } from "../sql/statement.ts";
import { admitFunction } from "./admit-function.ts";
import { admitHooksFunction } from "./admit-hooks-function.ts";
import { job, line, request, schedule, start, worker } from "./coordination.ts";
import { deleteInstanceFunction } from "./delete-instance-function.ts";
import { deletedInstance, event, journal, label, pastRun, streamChunk } from "./dependents.ts";
import { hook, instance, subject } from "./queues.ts";
import { reacquireSlotFunction } from "./reacquire-slot-function.ts";
import { sqlFunctions } from "./sql-functions/index.ts";

/**
 * Perdure's tables in PostgreSQL, the functions that lock lines, and those that applications call from SQL. A released
 * migration is never edited, because databases have applied it: a later version appends a migration to the list. Comments may
 * be corrected, SQL may not.
 *
 * Common to all tables:
 * - Columns are ordered by alignment (eight bytes, four, two, one, then those of variable length), so that no row has padding.
 * - Text that is compared has the collation "C", which orders by bytes. `json` stores values that `jsonb` rejects.
 * - There are no foreign keys and few indexes, because every write pays for each of them.
 * - Times are milliseconds of database time.
 */
export function schemaMigrations(schema: SchemaPrefix): Migration[] {
  const tables = [hook, instance, subject, label, journal, event, pastRun, streamChunk, deletedInstance];
  const functions = [admitFunction, admitHooksFunction, reacquireSlotFunction, deleteInstanceFunction, sqlFunctions];
  const statements = [...tables, line, start, schedule, request, job, worker, ...functions].flatMap((part) =>
    part(schema),
  );
  const sql = statements.map((statement) => `${statement};\n`).join("");
  return [{ owner: "perdure", number: 1, name: "tables", breaking: true, sql }];
}
