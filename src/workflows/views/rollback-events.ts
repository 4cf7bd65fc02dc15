import type { HistoryEntry } from "../../store/instances/instance-records.ts";
import { decodeValue, describeError } from "../../values/index.ts";
import { pathOf } from "../execution/step-path.ts";
import { retryDelayOf } from "./retry-delay.ts";
import type { SlottedEvent } from "./slotted-event.ts";

/** Slots of one entry, in the order in which they are told. */
const BEGAN = 0;
const ATTEMPT_BEGAN = 1;
const ATTEMPT_ENDED = 2;
const ENDED = 3;
const ALL_ENDED = 4;

/** Tells the entries of a rollback as events. That it is over is told with the entry that ends it. */
export class RollbackEvents {
  /** Steps that are still to be taken back, by path. */
  readonly #open = new Set<string>();
  /** Rollbacks that have begun, by path: the last attempt that was told of. */
  readonly #begun = new Map<string, number>();

  /** Whether a rollback has begun whose end wasn't told. */
  #underWay = false;

  /** The run is over. Where no entry says how its rollback ended, it was cut short: terminated, or given up. */
  get cutShort(): boolean {
    return this.#underWay;
  }

  /** A step begins that can be taken back. */
  open(entry: HistoryEntry): void {
    this.#open.add(pathOf(entry));
  }

  /** Null for entries that have to do with something else. */
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
    // Without an attempt: its handler isn't known.
    const errored: SlottedEvent[] = attempt === 0 ? [] : [{ type: "rollback_attempt_errored", ...failed }];
    if (dueAt !== null) return errored;
    return [
      ...errored,
      { type: "rollback_step_errored", slot: ENDED, stepName, count, error },
      { type: "rollback_errored", slot: ALL_ENDED },
    ];
  }
}
