import type { Clock } from "../../clock.ts";
import type { QueueLane } from "../queue/lanes.ts";
import { BEFORE_ALL_RANKS } from "../queue/rank.ts";
import { WorkClass } from "../queue/work-class.ts";

/** The answer to a look at the head of the queue: when it was given, and how much later the earliest row is due. */
export interface Sight {
  readonly now: number;
  /** Zero or less if it is due; null if there is none. */
  readonly remaining: number | null;
}

/** The lanes in which rows are ordered by the time at which they are due. Priorities are in the past. */
const BOUNDED: readonly WorkClass[] = [WorkClass.leased, WorkClass.continuing, WorkClass.fresh];

/** Rows that are committed this long after they became due are found by the next look. Later ones wait for a whole look. */
const MARGIN_MS = 500;
/** Questions may take one part in this many of the time for whole looks. With the claims between them, that is a twentieth. */
const SHARE = 40;
/** The time for whole looks that can be saved up: a worker with little to do has enough for all of its looks. */
const MOST_SAVED_MS = 300;
const LONGEST_PAUSE_MS = 30_000;
/** Leases leave dead entries in the future, so looks that aren't whole end there. */
const FARTHEST_MS = 1000;

/**
 * From where to look for due rows. A row that is claimed or settled leaves dead entries at the head of its lane. While any
 * transaction keeps a snapshot open, such as a dump does, PostgreSQL can't remove them, and every look at the head reads all of
 * them: after minutes, that would take most of the time.
 *
 * So if looks take too much of the time, the next ones begin a little before the place up to which the queue is known to be
 * empty. What became due before that, but was committed later, is found by a whole look. These take a twentieth of the time at
 * most. While looks are fast or rare, all of them are whole.
 */
export class QueueHorizon {
  readonly #clock: Clock;
  /** No row was due before this time, by lane. The names are those of one source, always the same array. */
  readonly #known = new WeakMap<readonly string[], Map<string, number>>();
  /** The time for whole looks that was saved up, or, below zero, that must be saved before the next one; and when that was. */
  #savedMs = MOST_SAVED_MS;
  #savedAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#savedAt = clock.monotonic();
  }

  /** How long until the next look is whole. */
  get pauseMs(): number {
    return Math.max(-this.#save() * SHARE, 0);
  }

  /** How far ahead to look if the look isn't whole. Afterwards, the next one must follow. */
  get ahead(): number {
    return Math.ceil(Math.min(this.pauseMs, FARTHEST_MS));
  }

  /** From which due time on to look in each lane; null for a whole look. */
  since(lanes: readonly QueueLane[]): number[] | null {
    if (this.pauseMs === 0) return null;
    const since: number[] = [];
    for (const lane of lanes) {
      if (isBounded(lane)) {
        const known = this.#lanesOf(lane).get(keyOf(lane));
        if (known === undefined) return null;
        since.push(known - MARGIN_MS);
      } else since.push(BEFORE_ALL_RANKS);
    }
    return lanes.some(isBounded) ? since : null;
  }

  /** A look has answered for all of these lanes. */
  saw(lanes: readonly QueueLane[], { now, remaining }: Sight): void {
    const known = now + Math.min(remaining ?? 0, 0);
    for (const lane of lanes) if (isBounded(lane)) this.#lanesOf(lane).set(keyOf(lane), known);
  }

  /** A whole look took so long. */
  took(milliseconds: number): void {
    this.#savedMs = Math.max(this.#save() - milliseconds, -LONGEST_PAUSE_MS / SHARE);
  }

  /** Everything of this lane that was due before this time has been claimed. */
  emptied(lane: QueueLane, dueAt: number): void {
    if (!isBounded(lane)) return;
    const lanes = this.#lanesOf(lane);
    lanes.set(keyOf(lane), Math.max(lanes.get(keyOf(lane)) ?? dueAt, dueAt));
  }

  #save(): number {
    const now = this.#clock.monotonic();
    this.#savedMs = Math.min(this.#savedMs + Math.max(now - this.#savedAt, 0) / SHARE, MOST_SAVED_MS);
    this.#savedAt = now;
    return this.#savedMs;
  }

  #lanesOf({ names }: QueueLane): Map<string, number> {
    let lanes = this.#known.get(names);
    if (lanes === undefined) {
      lanes = new Map();
      this.#known.set(names, lanes);
    }
    return lanes;
  }
}

function isBounded({ class: workClass }: QueueLane): boolean {
  return BOUNDED.includes(workClass);
}

function keyOf({ namespace, class: workClass }: QueueLane): string {
  return `${namespace} ${workClass}`;
}
