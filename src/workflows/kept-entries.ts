import { ConflictError, InvalidInputError, NotFoundError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import type { JournalEntry } from "../store/instance-records.ts";
import { checkStepName } from "./names.ts";
import { describeStep, pathOf } from "./step-path.ts";

/** Where a restart begins. */
export interface RestartPoint {
  /** Of a step that has run. */
  readonly name: string;
  /** Which call of that name. Default: 1. */
  readonly count?: number;
  /** Needed where steps of several types have that name. */
  readonly type?: "do" | "sleep" | "waitForEvent";
}

/** One step of a run, in the journal. */
export interface StepEntries {
  readonly path: string;
  /** In the order of their positions. */
  readonly entries: readonly JournalEntry[];
  /** What it came to; null if it hasn't ended. */
  readonly ending: JournalEntry | null;
}

const TYPES: readonly unknown[] = ["do", "sleep", "waitForEvent"] satisfies RestartPoint["type"][];

export function checkRestartPoint(from: unknown, maxStepName: number): RestartPoint {
  const fields = ["name", "count", "type"];
  checkOptions(from, { label: "from", fields });
  const { name, count = 1, type } = from as RestartPoint;
  checkStepName(name, maxStepName);
  if (!Number.isInteger(count) || count < 1) throw invalid("from.count must be a whole number above zero");
  if (type !== undefined && !TYPES.includes(type)) throw invalid(`from.type must be one of ${TYPES.join(", ")}`);
  return type === undefined ? { name, count } : { name, count, type };
}

/** The steps of a run, in the order of their first entries. */
export function groupBySteps(entries: readonly JournalEntry[]): StepEntries[] {
  const steps = new Map<string, JournalEntry[]>();
  for (const entry of entries) {
    if (entry.type === "rollback") continue;
    const path = pathOf(entry);
    const known = steps.get(path);
    if (known === undefined) steps.set(path, [entry]);
    else known.push(entry);
  }
  return [...steps].map(([path, own]) => ({ path, entries: own, ending: own.find(isEnding) ?? null }));
}

/** What a restart from a step keeps: everything that had ended of what is in the journal before that step. */
export function keptBefore(steps: readonly StepEntries[], { name, count = 1, type }: RestartPoint): StepEntries[] {
  const found = steps.findIndex(({ entries: [entry] }) => {
    const own = entry as JournalEntry;
    const matches = own.name === name && own.count === count && (type === undefined || own.type === type);
    return matches && own.parent === null && own.type !== "create";
  });
  if (found < 0) {
    const wanted =
      type === undefined ? `"${name}"${count === 1 ? "" : `#${count}`}` : describeStep({ type, name, count });
    throw new NotFoundError(
      "step.not_found",
      `This run has no step ${wanted} to begin from: see the instance's history.`,
    );
  }
  const { path } = steps[found] as StepEntries;
  return steps.slice(0, found).filter((step) => step.ending !== null && !isInside(step, path));
}

/** The positions of these steps' entries. Refuses what was rolled back: its effects aren't there any more. */
export function positionsOf(steps: readonly StepEntries[]): number[] {
  const entries = steps.flatMap((step) => step.entries);
  const undone = entries.find(({ kind }) => kind.startsWith("roll"));
  if (undone !== undefined) {
    throw new ConflictError(
      "instance.rolled_back",
      `The step ${describeStep(undone)} was rolled back, so its result can't be kept. Restart from a step before it, or from the beginning.`,
    );
  }
  return entries.map(({ position }) => position).sort((left, right) => left - right);
}

/** Whether it was called inside of the step of this path. */
export function isInside({ path }: StepEntries, outer: string): boolean {
  return path.startsWith(`${outer}/`);
}

function isEnding({ kind, dueAt }: JournalEntry): boolean {
  return kind === "completed" || kind === "received" || kind === "timedOut" || (kind === "failed" && dueAt === null);
}

function invalid(problem: string): InvalidInputError {
  return new InvalidInputError("options.invalid", `${problem}.`);
}
