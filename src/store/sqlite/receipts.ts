import type { Receipt } from "../request-statements.ts";
import type { SqliteAccess } from "./driver.ts";
import { BEGIN_REQUEST, FIND_REQUEST } from "./sql/requests.ts";

type Access = Pick<SqliteAccess, "driver" | "now">;

/** Inside of a transaction that is open already. */
export function hasReceipt({ driver, now }: Access, namespace: string, { key }: Receipt): boolean {
  return driver.all(FIND_REQUEST, [namespace, key, now()]).length > 0;
}

/** The same. */
export function writeReceipt({ driver, now }: Access, namespace: string, { key, note, keepMs }: Receipt): void {
  driver.run(BEGIN_REQUEST, [namespace, key, "", note, now() + keepMs]);
}
