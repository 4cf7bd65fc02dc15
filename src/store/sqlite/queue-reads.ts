import type { WakeQuestion } from "../queue/claim-request.ts";
import type { QueueLane } from "../queue/lanes.ts";
import { tellDueNames } from "../queue/unclaimed.ts";
import { WorkClass } from "../queue/work-class.ts";
import type { SqliteAccess, SqliteDriver } from "./drivers/driver.ts";
import { writeBeat } from "./worker-statements.ts";

type Row = Record<string, unknown>;

export interface DueStatements {
  readonly due: string;
  /** Of the leased lanes, only rows that have lost no owner before the present one. */
  readonly lostOnce: string;
}

interface DueRequest {
  readonly lanes: readonly QueueLane[];
  readonly limit: number;
  readonly mostLost?: number | undefined;
  readonly now: number;
}

/**
 * The due rows of these lanes, lane by lane, up to the limit. Of the rows to take over, up to `mostLost` that have lost only
 * one owner; if there are none, one that has lost more.
 */
export function findDue(driver: SqliteDriver, { due, lostOnce }: DueStatements, request: DueRequest): Row[] {
  const { lanes, limit, mostLost = 1 } = request;
  const leased = lanes.filter((lane) => lane.class === WorkClass.leased);
  const others = lanes.filter((lane) => lane.class !== WorkClass.leased);
  const found = findIn(driver, lostOnce, leased, Math.min(mostLost, limit), request.now);
  if (found.length === 0) found.push(...findIn(driver, due, leased, Math.min(mostLost, 1), request.now));
  found.push(...findIn(driver, due, others, limit - found.length, request.now));
  return found;
}

function findIn(
  driver: SqliteDriver,
  statement: string,
  lanes: readonly QueueLane[],
  limit: number,
  now: number,
): Row[] {
  const found: Row[] = [];
  for (const { namespace, class: workClass, names } of lanes) {
    if (found.length >= limit) break;
    const room = limit - found.length;
    found.push(...driver.all(statement, [namespace, workClass, now, JSON.stringify(names), room]));
  }
  return found;
}

export interface WakeStatements {
  readonly plain: string;
  /** Tells which names have due rows, too. */
  readonly unclaimed: string;
}

/**
 * Milliseconds until the earliest row of these lanes is due. Writes the heartbeat of the worker that asks, too, if it is given.
 */
export async function findNextWake(
  access: SqliteAccess,
  statements: WakeStatements,
  lanes: readonly QueueLane[],
  { worker, unclaimed }: Omit<WakeQuestion, "takeOver">,
): Promise<number | null> {
  if (lanes.length === 0 && worker === undefined && unclaimed === undefined) return null;
  const scopes = new Map(lanes.map(({ namespace, names }) => [names, { namespace, names }])); // lanes share their scope's names
  const parameters = [
    JSON.stringify(lanes.map(({ namespace, class: workClass }) => ({ namespace, class: workClass }))),
    JSON.stringify([...scopes.values()]),
  ];
  const { driver } = access;
  const ask = () => {
    const now = access.now();
    const [row] =
      unclaimed === undefined
        ? driver.all(statements.plain, parameters)
        : driver.all(statements.unclaimed, [...parameters, JSON.stringify(unclaimed.namespaces), now, unclaimed.depth]);
    if (unclaimed !== undefined) tellDueNames(unclaimed, row?.unclaimed);
    const availableAt = row?.available_at ?? null;
    return availableAt === null ? null : Number(availableAt) - access.now();
  };
  if (worker === undefined) return access.read(ask);
  return access.write(() => {
    writeBeat(access, worker);
    return ask();
  });
}
