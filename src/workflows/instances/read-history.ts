import { decodeCursor, encodeCursor } from "../../cursor.ts";
import { InvalidInputError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import type { HistoryEntry, InstanceRecord, PastRun } from "../../store/instances/instance-records.ts";
import type { InstanceStatements } from "../../store/instances/instance-statements.ts";
import { decodeValue, describeError, shownOrUnreadable } from "../../values/index.ts";
import { toRollback } from "../rollback/rollback-outcome.ts";
import { shownValue } from "../views/journal-events.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import type { EarlierRun, HistoryItem, HistoryOptions, HistoryPage } from "./history-page.ts";

/** The bytes of stored values after which a page includes no more entries. */
const FULL_PAGE = 8 * 1024 * 1024;
/** The characters of JSON after which a page includes no more earlier runs. */
const FULL_RUNS = 2 * 1024 * 1024;
const MOST_RUNS = 100;
const RUNS_AT_ONCE = 4;
const CURSOR = /^(\d{1,9})\.(\d{1,9})$/;

export async function readHistory(
  runtime: WorkflowRuntime,
  instance: InstanceRecord,
  options: HistoryOptions,
): Promise<HistoryPage> {
  checkOptions(options, { label: "history", fields: ["run", "order", "limit", "cursor", "runsAfter"] });
  const { run = null, order = "oldest", limit = 100, cursor, runsAfter = 0 } = options;
  if (run !== null && !(Number.isInteger(run) && run >= 1)) throw invalid("run must be a whole number above zero");
  if (order !== "oldest" && order !== "newest") throw invalid('order must be "oldest" or "newest"');
  if (!(Number.isInteger(runsAfter) && runsAfter >= 0)) throw invalid("runsAfter must be the number of a run");
  checkLimit(limit);
  const { statements } = runtime.store.instances;
  const after = cursor === undefined ? null : parseCursor(cursor);
  const filter = { ref: instance.ref, instance, run, after, order, limit: limit + 1, maxBytes: FULL_PAGE };
  const { entries, full } = await statements.history(filter);
  const earlierRuns = await readEarlierRuns(statements, instance, runsAfter);
  const page = entries.slice(0, limit);
  const last = page.at(-1);
  const more = (full || entries.length > limit) && last !== undefined;
  return {
    run: instance.run,
    ...earlierRuns,
    entries: page.map(toItem),
    cursor: more ? encodeCursor(`${last.run}.${last.position}`) : null,
  };
}

/** Outputs may be large, so it reads few runs at a time, and no more than fit. */
async function readEarlierRuns(
  statements: Pick<InstanceStatements, "pastRuns">,
  instance: InstanceRecord,
  first: number,
): Promise<Pick<HistoryPage, "earlierRuns" | "runsCursor">> {
  const earlierRuns: EarlierRun[] = [];
  let after = first;
  for (let length = 0; length < FULL_RUNS && earlierRuns.length < MOST_RUNS; ) {
    const runs = await statements.pastRuns(instance, { after, limit: RUNS_AT_ONCE });
    for (const run of runs) {
      length += lengthOf(run);
      if (length > FULL_RUNS && earlierRuns.length > 0) return { earlierRuns, runsCursor: after };
      earlierRuns.push(toEarlierRun(run));
      after = run.run;
    }
    if (runs.length < RUNS_AT_ONCE) return { earlierRuns, runsCursor: null };
  }
  return { earlierRuns, runsCursor: after };
}

function lengthOf({ output, error, rollback }: PastRun): number {
  return (output?.length ?? 0) + (error?.length ?? 0) + (rollback?.length ?? 0);
}

export function checkLimit(limit: unknown): void {
  const accepted = typeof limit === "number" && Number.isInteger(limit) && limit >= 1 && limit <= 1000;
  if (!accepted) throw invalid("limit must be a whole number from 1 to 1000");
}

function parseCursor(cursor: string): { run: number; position: number } {
  const [, run, position] = CURSOR.exec(decodeCursor(cursor)) ?? [];
  if (run !== undefined && position !== undefined) return { run: Number(run), position: Number(position) };
  throw new InvalidInputError("cursor.invalid", "The cursor must be that of a page of this history.");
}

function toItem(entry: HistoryEntry): HistoryItem {
  const { run, position, at, kind, type, name, count, attempt, value, dueAt, eventType, eventPayload, parent } = entry;
  const failed = kind === "failed" || kind === "rollbackFailed" || kind === "rollingBack";
  const progress = kind === "progress";
  const waits = kind === "waiting" || kind === "timedOut";
  const text = type === "sleep" ? null : value; // the value of a sleep is its duration
  return {
    run,
    position,
    at: new Date(at),
    kind,
    type,
    name,
    count,
    ...(parent === null ? {} : { inside: parent }),
    ...(attempt > 0 ? { attempt } : {}),
    ...(dueAt === null ? {} : { dueAt: new Date(dueAt) }),
    ...shownOrUnreadable(() => ({
      ...(text !== null && progress ? { progress: decodeValue(text) } : {}),
      ...(text !== null && waits ? { awaits: String(decodeValue(text)) } : {}),
      ...(text !== null && !failed && !waits && !progress ? { output: shownValue(text) } : {}),
      ...(text !== null && failed ? { error: describeError(decodeValue(text)) } : {}),
      ...(eventType === null ? {} : { event: { type: eventType, payload: decodeValue(eventPayload as string) } }),
    })),
  };
}

function toEarlierRun({ run, status, output, error, rollback, startedAt, finishedAt }: PastRun): EarlierRun {
  return {
    run,
    status,
    ...shownOrUnreadable(() => ({
      ...(output === null ? {} : { output: decodeValue(output) }),
      ...(error === null ? {} : { error: describeError(decodeValue(error)) }),
      ...toRollback(rollback),
    })),
    startedAt: startedAt === null ? null : new Date(startedAt),
    finishedAt: finishedAt === null ? null : new Date(finishedAt),
  };
}

function invalid(problem: string): InvalidInputError {
  return new InvalidInputError("options.invalid", `${problem}.`);
}
