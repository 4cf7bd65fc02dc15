import type { JournalEntry } from "../../store/instances/instance-records.ts";
import { StoredStarts } from "./steps/start-order.ts";
import { pathOf, type StepIdentity } from "./steps/step-path.ts";

/** The stored attempts at a step, or at its rollback. */
export interface AttemptRecord {
  /** Of the last attempt that failed. */
  failedAttempt: number;
  /** Of the last attempt that is known to have begun. */
  startedAttempt: number;
  /** When the next attempt is due, or the deadline of a wait. */
  dueAt: number | null;
  /** Its ending: `completed`, `received`, `timedOut`, `rolledBack`, or a failure with no attempt left. */
  ending: JournalEntry | null;
  /** Where its progress begins; null for most. */
  progressFrom: number | null;
  /** Of the last attempt that emitted something. */
  progressAttempt: number;
}

/** Everything that is stored about one step of a run. */
export interface StepRecord extends StepIdentity, AttemptRecord {
  /** Its place in start order; null if it has no entries but its progress. */
  began: number | null;
  /** Whether the code has called this step. */
  reached: boolean;
  /** The stored attempts at its rollback; null if it had none when it began. */
  undo: AttemptRecord | null;
}

/** The journal of a run, by step. */
export class RunJournal {
  /** Since this entry the run is rolled back. */
  rollingBack: JournalEntry | null = null;
  /** Steps that have a rollback, in the order in which they began. */
  readonly undoable: StepRecord[] = [];
  readonly #starts = new StoredStarts();
  /** By path. */
  readonly #records = new Map<string, StepRecord>();
  /** The steps inside each step, or none (null), in start order, from the first that the code may not have called. */
  #expected: Map<string | null, StepRecord[]> | undefined;

  constructor(entries: readonly JournalEntry[]) {
    for (const entry of entries) this.#add(entry);
  }

  /** The latest place in start order. */
  get latestStart(): number {
    return this.#starts.latest;
  }

  /** The record of this call of a step, under its name or an older one. */
  find(step: StepIdentity, aliases: readonly string[]): StepRecord | null {
    const { type, count, parent } = step;
    for (const name of [step.name, ...aliases]) {
      const record = this.#records.get(pathOf({ type, name, count, parent }));
      if (record !== undefined) return record;
    }
    return null;
  }

  /**
   * Steps that have run before, but that this code hasn't called. Steps inside a finished step aren't expected to be called.
   */
  unreached(): StepRecord[] {
    return [...this.#records.values()].filter((record) => !record.reached && this.#isExpected(record));
  }

  /**
   * The first step inside `parent` that began no later than this place in start order, and that the code hasn't called. A
   * replay calls steps in start order, so a new step in this place means that the code has changed.
   */
  expectedBy(place: number, parent: string | null): StepRecord | null {
    this.#expected ??= this.#inStartOrder();
    const expected = this.#expected.get(parent);
    const [first] = expected ?? [];
    if (expected === undefined || first === undefined || startOf(first) > place) return null;
    if (!first.reached) return first;
    this.#expected.set(
      parent,
      expected.filter(({ reached }) => !reached),
    );
    return this.expectedBy(place, parent);
  }

  #inStartOrder(): Map<string | null, StepRecord[]> {
    const started = [...this.#records.values()].filter(({ began }) => began !== null);
    const byParent = new Map<string | null, StepRecord[]>();
    for (const record of started.sort((one, other) => startOf(one) - startOf(other))) {
      const siblings = byParent.get(record.parent);
      if (siblings === undefined) byParent.set(record.parent, [record]);
      else siblings.push(record);
    }
    return byParent;
  }

  #isExpected({ parent }: StepRecord): boolean {
    if (parent === null) return true;
    const outer = this.#records.get(parent);
    return outer?.reached === true && outer.ending === null;
  }

  #add(entry: JournalEntry): void {
    if (entry.kind === "rollingBack") {
      this.rollingBack = entry;
      return;
    }
    const record = this.#recordOf(entry);
    if (entry.kind !== "progress") record.began ??= this.#starts.next(entry);
    add(entry, record, this.undoable);
  }

  #recordOf(entry: JournalEntry): StepRecord {
    const { type, name, count, parent } = entry;
    const path = pathOf(entry);
    let record = this.#records.get(path);
    if (record === undefined) {
      record = { type, name, count, parent, ...noAttempts(), began: null, reached: false, undo: null };
      this.#records.set(path, record);
    }
    return record;
  }
}

function startOf({ began }: StepRecord): number {
  return began as number;
}

function add(entry: JournalEntry, record: StepRecord, undoable: StepRecord[]): void {
  switch (entry.kind) {
    case "undoable":
      record.undo = noAttempts();
      undoable.push(record);
      record.startedAttempt = entry.attempt;
      return;
    case "rollbackStarted":
    case "rolledBack":
    case "rollbackFailed":
      addAttempt(entry, record.undo ?? record);
      return;
    default:
      addAttempt(entry, record);
  }
}

function addAttempt({ kind, ...entry }: JournalEntry, record: AttemptRecord): void {
  const failed = kind === "failed" || kind === "rollbackFailed";
  if (kind === "progress") {
    record.progressFrom ??= entry.position;
    record.progressAttempt = entry.attempt;
  } else if (kind === "started" || kind === "rollbackStarted") record.startedAttempt = entry.attempt;
  else if (kind === "waiting") record.dueAt = entry.dueAt;
  else if (failed && entry.dueAt !== null) {
    record.failedAttempt = entry.attempt;
    record.dueAt = entry.dueAt;
  } else record.ending = { kind, ...entry };
}

function noAttempts(): AttemptRecord {
  return { ending: null, failedAttempt: 0, startedAttempt: 0, dueAt: null, progressFrom: null, progressAttempt: 0 };
}
