import type { WakeQuestion } from "../queue/claim-request.ts";
import type { QueueLane } from "../queue/lanes.ts";
import { tellDueNames } from "../queue/unclaimed.ts";
import { toNumberOrNull } from "../rows.ts";
import { laneColumns } from "./claim-lanes.ts";
import type { PostgresResult } from "./connection/driver.ts";
import { nextWake, type QueueTable } from "./sql/queue.ts";
import type { SchemaPrefix, Statement } from "./sql/statement.ts";
import { nextWakeWithBeat } from "./sql/workers.ts";
import { workerColumns } from "./worker-statements.ts";

/**
 * Milliseconds until the earliest row of these lanes is due. The heartbeat and the names of due rows are part of the statement.
 */
export async function askNextWake(
  table: QueueTable,
  lanes: readonly QueueLane[],
  { worker, unclaimed }: Omit<WakeQuestion, "takeOver">,
  send: (query: (schema: SchemaPrefix) => Statement, values: unknown[]) => Promise<PostgresResult>,
): Promise<number | null> {
  const names = unclaimed !== undefined;
  if (lanes.length === 0 && worker === undefined && !names) return null;
  const asked = [...laneColumns(lanes), ...(names ? [unclaimed.namespaces, unclaimed.depth] : [])];
  const { rows } = await (worker === undefined
    ? send(nextWake(table, names), asked)
    : send(nextWakeWithBeat(table, names), [...asked, ...workerColumns(worker)]));
  if (names) tellDueNames(unclaimed, rows[0]?.unclaimed);
  return toNumberOrNull(rows[0]?.remaining ?? null);
}
