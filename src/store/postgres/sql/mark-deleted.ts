import type { SchemaPrefix } from "./statement.ts";

/** Nobody can still be writing to an instance that has been finished, or is gone, for this long. */
export const UNDER_WAY_MS = 600_000;

/**
 * Part of a statement that deletes instances: `gone` has the columns of their rows. Remembers whom it has to be swept up after.
 * A commit that was under way when an instance was deleted may leave something behind, so that is looked for once more.
 */
export function markDeleted(schema: SchemaPrefix, delayMs: number): string {
  return `insert into ${schema}deleted_instance (ref, due_at, final)
  select gone.ref, clock.now + ${delayMs}, coalesce(gone.finished_at < clock.now - ${UNDER_WAY_MS}, false) from gone cross join clock
  on conflict do nothing`;
}
