import type { HookLane } from "../hook-lanes.ts";
import { WorkClass } from "../work-class.ts";
import type { SqliteAccess } from "./access.ts";
import type { SqliteDriver } from "./driver.ts";

type Row = Record<string, unknown>;

/** What is due in these lanes, lane by lane: at most one row to take over, and no more than the limit. */
export function findDue(
  driver: SqliteDriver,
  statement: string,
  { lanes, limit, now }: { lanes: readonly HookLane[]; limit: number; now: number },
): Row[] {
  const found: Row[] = [];
  let takenOver = 0;
  for (const lane of lanes) {
    const leased = lane.class === WorkClass.leased;
    const room = leased ? 1 - takenOver : limit - found.length;
    if (room <= 0) continue;
    const rows = driver.all(statement, [lane.namespace, lane.class, now, JSON.stringify(lane.names), room]);
    if (leased) takenOver += rows.length;
    found.push(...rows);
  }
  return found;
}

/** Milliseconds until the earliest row of these lanes is due. */
export async function findNextWake(
  access: SqliteAccess,
  statement: string,
  lanes: readonly HookLane[],
): Promise<number | null> {
  if (lanes.length === 0) return null;
  return access.read(() => {
    const [row] = access.driver.all(statement, [JSON.stringify(lanes)]);
    const availableAt = row?.available_at ?? null;
    return availableAt === null ? null : Number(availableAt) - access.now();
  });
}
