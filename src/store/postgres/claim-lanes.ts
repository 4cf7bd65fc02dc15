import type { ClaimRequest } from "../queue/claim-request.ts";
import { hookLanes, instanceLanes, type QueueLane } from "../queue/lanes.ts";
import { BEFORE_ALL_RANKS } from "../queue/rank.ts";
import { toNumber } from "../rows.ts";
import { compareText } from "../text-order.ts";
import type { ClaimProgress } from "./claim-progress.ts";
import type { PostgresResult } from "./driver.ts";
import { laneColumns } from "./hook-columns.ts";
import { QUEUE_KEY, type QueueTable } from "./sql/queue.ts";

type Row = Record<string, unknown>;

/** Sends a claim whose first parameters after the time are these. */
export type SendClaim = (values: unknown[]) => Promise<PostgresResult>;

/** Claims what is due, where the last claim stopped and then from the start. The rows are in the order in which they were taken. */
export async function claimLanes(
  table: QueueTable,
  request: ClaimRequest,
  progress: ClaimProgress,
  send: SendClaim,
): Promise<Row[]> {
  if (request.limit <= 0) return [];
  const claimed = progress.resumes() ? await claimFrom(table, request, progress, false, send) : [];
  if (claimed.length === request.limit) return claimed;
  const rest = { ...request, limit: request.limit - claimed.length };
  return claimed.concat(await claimFrom(table, rest, progress, true, send));
}

/** From the start of each lane, or from where the last claim stopped, which leaves out what lost owners left behind. */
async function claimFrom(
  table: QueueTable,
  request: ClaimRequest,
  progress: ClaimProgress,
  fromStart: boolean,
  send: SendClaim,
): Promise<Row[]> {
  const { limit, lock, leaseMs, mostLost = 1 } = request;
  const lanesOf = table === "hook" ? hookLanes : instanceLanes;
  const lanes = lanesOf(request.scopes, request.takeOver && fromStart);
  if (lanes.length === 0) return [];
  const since = lanes.map((lane) => (fromStart ? BEFORE_ALL_RANKS : progress.stoppedAt(lane)));
  const { rows } = await send([...laneColumns(lanes), since, limit, lock, leaseMs, mostLost]);
  const key = QUEUE_KEY[table];
  rows.sort((left, right) => byLane(left, right) || compareText(left[key] as string, right[key] as string));
  if (fromStart) progress.begin();
  for (const row of rows) progress.note(lanes[toNumber(row.index) - 1] as QueueLane, toNumber(row.due_at));
  progress.end({ full: rows.length === limit });
  return rows;
}

/** The order in which a claim takes rows; those that an update returns come in any. */
function byLane(left: Row, right: Row): number {
  return toNumber(left.index) - toNumber(right.index) || toNumber(left.due_at) - toNumber(right.due_at);
}
