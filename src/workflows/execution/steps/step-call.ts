import type { EntryKind, NewEntry, StepType } from "../../../store/instances/instance-records.ts";
import type { StepRollback } from "../../rollback/rollback-options.ts";
import type { TransactionPolicy } from "../../transactions/transaction-policy.ts";
import type { AttemptRecord, StepRecord } from "../run-journal.ts";
import type { StartedCall } from "./start-order.ts";
import type { StepPolicy } from "./step-config.ts";
import { describeStep, pathOf, type StepIdentity } from "./step-path.ts";
import { StepPromise } from "./step-promise.ts";

type EntryDetails = Partial<Pick<NewEntry, "attempt" | "value" | "dueAt" | "event">>;
const NO_DETAILS: EntryDetails = {};

/** The run that a step was called in, as far as its calls need it. */
export interface CallingRun {
  /** What the next entry of the call must say about the order of starts. */
  writesStart(call: StepCall): number | null;
  /** The same for an entry that may not be written in the end. */
  mayWriteStart(call: StepCall): number | null;
  /** The code receives the call's failure. */
  toldFailure(call: StepCall, error: unknown): void;
}

/** A call of a step: the user's code waits for its promise. */
export class StepCall implements StepIdentity {
  readonly type: StepType;
  readonly name: string;
  readonly count: number;
  readonly parent: string | null;
  /** Whatever was stored about it before this execution. */
  record: StepRecord | null = null;
  readonly promise: StepPromise<unknown>;
  /** Its place in the start order. */
  began = 0;
  /** Its neighbours among the calls that have no entry yet, in start order. */
  earlier: StartedCall | null = null;
  later: StartedCall | null = null;
  /** Ends a wait; null for most. */
  signal: AbortSignal | null = null;
  /** Null for the call of a rollback, which the code didn't make. */
  run: CallingRun | null = null;
  #resolve!: (value: unknown) => void;
  #reject!: (error: unknown) => void;
  #failure: { readonly error: unknown } | null = null;

  constructor(type: StepType, name: string, count: number, parent: string | null) {
    this.type = type;
    this.name = name;
    this.count = count;
    this.parent = parent;
    this.promise = new StepPromise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** The step was called before: its record says how far it got. */
  remember(record: StepRecord): void {
    this.record = record;
    record.reached = true;
  }

  succeed(value: unknown): void {
    this.#resolve(value);
  }

  /** A step may fail before the code waits for it, or without: that is no reason to end the process. */
  fail(error: unknown): void {
    this.#failure = { error };
    this.tellAgain();
    this.promise.tolerate();
    this.#reject(error);
  }

  /** The code waits for it, perhaps once more: if it has failed, the code receives the failure. */
  tellAgain(): void {
    if (this.#failure !== null) this.run?.toldFailure(this, this.#failure.error);
  }

  /** An entry of this step, to be written after those that were made before. */
  entry(
    kind: EntryKind,
    { attempt = 0, value = null, dueAt = null, event = null }: EntryDetails = NO_DETAILS,
  ): NewEntry {
    const { type, name, count, parent } = this;
    const began = kind === "progress" || this.run === null ? null : this.run.writesStart(this);
    return { kind, type, name, count, parent, attempt, value, dueAt, event, began };
  }

  /** An entry that may not be written in the end; `entryWritten` says that it was. */
  tentativeEntry(kind: EntryKind, { attempt = 0, value = null }: EntryDetails): NewEntry {
    const { type, name, count, parent } = this;
    const began = this.run?.mayWriteStart(this) ?? null;
    return { kind, type, name, count, parent, attempt, value, dueAt: null, event: null, began };
  }

  entryWritten(): void {
    this.run?.writesStart(this);
  }
}

/** A call that only time, or an event, brings to an end. */
export interface OpenWait {
  readonly dueAt: number;
  /** Whether the deadline is in the journal. */
  recorded: boolean;
}

export class SleepCall extends StepCall implements OpenWait {
  dueAt: number;
  recorded = false;
  /** As the code asked for it. */
  readonly durationMs: number;

  constructor(name: string, count: number, dueAt: number, durationMs: number) {
    super("sleep", name, count, null);
    this.dueAt = dueAt;
    this.durationMs = durationMs;
  }

  override remember(record: StepRecord): void {
    super.remember(record);
    this.recorded = record.dueAt !== null;
    this.dueAt = record.dueAt ?? this.dueAt;
  }

  /** The first entry of a sleep says how long it is. */
  override entry(kind: EntryKind, details: EntryDetails = NO_DETAILS): NewEntry {
    return super.entry(kind, this.recorded ? details : { ...details, value: String(this.durationMs) });
  }
}

export class EventCall extends StepCall implements OpenWait {
  readonly eventType: string;
  dueAt: number;
  recorded = false;

  constructor(
    name: string,
    count: number,
    dueAt: number,
    eventType: string,
    type: "waitForEvent" | "result" | "token" = "waitForEvent",
  ) {
    super(type, name, count, null);
    this.dueAt = dueAt;
    this.eventType = eventType;
  }

  override remember(record: StepRecord): void {
    super.remember(record);
    this.recorded = record.dueAt !== null;
    this.dueAt = record.dueAt ?? this.dueAt;
  }

  /** The event that it waits for, as its entries name it. */
  get awaits(): string | null {
    return JSON.stringify(this.eventType);
  }

  /** Whether its deadline may be written. */
  get recordable(): boolean {
    return !this.recorded;
  }
}

/** A step with a body, or the creation of a child. */
export class BodyCall extends StepCall implements OpenWait {
  readonly policy: StepPolicy;
  readonly body: (ctx: never) => unknown;
  /** How to take it back; null for most. */
  readonly rollback: StepRollback | null;
  /** Given where the body runs in a transaction, with which its result is written. */
  readonly transaction: TransactionPolicy | null;
  /** The number of the attempt that runs, or ran last. */
  attempt = 0;
  /** The attempt that runs, until its end is delivered. */
  running: object | null = null;
  /** When the next attempt may begin. */
  dueAt = 0;
  /** The attempt whose beginning is in the journal. */
  startedAttempt = 0;
  /** How often the running attempt has emitted. */
  emits = 0;
  /** Whether it has emitted anything, in any attempt. */
  progressed = false;
  /** Whether the next attempt has its number. */
  prepared = false;
  /** Whether the journal says that it began, and can be taken back. */
  undoable = false;
  /** Its output, as it is stored; only where its rollback may want it. */
  output: string | null = null;
  readonly recorded = true;

  constructor(
    { type, name, count, parent }: StepIdentity,
    policy: StepPolicy,
    body: (ctx: never) => unknown,
    rollback: StepRollback | null = null,
    transaction: TransactionPolicy | null = null,
  ) {
    super(type, name, count, parent);
    this.transaction = transaction;
    this.policy = policy;
    this.body = body;
    this.rollback = rollback;
  }

  override remember(record: StepRecord): void {
    super.remember(record);
    this.progressed = record.progressFrom !== null;
    this.rememberAttempts(record);
  }

  /** Where attempts are tried again, one that is known to have begun and was lost is counted as a recovery. */
  rememberAttempts({ startedAttempt, failedAttempt, dueAt }: AttemptRecord): void {
    this.startedAttempt = startedAttempt;
    const exact = this.policy.limit === 0 && this.transaction === null;
    this.attempt = Math.max(failedAttempt, exact ? startedAttempt : 0);
    this.dueAt = dueAt ?? 0;
  }

  /** An id by which services know all attempts: no other step of this run has it. */
  get key(): string {
    return this.parent === null ? describeStep(this) : pathOf(this);
  }
}

/** A call that the code can make. */
export type OpenCall = SleepCall | EventCall | BodyCall;
