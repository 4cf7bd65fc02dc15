import type { Clock } from "../clock.ts";
import type { WorkKind } from "../store/queue/work-board.ts";
import { Pace } from "./pace.ts";
import { Slots } from "./slots.ts";
import type { Work } from "./work.ts";

/** How many hooks and how many workflows run at a time. One number is meant for each of the two. */
export type Capacity = number | { readonly hooks: number; readonly workflows: number };

/** The most rows that are claimed ahead. */
const MOST_AHEAD = 1000;

/** A worker's slots for one kind of work: hooks and workflows each have their own, so that neither holds up the other. */
export class WorkerPool {
  readonly concurrency: number;
  readonly slots: Slots;
  readonly pace = new Pace();
  readonly running = new Set<Work>();
  /** Claimed ahead, and about to begin. */
  readonly ahead: Work[] = [];
  /** Whether work that was claimed ahead starts in the next turn of the event loop. */
  startsAhead = false;

  constructor(clock: Clock, concurrency: number, onFreed: () => void) {
    this.concurrency = concurrency;
    this.slots = new Slots(clock, onFreed);
  }

  /** How much work is claimed, reserved or running. */
  get held(): number {
    return this.running.size + this.slots.reserved + this.ahead.length;
  }

  /** How many slots are free. */
  get room(): number {
    return Math.max(this.concurrency - this.held, 0);
  }

  /** Whether work that was claimed ahead could start now. */
  get hasFreeSlot(): boolean {
    return this.running.size + this.slots.reserved < this.concurrency;
  }

  /**
   * How many rows to claim now: one per free slot; while handlers are fast, as many as are missing ahead, if that is worth a
   * claim.
   */
  get wanted(): number {
    const { perSlot } = this.pace;
    if (perSlot === 1) return this.ahead.length > 0 ? 0 : this.room;
    const most = Math.min(this.concurrency * perSlot, Math.max(this.concurrency, MOST_AHEAD));
    const missing = most - this.held;
    return missing >= most / 2 ? missing : 0;
  }
}

/** Work that was claimed from a lost owner, and the slots that it uses. */
export interface RecoveredWork {
  readonly work: Work;
  readonly pool: WorkerPool;
}

/** The number of slots for one kind of work. */
export function capacityFor(capacity: Capacity, kind: WorkKind): number {
  if (typeof capacity === "number") return capacity;
  return kind === "hook" ? capacity.hooks : capacity.workflows;
}
