import { type Clock, pause } from "../clock.ts";

/** For how long a claim that isn't answered keeps slots from others. */
const LONGEST_RESERVATION_MS = 250;

/** Slots that a claim has reserved for the rows that it gets. */
export interface ClaimSlots {
  readonly count: number;
  /** Whether one of the rows may be taken over from a lost owner. */
  readonly takeOver: boolean;
  /**
   * Uses one of the slots. False if none is left: others have borrowed them, or they were freed because the answer took too
   * long.
   */
  take(): boolean;
  /** Frees the rest. */
  end(): void;
}

interface ClaimTerms {
  /** Whether it may take over rows of lost owners, unless another claim does. */
  readonly mayTakeOver: boolean;
  /** Whether rows can wait for a slot if others have used the slots of the claim. */
  readonly lends: boolean;
}

/**
 * The slots of a worker that are reserved: for claims that aren't answered, and for rows that are about to be written or
 * started.
 */
export class Slots {
  readonly #clock: Clock;
  readonly #onFreed: () => void;
  /** Reserved slots, including those of claims. */
  reserved = 0;
  /** Reserved by claims that aren't answered yet. */
  reservedByClaims = 0;
  /** Whether one of those claims may take over rows of lost owners. */
  #takesOver = false;
  /** Each takes a slot from a claim that isn't answered. False if the claim has none left. */
  readonly #lenders = new Set<() => boolean>();
  /** Lanes that wanted to claim while other lanes had reserved all slots. */
  readonly #awaiting = new Set<() => void>();

  /** `onFreed` is called when a claim frees its slots, before lanes that wait for room. */
  constructor(clock: Clock, onFreed: () => void) {
    this.#clock = clock;
    this.#onFreed = onFreed;
  }

  /** Calls back once, when a claim frees slots that it has reserved. */
  awaitRoom(onRoom: () => void): void {
    this.#awaiting.add(onRoom);
  }

  /** Takes a slot that a claim has reserved, if one lends it. It stays reserved. */
  borrow(): boolean {
    for (const lend of this.#lenders) if (lend()) return true;
    return false;
  }

  /**
   * Reserves slots for a claim. A claim that isn't answered soon frees them again: its rows then wait for a slot. If it `lends`
   * them, others may use them before the answer, which may be that there is nothing to claim.
   */
  reserveForClaim(count: number, { mayTakeOver, lends }: ClaimTerms): ClaimSlots {
    const takeOver = mayTakeOver && !this.#takesOver && count > 0; // a recovered row needs a slot
    let left = count;
    let turn = takeOver;
    const end = () => {
      timer.cancel();
      this.#lenders.delete(take);
      this.reserved -= left;
      this.reservedByClaims -= left;
      left = 0;
      if (turn) this.#takesOver = false;
      turn = false;
      this.#onFreed();
      const awaiting = [...this.#awaiting];
      this.#awaiting.clear();
      for (const onRoom of awaiting) onRoom();
    };
    const timer = this.#clock.setTimer(end, LONGEST_RESERVATION_MS);
    this.reserved += count;
    this.reservedByClaims += count;
    if (takeOver) this.#takesOver = true;
    const take = () => {
      if (left === 0) return false;
      left--;
      this.reservedByClaims--;
      return true;
    };
    if (lends) this.#lenders.add(take);
    return { count, takeOver, take, end };
  }
}

/** Waits for a condition that is checked whenever the worker's state has changed. */
export class StateChanges {
  readonly #clock: Clock;
  #waiting: (() => void)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The state has changed: conditions are checked again. */
  announce(): void {
    if (this.#waiting.length === 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when the condition holds, or after the time that is given. */
  async waitUntil(condition: () => boolean, milliseconds?: number): Promise<void> {
    const timeout = new AbortController();
    let late = milliseconds === 0;
    if (milliseconds !== undefined && !late) {
      void pause(this.#clock, milliseconds, timeout.signal).then(() => {
        late = true;
        this.announce();
      });
    }
    while (!condition() && !late) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    timeout.abort();
  }
}
