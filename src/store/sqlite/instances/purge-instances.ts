import type { SqliteDriver } from "../drivers/driver.ts";
import {
  DELETE_DEPENDENTS,
  DELETE_LABEL,
  FIND_DELETED_INSTANCE,
  FIND_PURGE,
  FORGET_DELETED_INSTANCE,
  MARK_DELETED,
  PURGE_INSTANCES,
  SWEEP_DEPENDENTS,
} from "../sql/instances-delete.ts";

type Row = Record<string, unknown>;

/** How many dependents one transaction deletes: other writers wait for it. */
const MOST_ROWS = 2000;

/** Whether there are instances to purge, or dependents to delete. */
export function hasPurge(driver: SqliteDriver, namespace: string, now: number): boolean {
  return driver.all(FIND_PURGE, [namespace, now]).length > 0 || driver.all(FIND_DELETED_INSTANCE, []).length > 0;
}

/** Deletes instances whose retention is over; `sweepDeleted` deletes their dependents. Returns their number. */
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
 * Deletes a limited number of dependents of deleted instances. Returns the number of instances concerned: as long as it isn't
 * zero, there may be more. No other transaction can be writing new dependents: SQLite has one writer, which checks first that
 * the instance exists.
 */
export function sweepDeleted(driver: SqliteDriver): number {
  let swept = 0;
  for (let room = MOST_ROWS; room > 0; ) {
    const [deleted] = driver.all(FIND_DELETED_INSTANCE, []);
    if (deleted === undefined) break;
    swept++;
    room -= sweep(driver, deleted.ref as string, room);
    if (room > 0) room -= driver.run(FORGET_DELETED_INSTANCE, [deleted.ref as string]);
  }
  return swept;
}

/** Returns the number of rows; if that is all there was room for, there may be more. */
function sweep(driver: SqliteDriver, ref: string, room: number): number {
  return SWEEP_DEPENDENTS.reduce((rows, statement) => rows + driver.run(statement, [ref, room - rows]), 0);
}

/** Deletes all dependents of an instance. */
export function deleteDependents(driver: SqliteDriver, ref: string): void {
  for (const statement of DELETE_DEPENDENTS) driver.run(statement, [ref]);
}

export function deleteLabels(driver: SqliteDriver, { namespace, name, ref, labels }: Row): void {
  if (labels === null) return;
  for (const [key, value] of Object.entries(JSON.parse(labels as string) as Record<string, string>)) {
    driver.run(DELETE_LABEL, [namespace as string, name as string, key, value, ref as string]);
  }
}
