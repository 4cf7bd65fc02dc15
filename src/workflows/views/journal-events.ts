import type { HistoryEntry } from "../../store/instances/instance-records.ts";
import { decodeValue, delayOf, describeError, isSensitive, REDACTED, StreamReference } from "../../values/index.ts";
import { pathOf } from "../execution/steps/step-path.ts";
import type { EventDetails } from "./instance-event.ts";

/** An event of a journal entry. One entry can yield several events, each in its own slot. */
type SlottedEvent = EventDetails & { readonly slot: number };

/** Slots of one entry, in the order of its events. */
const BEGAN = 0;
const ATTEMPT_BEGAN = 1;
const ATTEMPT_ENDED = 2;
const ENDED = 3;
const ALL_ENDED = 4;

const WAIT_ENDS: Partial<Record<HistoryEntry["kind"], "wait_timed_out" | "wait_abandoned">> = {
  timedOut: "wait_timed_out",
  abandoned: "wait_abandoned",
};

/**
 * Turns a run's journal into events, entry by entry from its beginning. Most steps and attempts have no entry for their start,
 * so their start event comes with their first entry. Keeps only the steps that haven't ended.
 */
export class JournalEvents {
  /** Steps that have begun, by path, with the last attempt that has an event. */
  readonly #begun = new Map<string, number>();

  readonly #rollbacks = new RollbackEvents();

  /** The event of a rollback that the end of the run cut short, if there is one. */
  tellEnd(): SlottedEvent[] {
    return this.#rollbacks.cutShort ? [{ type: "rollback_errored", slot: BEGAN }] : [];
  }

  tell(entry: HistoryEntry): SlottedEvent[] {
    if (entry.kind === "undoable") this.#rollbacks.open(entry);
    const rollback = this.#rollbacks.tell(entry);
    if (rollback !== null) return rollback;
    if (entry.type === "sleep") return this.#tellSleep(entry);
    const waits = entry.type === "waitForEvent" || entry.type === "result" || entry.type === "token";
    return waits ? this.#tellWait(entry) : this.#tellBody(entry);
  }

  #tellSleep(entry: HistoryEntry): SlottedEvent[] {
    const step = stepOf(entry);
    const path = pathOf(entry);
    const events: SlottedEvent[] = [];
    if (!this.#begun.has(path)) {
      events.push({ type: "sleep_started", slot: BEGAN, ...step, durationMs: durationOf(entry) });
    }
    this.#begun.set(path, 0);
    if (entry.kind === "waiting") return events;
    this.#begun.delete(path);
    const type = entry.kind === "abandoned" ? "sleep_abandoned" : "sleep_completed";
    return [...events, { type, slot: ENDED, ...step }];
  }

  #tellWait(entry: HistoryEntry): SlottedEvent[] {
    const path = pathOf(entry);
    const step = stepOf(entry);
    const events: SlottedEvent[] = [];
    if (!this.#begun.has(path)) events.push({ type: "wait_started", slot: BEGAN, ...step, eventType: awaited(entry) });
    this.#begun.set(path, 0);
    if (entry.kind === "waiting") return events;
    this.#begun.delete(path);
    const type = WAIT_ENDS[entry.kind] ?? "wait_completed";
    return [...events, { type, slot: ENDED, ...step }];
  }

  #tellBody(entry: HistoryEntry): SlottedEvent[] {
    const path = pathOf(entry);
    const step = stepOf(entry);
    const { attempt } = entry;
    const begun = this.#begun.get(path);
    const events: SlottedEvent[] = [];
    if (begun === undefined) events.push({ type: "step_started", slot: BEGAN, ...step });
    if (begun !== attempt) events.push({ type: "attempt_started", slot: ATTEMPT_BEGAN, ...step, attempt });
    this.#begun.set(path, attempt);
    const ended = endOf(entry);
    if (ended.some(({ slot }) => slot === ENDED)) this.#begun.delete(path);
    return [...events, ...ended];
  }
}

function endOf(entry: HistoryEntry): SlottedEvent[] {
  const step = stepOf(entry);
  const { attempt, kind, value, dueAt } = entry;
  if (kind === "completed") {
    const output = value === null ? {} : { output: shownValue(value) };
    return [
      { type: "attempt_completed", slot: ATTEMPT_ENDED, ...step, attempt },
      { type: "step_completed", slot: ENDED, ...step, ...output },
    ];
  }
  if (kind === "progress" && value !== null) {
    return [{ type: "step_progress", slot: ATTEMPT_ENDED, ...step, attempt, value: decodeValue(value) }];
  }
  if (kind !== "failed") return [];
  const error = describeError(decodeValue(value as string));
  const retry = dueAt === null ? {} : { retryDelayMs: retryDelayOf(entry) };
  const errored: SlottedEvent = { type: "attempt_errored", slot: ATTEMPT_ENDED, ...step, attempt, error, ...retry };
  return dueAt === null ? [errored, { type: "step_errored", slot: ENDED, ...step }] : [errored];
}

function stepOf({ name, count }: HistoryEntry): { stepName: string; count: number } {
  return { stepName: name, count };
}

/** The duration that the code asked for, not the rest at the time of the entry. */
function durationOf({ value, dueAt, at }: HistoryEntry): number {
  return value === null ? Math.max((dueAt ?? at) - at, 0) : Number(decodeValue(value));
}

/** The type of the event that a step waits for or has received. */
function awaited({ kind, type, eventType, value }: HistoryEntry): string {
  if (type === "result" || type === "token") return type;
  if (kind === "abandoned") return "";
  return eventType ?? (value === null ? "" : String(decodeValue(value)));
}

/** Turns the entries of a rollback into events. The event for its end comes with the entry that ends it. */
class RollbackEvents {
  /** Steps that are still to be rolled back, by path. */
  readonly #open = new Set<string>();
  /** Rollbacks that have begun, by path, with the last attempt that has an event. */
  readonly #begun = new Map<string, number>();

  /** Whether a rollback has begun whose end has no event yet. */
  #underWay = false;

  /** Whether a rollback had begun and no entry ended it: the run was terminated or restarted meanwhile. */
  get cutShort(): boolean {
    return this.#underWay;
  }

  /** A step with a rollback begins. */
  open(entry: HistoryEntry): void {
    this.#open.add(pathOf(entry));
  }

  /** Null for entries that have nothing to do with a rollback. */
  tell(entry: HistoryEntry): SlottedEvent[] | null {
    const events = this.#tell(entry);
    if (events?.some(({ type }) => type === "rollback_started")) this.#underWay = true;
    if (events?.some(({ slot }) => slot === ALL_ENDED)) this.#underWay = false;
    return events;
  }

  #tell(entry: HistoryEntry): SlottedEvent[] | null {
    if (entry.kind === "rollingBack") return this.#tellBeginning();
    const rollback = entry.kind === "rollbackStarted" || entry.kind === "rolledBack" || entry.kind === "rollbackFailed";
    return rollback ? [...this.#tellStart(entry), ...this.#tellEnd(entry)] : null;
  }

  #tellBeginning(): SlottedEvent[] {
    const events: SlottedEvent[] = [{ type: "rollback_started", slot: BEGAN }];
    return this.#open.size > 0 ? events : [...events, { type: "rollback_completed", slot: ALL_ENDED }];
  }

  #tellStart(entry: HistoryEntry): SlottedEvent[] {
    const path = pathOf(entry);
    const { name: stepName, count, attempt } = entry;
    const begun = this.#begun.get(path);
    this.#begun.set(path, attempt);
    const events: SlottedEvent[] = [];
    if (begun === undefined) events.push({ type: "rollback_step_started", slot: BEGAN, stepName, count });
    if (begun !== attempt && attempt > 0)
      events.push({ type: "rollback_attempt_started", slot: ATTEMPT_BEGAN, stepName, count, attempt });
    return events;
  }

  #tellEnd(entry: HistoryEntry): SlottedEvent[] {
    const { name: stepName, count, attempt, kind, value, dueAt } = entry;
    if (kind === "rollbackStarted") return [];
    if (kind === "rolledBack") {
      this.#open.delete(pathOf(entry));
      const all: SlottedEvent[] = this.#open.size > 0 ? [] : [{ type: "rollback_completed", slot: ALL_ENDED }];
      return [
        { type: "rollback_attempt_completed", slot: ATTEMPT_ENDED, stepName, count, attempt },
        { type: "rollback_step_completed", slot: ENDED, stepName, count },
        ...all,
      ];
    }
    const error = describeError(decodeValue(value as string));
    const retry = dueAt === null ? {} : { retryDelayMs: retryDelayOf(entry) };
    const failed = { slot: ATTEMPT_ENDED, stepName, count, attempt, error, ...retry };
    // Without an attempt, the handler is unknown.
    const errored: SlottedEvent[] = attempt === 0 ? [] : [{ type: "rollback_attempt_errored", ...failed }];
    if (dueAt !== null) return errored;
    return [
      ...errored,
      { type: "rollback_step_errored", slot: ENDED, stepName, count, error },
      { type: "rollback_errored", slot: ALL_ENDED },
    ];
  }
}

/** The computed delay after a failed attempt, not the rest at the time of the entry. */
function retryDelayOf({ value, dueAt, at }: HistoryEntry): number {
  const computed = value === null ? null : delayOf(value);
  return computed ?? Math.max((dueAt ?? at) - at, 0);
}

/** A stored result as people see it; of a stream, its kind and size. */
export function shownValue(text: string): unknown {
  if (isSensitive(text)) return REDACTED;
  const value = decodeValue(text);
  return value instanceof StreamReference ? { stream: value.kind, bytes: value.bytes } : value;
}
