import type { InstanceCommit, InstanceCommitResult } from "../../instances/instance-records.ts";
import { toNumber } from "../../rows.ts";

type Row = Record<string, unknown>;

/** Whether a commit ends a run. */
export function isEnd({ outcome: { kind } }: InstanceCommit): boolean {
  return kind === "completed" || kind === "errored" || kind === "terminated";
}

/** The results of the commits that were held. See `tellHeld`. */
export function toCommitResults(
  commits: readonly InstanceCommit[],
  row: Row | undefined,
): Map<InstanceCommit, InstanceCommitResult> {
  const results = new Map<InstanceCommit, InstanceCommitResult>();
  const at = toNumber(row?.at);
  const wakes = toList(row?.wakes);
  const paused = new Set(toList(row?.paused));
  for (const [held, index] of toList(row?.indexes).entries()) {
    const commit = commits[Number(index) - 1] as InstanceCommit;
    results.set(commit, { result: "written", at, wakes: Number(wakes[held]), paused: paused.has(index) });
  }
  return results;
}

function toList(text: unknown): string[] {
  return typeof text === "string" ? text.split(",") : [];
}
