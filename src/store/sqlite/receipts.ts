import type { Receipt } from "../request-statements.ts";
import type { SqliteAccess } from "./drivers/driver.ts";
import { BEGIN_REQUEST, FIND_REQUEST } from "./sql/requests.ts";

type Access = Pick<SqliteAccess, "driver" | "now">;

/**
 * Does something and writes its receipt, if it has one, inside a transaction that is open already. Does nothing where the
 * receipt is there, and gives null.
 */
export function doOnce<Result>(
  { driver, now }: Access,
  { namespace, receipt }: { readonly namespace: string; readonly receipt?: Receipt },
  perform: () => Result,
  isDone: (result: Result) => boolean,
): Result | null {
  if (receipt === undefined) return perform();
  const { key, note, keepMs } = receipt;
  if (driver.all(FIND_REQUEST, [namespace, key, now()]).length > 0) return null;
  const result = perform();
  if (isDone(result)) driver.run(BEGIN_REQUEST, [namespace, key, "", note, now() + keepMs]);
  return result;
}
