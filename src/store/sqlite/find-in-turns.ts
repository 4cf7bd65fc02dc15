import type { SubjectClaim } from "../subjects/subject-records.ts";
import type { SqliteDriver } from "./driver.ts";
import { FIND_DUE_IN_GROUP, NEXT_GROUP } from "./sql/subjects.ts";

type Row = Record<string, unknown>;

/** Goes round the groups that have something due, from where the last claim ended, and takes from each the same number. */
export function findInTurns(
  driver: SqliteDriver,
  claim: SubjectClaim,
  dueBy: number,
): { found: Row[]; lastGroup: string | null } {
  const { fair } = claim;
  if (fair === null || fair.limit <= 0) return { found: [], lastGroup: null };
  const { profile, dispatcherId } = claim;
  const dueIn = (group: string, limit: number) =>
    driver.all(FIND_DUE_IN_GROUP, [profile, dispatcherId, group, dueBy, limit]);
  const seen = walk(driver, claim);
  const groups = seen.filter((group) => dueIn(group, 1).length > 0).slice(0, fair.limit);
  const share = Math.floor(fair.limit / groups.length);
  const found = groups.flatMap((group, turn) => dueIn(group, share + (turn < fair.limit % groups.length ? 1 : 0)));
  return { found, lastGroup: groups.at(-1) ?? seen.at(-1) ?? null };
}

/** The next groups, and after the last one those from the beginning. */
function walk(driver: SqliteDriver, { profile, dispatcherId, fair }: SubjectClaim): string[] {
  const next = (after: string) => driver.all(NEXT_GROUP, [profile, dispatcherId, after])[0]?.group_key as string;
  const seen: string[] = [];
  for (let group = next(fair?.after ?? "") ?? next(""); group !== undefined && group !== seen[0]; ) {
    seen.push(group);
    if (seen.length === fair?.groups) break;
    group = next(group) ?? next("");
  }
  return seen;
}
