import { decodeCursor, encodeCursor } from "../../cursor.ts";
import { InvalidInputError } from "../../errors.ts";
import { checkOptions, invalidOption } from "../../options.ts";
import type {
  EndNotice,
  HistoryEntry,
  InstanceRecord,
  PastRun,
  StepType,
} from "../../store/instances/instance-records.ts";
import type { Store } from "../../store/store.ts";
import { decodeValue, describeWithStack, shownOrUnreadable } from "../../values/index.ts";
import { shownVersion } from "../define/version.ts";
import { NEVER } from "../execution/steps/result-call.ts";
import { toRollback } from "../rollback/rollback-outcome.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import type { EarlierRun, HistoryItem, HistoryOptions, HistoryPage } from "./history-page.ts";
import { shownValue } from "./journal-events.ts";

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
  if (run !== null && !(Number.isInteger(run) && run >= 1))
    throw invalidOption("run must be a whole number above zero");
  if (order !== "oldest" && order !== "newest") throw invalidOption('order must be "oldest" or "newest"');
  if (!(Number.isInteger(runsAfter) && runsAfter >= 0)) throw invalidOption("runsAfter must be the number of a run");
  checkLimit(limit);
  const { stackTraces } = runtime.store;
  const { statements } = runtime.store.instances;
  const after = cursor === undefined ? null : parseCursor(cursor);
  const filter = { ref: instance.ref, instance, run, after, order, limit: limit + 1, maxBytes: FULL_PAGE };
  const { entries, full } = await statements.history(filter);
  const earlierRuns = await readEarlierRuns(runtime.store, instance, runsAfter);
  const page = entries.slice(0, limit);
  const last = page.at(-1);
  const more = (full || entries.length > limit) && last !== undefined;
  return {
    run: instance.run,
    ...shownVersion(instance),
    ...earlierRuns,
    entries: page.map((entry) => toItem(entry, stackTraces)),
    cursor: more ? encodeCursor(`${last.run}.${last.position}`) : null,
  };
}

/** Outputs may be large, so it reads few runs at a time, and no more than fit. */
async function readEarlierRuns(
  { instances, stackTraces }: Store,
  instance: InstanceRecord,
  first: number,
): Promise<Pick<HistoryPage, "earlierRuns" | "runsCursor">> {
  const earlierRuns: EarlierRun[] = [];
  let after = first;
  for (let length = 0; length < FULL_RUNS && earlierRuns.length < MOST_RUNS; ) {
    const runs = await instances.statements.pastRuns(instance, { after, limit: RUNS_AT_ONCE });
    for (const run of runs) {
      length += lengthOf(run);
      if (length > FULL_RUNS && earlierRuns.length > 0) return { earlierRuns, runsCursor: after };
      earlierRuns.push(toEarlierRun(run, stackTraces));
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
  if (!accepted) throw invalidOption("limit must be a whole number from 1 to 1000");
}

function parseCursor(cursor: string): { run: number; position: number } {
  const [, run, position] = CURSOR.exec(decodeCursor(cursor)) ?? [];
  if (run !== undefined && position !== undefined) return { run: Number(run), position: Number(position) };
  throw new InvalidInputError("cursor.invalid", "The cursor must be that of a page of this history.");
}

function toItem(entry: HistoryEntry, stackTraces: boolean): HistoryItem {
  const { run, position, at, kind, type, name, count, attempt, value, dueAt, eventType, eventPayload, parent } = entry;
  const failed = kind === "failed" || kind === "rollbackFailed" || kind === "rollingBack" || kind === "abandoned";
  const progress = kind === "progress";
  const waits = kind === "waiting" || kind === "timedOut";
  const text = type === "sleep" ? null : value; // the value of a sleep is its duration
  const endless = dueAt !== null && dueAt >= NEVER;
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
    ...(dueAt === null || endless ? {} : { dueAt: new Date(dueAt) }),
    ...shownOrUnreadable(() => ({
      ...(text !== null && progress ? { progress: decodeValue(text) } : {}),
      ...(text !== null && waits ? { awaits: String(decodeValue(text)) } : {}),
      ...(text !== null && !failed && !waits && !progress ? { output: shownValue(text) } : {}),
      ...(text !== null && failed ? { error: describeWithStack(decodeValue(text), stackTraces) } : {}),
      ...(eventType === null ? {} : toEvent(type, eventType, eventPayload as string)),
    })),
  };
}

/** The end of another instance came as an event: it is shown as the step's output, and its error is shown already. */
function toEvent(step: StepType, type: string, payload: string): Pick<HistoryItem, "output" | "event"> {
  if (step === "token") return { event: { type: "token", payload: decodeValue(payload) } };
  if (step !== "result") return { event: { type, payload: decodeValue(payload) } };
  const end = JSON.parse(payload) as EndNotice;
  return end.status === "complete" ? { output: shownValue(end.output) } : {};
}

function toEarlierRun(past: PastRun, stackTraces: boolean): EarlierRun {
  const { run, status, output, error, rollback, startedAt, finishedAt } = past;
  return {
    run,
    ...shownVersion(past),
    status,
    ...shownOrUnreadable(() => ({
      ...(output === null ? {} : { output: decodeValue(output) }),
      ...(error === null ? {} : { error: describeWithStack(decodeValue(error), stackTraces) }),
      ...toRollback(rollback, stackTraces),
    })),
    startedAt: startedAt === null ? null : new Date(startedAt),
    finishedAt: finishedAt === null ? null : new Date(finishedAt),
  };
}
