import type { SqliteDriver } from "./driver.ts";
import { DELETE_BELONGINGS } from "./sql/delete-belongings.ts";
import { DELETE_LABEL } from "./sql/delete-label.ts";
import { FIND_DELETED_INSTANCE, FORGET_DELETED_INSTANCE, MARK_DELETED } from "./sql/deleted-instances.ts";
import { FIND_PURGE } from "./sql/find-purge.ts";
import { PURGE_INSTANCES } from "./sql/purge-instances.ts";

type Row = Record<string, unknown>;

/** What is swept up at once, roughly: the writer is ours for as long as it takes. */
const MOST_ROWS = 2000;

/** Whether there is anything to purge, or to sweep up. */
export function hasPurge(driver: SqliteDriver, namespace: string, now: number): boolean {
  return driver.all(FIND_PURGE, [namespace, now]).length > 0 || driver.all(FIND_DELETED_INSTANCE, []).length > 0;
}

/** Deletes instances that were kept for long enough; what belongs to them comes next. Gives their number. */
export function purgeInstances(
  driver: SqliteDriver,
  { namespace, now, limit }: { namespace: string; now: number; limit: number },
): number {
  const gone = driver.all(PURGE_INSTANCES, [namespace, now, limit]);
  for (const row of gone) {
    driver.run(MARK_DELETED, [row.ref as string]);
    deleteLabels(driver, row);
  }
  return gone.length;
}

/**
 * Deletes what belonged to deleted instances, some of them. Gives their number. Nobody else can be in the middle of writing to one: SQLite
 * has one writer, which looks at the instance first.
 */
export function sweepDeleted(driver: SqliteDriver): number {
  let swept = 0;
  let rows = 0;
  while (rows < MOST_ROWS) {
    const [deleted] = driver.all(FIND_DELETED_INSTANCE, []);
    if (deleted === undefined) break;
    rows += 1 + deleteBelongings(driver, deleted.ref as string);
    driver.run(FORGET_DELETED_INSTANCE, [deleted.ref as string]);
    swept++;
  }
  return swept;
}

/** Gives the number of rows. */
export function deleteBelongings(driver: SqliteDriver, ref: string): number {
  return DELETE_BELONGINGS.reduce((rows, statement) => rows + driver.run(statement, [ref]), 0);
}

export function deleteLabels(driver: SqliteDriver, { namespace, name, ref, labels }: Row): void {
  if (labels === null) return;
  for (const [key, value] of Object.entries(JSON.parse(labels as string) as Record<string, string>)) {
    driver.run(DELETE_LABEL, [namespace as string, name as string, key, value, ref as string]);
  }
}
