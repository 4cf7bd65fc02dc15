import { EventTimeoutError, PerdureError } from "../../errors.ts";
import type { JournalEntry, StoredEvent } from "../../store/instances/instance-records.ts";
import { decodeValue } from "../../values/index.ts";
import { RollbackCall } from "../rollback/rollback-call.ts";
import { reasonOf } from "./abandonment.ts";
import type { Events } from "./events.ts";
import { ResultCall, readNotice, resultTimeout, reviveChildError } from "./steps/result-call.ts";
import type { BodyCall, StepCall } from "./steps/step-call.ts";
import { describeStep } from "./steps/step-path.ts";

/** The ending of a step that is in the journal. */
interface StoredEnding {
  readonly call: StepCall;
  readonly entry: JournalEntry;
}

/** The end of an attempt in this execution: its value, and how that is stored, or its error, and when to try again. */
export type AttemptEnd =
  | { readonly call: BodyCall; readonly value: unknown; readonly text: string | null }
  | { readonly call: BodyCall; readonly error: unknown; readonly delay: number | null };

/** Endings that the code hasn't been told yet. They are delivered one at a time: first the stored ones, then new ones. */
export class Endings {
  /** Of steps that were called. Created by the first: most runs aren't replayed. */
  #stored: Set<StoredEnding> | undefined;
  /** In the order in which attempts ended. */
  readonly #ended: AttemptEnd[] = [];

  get empty(): boolean {
    return this.#ended.length === 0 && !this.replaying;
  }

  /** Whether the replay has something left to deliver. */
  get replaying(): boolean {
    return this.#stored !== undefined && this.#stored.size > 0;
  }

  addStored(call: StepCall, entry: JournalEntry): void {
    this.#stored ??= new Set();
    this.#stored.add({ call, entry });
  }

  add(end: AttemptEnd): void {
    this.#ended.push(end);
  }

  /** The next of the journal, in its order. */
  takeStored(): StoredEnding | undefined {
    if (this.#stored === undefined) return undefined;
    let next: StoredEnding | undefined;
    for (const one of this.#stored) {
      if (next === undefined || one.entry.position < next.entry.position) next = one;
    }
    if (next !== undefined) this.#stored.delete(next);
    return next;
  }

  takeEnded(): AttemptEnd | undefined {
    return this.#ended.length === 0 ? undefined : this.#ended.shift();
  }

  clear(): void {
    this.#stored?.clear();
    this.#ended.length = 0;
  }
}

/** The value of a step that succeeded according to its entry. */
export function storedValue(call: StepCall, { kind, value, event }: JournalEntry, events: Events): unknown {
  if (kind === "received") return receivedValue(call, events.get(event as number));
  return value === null || call.type === "sleep" ? undefined : decodeValue(value);
}

/** The error of a step that failed according to its entry; null if it succeeded. */
export function storedError(call: StepCall, { kind, value }: JournalEntry): { readonly error: unknown } | null {
  if (kind === "failed") {
    return {
      error: call instanceof ResultCall ? reviveChildError(call, value as string) : decodeValue(value as string),
    };
  }
  if (kind === "abandoned") return { error: reasonOf(call, value as string) };
  return kind === "timedOut" ? { error: waitTimeout(call) } : null;
}

/** The code has the value now: a long journal isn't kept beside it. A rollback may want its step's output. */
export function forgetEnding({ record }: StepCall, entry: JournalEntry): void {
  if (record === null || record.undo !== null || record.ending !== entry) return;
  record.ending = { ...entry, value: null };
}

/** The result of a body, as the code gets it: a copy, the same that a replay would give. `text` is how it is stored. */
export function liveValue(value: unknown, text: string | null): unknown {
  const primitive = value === null || (typeof value !== "object" && typeof value !== "function");
  return primitive ? value : decodeValue(text as string);
}

/** An event as a workflow sees it. */
export function toReceived(event: StoredEvent | undefined): unknown {
  if (event === undefined) {
    throw new PerdureError("workflow.event_missing", "An event that a step received isn't stored any more.");
  }
  return { payload: decodeValue(event.payload), timestamp: new Date(event.at), type: event.type };
}

/** Of a wait for an instance, its output. */
function receivedValue(call: StepCall, event: StoredEvent | undefined): unknown {
  if (!(call instanceof ResultCall)) return toReceived(event);
  return decodeValue((readNotice(event) as { readonly output: string }).output);
}

export function waitTimeout(call: StepCall): PerdureError {
  if (call instanceof ResultCall) return resultTimeout(call);
  return new EventTimeoutError(`No event came in time for the step "${call.name}".`);
}

export function stepInterrupted(call: StepCall): PerdureError {
  const [code, what] =
    call instanceof RollbackCall ? ["rollback.interrupted", "rollback of the step"] : ["step.interrupted", "step"];
  return new PerdureError(
    code,
    `The ${what} ${describeStep(call)} has no attempt left: the last one was lost with its process, and may be what ends it.`,
  );
}

export function crashLoop(recoveries: number): PerdureError {
  return new PerdureError(
    "workflow.crash_loop",
    `The instance was lost with its process ${recoveries} times in a row, with nothing done in between: it may be what ends the process.`,
  );
}

export function unawaitedSteps(calls: readonly StepCall[]): PerdureError {
  const [first] = calls;
  const others = calls.length > 1 ? ` and ${calls.length - 1} more` : "";
  return new PerdureError(
    "workflow.unawaited_steps",
    `The function ended without waiting for ${first === undefined ? "a step" : describeStep(first)}${others}, and the workflow is strict: ` +
      "await each step, or Promise.all of them.",
  );
}
