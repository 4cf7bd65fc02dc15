import { ConflictError, NotFoundError } from "../../errors.ts";
import { checkStepName } from "../../names.ts";
import { checkOptions, invalidOption } from "../../options.ts";
import type { JournalEntry, KeptEntries } from "../../store/instances/instance-records.ts";
import { causesOf } from "../../values/index.ts";
import { StoredStarts } from "../execution/steps/start-order.ts";
import { describeStep, pathOf } from "../execution/steps/step-path.ts";

/** The step from which a restart begins. */
export interface RestartPoint {
  /** The name of a step that has run. */
  readonly name: string;
  /** The nth call with that name. Default: 1. */
  readonly count?: number;
  /** Default: `do`. */
  readonly type?: "do" | "sleep" | "waitForEvent" | "result";
}

/** The entries of one step of a run. */
export interface StepEntries {
  readonly path: string;
  /** Its start order. */
  readonly began: number;
  /** Sorted by position. */
  readonly entries: readonly JournalEntry[];
  /** The entry that ended it; null if it hasn't ended. */
  readonly ending: JournalEntry | null;
}

const TYPES: readonly unknown[] = ["do", "sleep", "waitForEvent", "result"] satisfies RestartPoint["type"][];

export function checkRestartPoint(from: unknown, maxStepName: number): RestartPoint {
  const fields = ["name", "count", "type"];
  checkOptions(from, { label: "from", fields });
  const { name, count = 1, type = "do" } = from as RestartPoint;
  checkStepName(name, maxStepName);
  if (!Number.isInteger(count) || count < 1) throw invalidOption("from.count must be a whole number above zero");
  if (!TYPES.includes(type)) throw invalidOption(`from.type must be one of ${TYPES.join(", ")}`);
  return { name, count, type };
}

/** The steps of a run, in the order in which they began. */
export function groupBySteps(entries: readonly JournalEntry[]): StepEntries[] {
  const steps = new Map<string, { began: number; entries: JournalEntry[] }>();
  const starts = new StoredStarts();
  for (const entry of entries) {
    if (entry.type === "rollback") continue;
    const path = pathOf(entry);
    const step = steps.get(path) ?? { began: Number.NaN, entries: [] };
    steps.set(path, step);
    step.entries.push(entry);
    // A step with progress entries only began, as far as is known, after all entries before them.
    if (!saysPlace(entry)) step.began ||= starts.latest + 0.5;
    else if (!Number.isInteger(step.began)) step.began = starts.next(entry);
  }
  return Array.from(steps, ([path, step]) => ({ path, ...step, ending: step.entries.find(isEnding) ?? null })).sort(
    (left, right) => left.began - right.began,
  );
}

/**
 * The steps that a restart from a step keeps: those that began before it and have ended. `placeOf` returns the start order of
 * steps that have begun in this process and have no entry yet.
 */
export function keptBefore(
  steps: readonly StepEntries[],
  { name, count = 1, type = "do" }: RestartPoint,
  placeOf: (path: string) => number | null,
): StepEntries[] {
  const isNamed = ({ entries: [entry] }: StepEntries) =>
    entry?.name === name && entry.count === count && entry.parent === null;
  const named = steps.filter(isNamed);
  const found = named.find(({ entries: [entry] }) => entry?.type === type);
  const began = found?.began ?? placeOf(pathOf({ type, name, count, parent: null }));
  if (began === null) {
    const others = named.map(({ entries: [entry] }) => entry?.type).filter((other) => TYPES.includes(other));
    const hint = others.length === 0 ? "" : ` It has one of the type ${others.join(", ")}: name that as from.type.`;
    throw new NotFoundError(
      "step.not_found",
      `This run has no step ${describeStep({ type, name, count })} to restart from: see the instance's history.${hint}`,
    );
  }
  const before =
    found === undefined ? steps.filter((step) => step.began < began) : steps.slice(0, steps.indexOf(found));
  return before.filter((step) => step.ending !== null);
}

/**
 * The entries of these steps, for the next run. Steps that aren't kept leave gaps in start order, so each kept one says its
 * place: the code calls the others again in between. Refuses steps that were rolled back: their effects are undone.
 */
export function keepEntriesOf(steps: readonly StepEntries[]): Pick<KeptEntries, "positions" | "places"> {
  const entries = steps.flatMap((step) => step.entries);
  const undone = entries.find(({ kind }) => kind.startsWith("roll"));
  if (undone !== undefined) {
    throw new ConflictError(
      "instance.rolled_back",
      `The step ${describeStep(undone)} was rolled back, so its result can't be kept. Restart from a step before it, or from the beginning.`,
    );
  }
  const placeAt = new Map(steps.map((step) => [step.entries.find(saysPlace)?.position, step.began]));
  const positions = entries.map(({ position }) => position).sort((left, right) => left - right);
  return { positions, places: positions.map((position) => placeAt.get(position) ?? null) };
}

const ENDINGS: readonly JournalEntry["kind"][] = ["completed", "received", "timedOut", "abandoned"];

function isEnding({ kind, dueAt }: JournalEntry): boolean {
  return ENDINGS.includes(kind) || (kind === "failed" && dueAt === null);
}

function saysPlace({ kind }: JournalEntry): boolean {
  return kind !== "progress";
}

/**
 * The steps to keep when the failed steps of a run are retried: all that have ended, except those whose failures ended the run.
 * The run's stored error names them; the error of a failed step names the steps inside it that made it fail. Failures that the
 * code caught stay.
 */
export function keptWithoutFailed(steps: readonly StepEntries[], error: string): StepEntries[] {
  const failures = new Map(steps.filter(hasFailed).map((step) => [step.path, step]));
  const again = new Set<StepEntries>();
  const add = (text: string | null) => {
    for (const path of text === null ? [] : causesOf(text)) {
      const step = failures.get(path);
      if (step === undefined || again.has(step)) continue;
      again.add(step);
      if (step.ending?.kind === "failed") add(step.ending.value);
    }
  };
  add(error);
  if (again.size === 0) {
    throw new ConflictError(
      "instance.no_failed_step",
      "No step's failure ended this run: its function threw an error of its own, or it crashed its processes. Use restart(), with `from` if needed.",
    );
  }
  return steps.filter((step) => step.ending !== null && !again.has(step));
}

function hasFailed({ ending }: StepEntries): boolean {
  return ending?.kind === "failed" || ending?.kind === "timedOut" || ending?.kind === "abandoned";
}
