import type { WakeQuestion } from "../queue/claim-request.ts";
import type { QueueLane } from "../queue/lanes.ts";
import { tellDueNames } from "../queue/unclaimed.ts";
import { toNumber, toNumberOrNull } from "../rows.ts";
import { laneColumns, wholeLanes } from "./claim-lanes.ts";
import type { PostgresResult } from "./connection/driver.ts";
import type { QueueHorizon } from "./queue-horizon.ts";
import { nextWake, type QueueTable } from "./sql/queue.ts";
import type { SchemaPrefix, Statement } from "./sql/statement.ts";
import { nextWakeWithBeat } from "./sql/workers.ts";
import { workerColumns } from "./worker-statements.ts";

/**
 * Milliseconds until the earliest row of these lanes is due, or as far ahead as the horizon lets them be looked at. The
 * heartbeat is part of the statement; so are the names of due rows, unless only a part of the lanes is looked at.
 */
export async function askNextWake(
  table: QueueTable,
  lanes: readonly QueueLane[],
  { worker, unclaimed }: Omit<WakeQuestion, "takeOver">,
  horizon: QueueHorizon,
  send: (query: (schema: SchemaPrefix) => Statement, values: unknown[]) => Promise<PostgresResult>,
): Promise<number | null> {
  if (lanes.length === 0 && worker === undefined && unclaimed === undefined) return null;
  const since = horizon.since(lanes);
  const { ahead } = horizon;
  const names = unclaimed !== undefined && since === null;
  const asked = [
    ...laneColumns(lanes),
    since ?? wholeLanes(lanes),
    since === null ? Number.MAX_SAFE_INTEGER : ahead,
    ...(names ? [unclaimed.namespaces, unclaimed.depth] : []),
  ];
  const { rows } = await (worker === undefined
    ? send(nextWake(table, names), asked)
    : send(nextWakeWithBeat(table, names), [...asked, ...workerColumns(worker)]));
  if (names) tellDueNames(unclaimed, rows[0]?.unclaimed);
  const [row = { now: 0, remaining: null, took: 0 }] = rows;
  const remaining = toNumberOrNull(row.remaining);
  horizon.saw(lanes, { now: toNumber(row.now), remaining });
  if (since === null) horizon.took(toNumber(row.took));
  return since === null ? remaining : Math.min(remaining ?? ahead, ahead);
}
