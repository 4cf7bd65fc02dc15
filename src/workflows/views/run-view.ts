import type { InstanceRecord, InstanceStatus } from "../../store/instances/instance-records.ts";
import type { InstanceStatements } from "../../store/instances/instance-statements.ts";
import { decodeValue, describeError } from "../../values/index.ts";
import type { EventDetails } from "./event-details.ts";

/** One run of an instance, the present one or an earlier one. */
export interface RunView {
  readonly params: string;
  readonly status: InstanceStatus;
  readonly output: string | null;
  readonly error: string | null;
  readonly queuedAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
}

/**
 * When a restart was asked for isn't stored: its run is said to be queued when the run before it was finished, or, if it wasn't,
 * when that was begun.
 */
export async function findRun(
  statements: Pick<InstanceStatements, "pastRuns">,
  record: InstanceRecord,
  run: number,
): Promise<RunView> {
  if (run === 1 && record.run === 1) return { ...record, queuedAt: record.createdAt };
  const past = await statements.pastRuns(record, { after: run - 2, limit: 2 });
  const before = past.find((one) => one.run === run - 1);
  const queuedAt = before?.finishedAt ?? before?.startedAt ?? record.createdAt;
  return { params: record.params, ...(past.find((one) => one.run === run) ?? record), queuedAt };
}

/** How the run ended; null if it didn't, or was restarted before it had. */
export function endOfRun({ status, output, error, finishedAt }: RunView): (EventDetails & { at: number }) | null {
  const at = finishedAt ?? 0;
  if (status === "complete") return { at, type: "workflow_completed", output: decodeValue(output as string) };
  if (status === "errored") return { at, type: "workflow_errored", error: describeError(decodeValue(error as string)) };
  return status === "terminated" ? { at, type: "workflow_terminated" } : null;
}
