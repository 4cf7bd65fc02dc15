import type { EntryKind, NewEntry, StepType } from "../../store/instances/instance-records.ts";
import type { StepRollback } from "../rollback/rollback-options.ts";
import type { AttemptRecord, StepRecord } from "./run-journal.ts";
import type { StartOrder } from "./start-order.ts";
import type { StepPolicy } from "./step-config.ts";
import type { StepFailures } from "./step-failures.ts";
import { describeStep, pathOf, type StepIdentity } from "./step-path.ts";

/** How a step ends for the code that called it. */
export type StepEnding = { readonly value: unknown } | { readonly error: unknown };

type EntryDetails = Partial<Pick<NewEntry, "attempt" | "value" | "dueAt" | "event">>;
const NO_DETAILS: EntryDetails = {};

/** The user's code called a step, and waits for it. */
export class StepCall implements StepIdentity {
  readonly type: StepType;
  readonly name: string;
  readonly count: number;
  readonly parent: string | null;
  /** What was stored about it before this execution. */
  readonly record: StepRecord | null;
  readonly promise: Promise<unknown>;
  /** Its place in the order in which the code called its steps. */
  began = 0;
  /** Given where the code has called it, and not the rollback. */
  surroundings: { readonly starts: StartOrder; readonly failures: StepFailures } | null = null;
  #resolve!: (value: unknown) => void;
  #reject!: (error: unknown) => void;
  #failure: { readonly error: unknown } | undefined;

  constructor({ type, name, count, parent }: StepIdentity, record: StepRecord | null) {
    this.type = type;
    this.name = name;
    this.count = count;
    this.parent = parent;
    this.record = record;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  end(ending: StepEnding): void {
    if ("value" in ending) {
      this.#resolve(ending.value);
      return;
    }
    this.#failure = ending;
    this.tellAgain();
    this.#reject(ending.error);
  }

  /** The code waits for it, perhaps once more: if it has failed, that is what the code is told. */
  tellAgain(): void {
    if (this.#failure !== undefined) this.surroundings?.failures.told(this, this.#failure.error);
  }

  /** An entry of this step, to be written after those that were made before. */
  entry(
    kind: EntryKind,
    { attempt = 0, value = null, dueAt = null, event = null }: EntryDetails = NO_DETAILS,
  ): NewEntry {
    const { type, name, count, parent } = this;
    const began = kind === "progress" ? null : (this.surroundings?.starts.writes(this) ?? null);
    return { kind, type, name, count, parent, attempt, value, dueAt, event, began };
  }
}

/** Something that only time, or an event, brings to an end. */
export interface OpenWait {
  readonly dueAt: number;
  /** Whether the deadline is in the journal. */
  recorded: boolean;
}

export class SleepCall extends StepCall implements OpenWait {
  dueAt = 0;
  recorded = false;
  /** As it was asked for. */
  durationMs = 0;

  /** The first entry of a sleep says how long it is. */
  override entry(kind: EntryKind, details: EntryDetails = NO_DETAILS): NewEntry {
    return super.entry(kind, this.recorded ? details : { ...details, value: String(this.durationMs) });
  }
}

export class EventCall extends StepCall implements OpenWait {
  readonly eventType: string;
  dueAt = 0;
  recorded = false;

  constructor(step: StepIdentity, record: StepRecord | null, eventType: string) {
    super(step, record);
    this.eventType = eventType;
  }
}

/** A step with a function of the user's, or the creation of a child. */
export class BodyCall extends StepCall implements OpenWait {
  readonly policy: StepPolicy;
  readonly body: (ctx: never) => unknown;
  /** Of the attempt that runs, or ran last. */
  attempt: number;
  /** When the next attempt may begin. */
  dueAt: number;
  /** The attempt whose beginning is in the journal. */
  startedAttempt: number;
  /** How often the attempt that runs has told of its progress. */
  emits = 0;
  /** Whether it has told of its progress, in whatever attempt. */
  progressed: boolean;
  /** Whether the next attempt has its number. */
  prepared = false;
  /** How to take it back; null for most. */
  readonly rollback: StepRollback | null;
  /** Whether it is in the journal that it began, and can be taken back. */
  undoable = false;
  /** What it gave, as it is stored; only where its rollback may want it. */
  output: string | null = null;
  readonly recorded = true;

  constructor(
    step: StepIdentity,
    record: StepRecord | null,
    { policy, body, rollback = null, attempts = record }: BodyDetails,
  ) {
    super(step, record);
    this.policy = policy;
    this.body = body;
    this.rollback = rollback;
    // Where attempts are tried again, one that is known to have begun and was lost is counted as a recovery.
    this.startedAttempt = attempts?.startedAttempt ?? 0;
    this.attempt = Math.max(attempts?.failedAttempt ?? 0, policy.limit === 0 ? this.startedAttempt : 0);
    this.dueAt = attempts?.dueAt ?? 0;
    this.progressed = record !== null && record.progressFrom !== null;
  }

  /** An id that services know all attempts by: no other step of this run has it. */
  get key(): string {
    return this.parent === null ? describeStep(this) : pathOf(this);
  }
}

interface BodyDetails {
  readonly policy: StepPolicy;
  readonly body: (ctx: never) => unknown;
  readonly rollback?: StepRollback | null;
  /** Default: those of the record. */
  readonly attempts?: AttemptRecord | null;
}
