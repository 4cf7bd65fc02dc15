import type { HistoryEntry } from "../../store/instances/instance-records.ts";
import { decodeValue, describeError } from "../../values/index.ts";
import { pathOf } from "../execution/step-path.ts";
import { retryDelayOf } from "./retry-delay.ts";
import { RollbackEvents } from "./rollback-events.ts";
import { shownValue } from "./shown-value.ts";
import type { SlottedEvent } from "./slotted-event.ts";

const BEGAN = 0;
const ATTEMPT_BEGAN = 1;
const ATTEMPT_ENDED = 2;
const ENDED = 3;

/**
 * Tells a run's journal as events, entry by entry from its beginning. That a step or an attempt began is mostly not written: it
 * is told with the first entry that shows it. Remembers no more than the steps that haven't ended.
 */
export class JournalEvents {
  /** Steps that have begun, by path: the last attempt that was told of. */
  readonly #begun = new Map<string, number>();

  readonly #rollbacks = new RollbackEvents();

  /** What the end of the run says about its rollback, where no entry does. */
  tellEnd(): SlottedEvent[] {
    return this.#rollbacks.cutShort ? [{ type: "rollback_errored", slot: BEGAN }] : [];
  }

  tell(entry: HistoryEntry): SlottedEvent[] {
    if (entry.kind === "undoable") this.#rollbacks.open(entry);
    const rollback = this.#rollbacks.tell(entry);
    if (rollback !== null) return rollback;
    if (entry.type === "sleep") return this.#tellSleep(entry);
    return entry.type === "waitForEvent" ? this.#tellWait(entry) : this.#tellBody(entry);
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
    return [...events, { type: "sleep_completed", slot: ENDED, ...step }];
  }

  #tellWait(entry: HistoryEntry): SlottedEvent[] {
    const path = pathOf(entry);
    const step = stepOf(entry);
    const events: SlottedEvent[] = [];
    if (!this.#begun.has(path)) events.push({ type: "wait_started", slot: BEGAN, ...step, eventType: awaited(entry) });
    this.#begun.set(path, 0);
    if (entry.kind === "waiting") return events;
    this.#begun.delete(path);
    const type = entry.kind === "received" ? "wait_completed" : "wait_timed_out";
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

/** As it was asked for, not what was left of it when it was written. */
function durationOf({ value, dueAt, at }: HistoryEntry): number {
  return value === null ? Math.max((dueAt ?? at) - at, 0) : Number(decodeValue(value));
}

/** The type of the event that a step waits for, or got. */
function awaited({ eventType, value }: HistoryEntry): string {
  return eventType ?? (value === null ? "" : String(decodeValue(value)));
}
