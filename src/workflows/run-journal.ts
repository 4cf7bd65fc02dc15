import type { JournalEntry, StepType } from "../store/instance-records.ts";

/** Everything that is stored about one step of a run. */
export interface StepRecord {
  readonly type: StepType;
  readonly name: string;
  readonly count: number;
  readonly nested: boolean;
  /** What it came to: `completed`, `received`, `timedOut`, or `failed` with no attempt left. */
  ending: JournalEntry | null;
  /** Of the last attempt that failed. */
  failedAttempt: number;
  /** Of the last attempt that is known to have begun. */
  startedAttempt: number;
  /** When the next attempt is due, or the deadline of a wait. */
  dueAt: number | null;
  /** Whether the code has called this step. */
  reached: boolean;
}

/** A step as people see it. */
export function describeStep({ type, name, count }: { type: StepType; name: string; count: number }): string {
  return count === 1 ? `${type}:${name}` : `${type}:${name}#${count}`;
}

/** The journal of a run, by step. */
export class RunJournal {
  readonly #records = new Map<string, StepRecord>();
  /** Where the next entry goes. */
  position = 1;

  constructor(entries: readonly JournalEntry[]) {
    for (const entry of entries) this.#add(entry);
    this.position = entries.length + 1;
  }

  /** What is stored about the n-th call of this step, under its name or an older one. */
  find(type: StepType, name: string, count: number, aliases: readonly string[]): StepRecord | null {
    if (this.#records.size === 0) return null;
    for (const known of [name, ...aliases]) {
      const record = this.#records.get(keyOf(type, known, count));
      if (record !== undefined) return record;
    }
    return null;
  }

  /** Steps that have run before, but that this code hasn't called. Those inside of a finished step aren't expected to be. */
  unreached(): StepRecord[] {
    return [...this.#records.values()].filter(({ reached, nested }) => !reached && !nested);
  }

  #add(entry: JournalEntry): void {
    const { type, name, count, kind, nested } = entry;
    const key = keyOf(type, name, count);
    let record = this.#records.get(key);
    if (record === undefined) {
      const nothing = { ending: null, failedAttempt: 0, startedAttempt: 0, dueAt: null, reached: false };
      record = { type, name, count, nested, ...nothing };
      this.#records.set(key, record);
    }
    if (kind === "started") record.startedAttempt = entry.attempt;
    else if (kind === "waiting") record.dueAt = entry.dueAt;
    else if (kind === "failed" && entry.dueAt !== null) {
      record.failedAttempt = entry.attempt;
      record.dueAt = entry.dueAt;
    } else record.ending = entry;
  }
}

function keyOf(type: StepType, name: string, count: number): string {
  return `${type}:${name}#${count}`;
}
