import type { JournalEntry } from "../store/instance-records.ts";
import { pathOf, type StepIdentity } from "./step-path.ts";

/** Everything that is stored about one step of a run. */
export interface StepRecord extends StepIdentity {
  /** What it came to: `completed`, `received`, `timedOut`, or `failed` with no attempt left. */
  ending: JournalEntry | null;
  /** Of the last attempt that failed. */
  failedAttempt: number;
  /** Of the last attempt that is known to have begun. */
  startedAttempt: number;
  /** When the next attempt is due, or the deadline of a wait. */
  dueAt: number | null;
  /** Where what it told on the way begins; null for most. */
  progressFrom: number | null;
  /** Of the last attempt that told something. */
  progressAttempt: number;
  /** Whether the code has called this step. */
  reached: boolean;
}

/** The journal of a run, by step. */
export class RunJournal {
  /** Made when there is something to remember: most runs are never loaded. */
  #records: Map<string, StepRecord> | undefined;

  constructor(entries: readonly JournalEntry[] = []) {
    for (const entry of entries) this.#add(entry);
  }

  /** What is stored about the n-th call of this step, under its name or an older one. */
  find(step: StepIdentity, aliases: readonly string[]): StepRecord | null {
    if (this.#records === undefined) return null;
    for (const name of [step.name, ...aliases]) {
      const record = this.#records.get(pathOf({ ...step, name }));
      if (record !== undefined) return record;
    }
    return null;
  }

  /** Steps that have run before, but that this code hasn't called. Those inside of a finished step aren't expected to be. */
  unreached(): StepRecord[] {
    return [...(this.#records?.values() ?? [])].filter(({ reached, parent }) => !reached && parent === null);
  }

  #add(entry: JournalEntry): void {
    const { type, name, count, parent, kind } = entry;
    const path = pathOf(entry);
    this.#records ??= new Map();
    let record = this.#records.get(path);
    if (record === undefined) {
      const nothing = {
        ending: null,
        failedAttempt: 0,
        startedAttempt: 0,
        dueAt: null,
        progressFrom: null,
        progressAttempt: 0,
        reached: false,
      };
      record = { type, name, count, parent, ...nothing };
      this.#records.set(path, record);
    }
    if (kind === "progress") {
      record.progressFrom ??= entry.position;
      record.progressAttempt = entry.attempt;
    } else if (kind === "started") record.startedAttempt = entry.attempt;
    else if (kind === "waiting") record.dueAt = entry.dueAt;
    else if (kind === "failed" && entry.dueAt !== null) {
      record.failedAttempt = entry.attempt;
      record.dueAt = entry.dueAt;
    } else record.ending = entry;
  }
}
