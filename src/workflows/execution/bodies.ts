import type { Clock } from "../../clock.ts";
import type { AttemptAbortedError } from "../../errors.ts";
import type { NewEntry } from "../../store/instances/instance-records.ts";
import { Attempt, type AttemptOwner } from "./attempt.ts";
import type { BodyCall } from "./steps/step-call.ts";

/** What must happen before bodies begin. */
interface Preparation {
  /** To be written first. */
  readonly entries: NewEntry[];
  /** Calls that have no attempt left. */
  readonly exhausted: BodyCall[];
  /** Calls that can be taken back from now on. */
  readonly undoable: BodyCall[];
}

/** The bodies of steps: those that may begin, and those that run. */
export class Bodies {
  readonly #clock: Clock;
  #ready: BodyCall[] = [];
  readonly #running: Attempt[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get ready(): number {
    return this.#ready.length;
  }

  get running(): number {
    return this.#running.length;
  }

  /** The calls of all of them. */
  get calls(): BodyCall[] {
    return [...this.#ready, ...this.#running.map(({ call }) => call)];
  }

  /** It begins as soon as everything that led to it is committed. */
  add(call: BodyCall): void {
    this.#ready.push(call);
  }

  /**
   * Numbers the attempts that are about to begin. `interruptions` is how many owners were lost since the last entry: these
   * attempts began under each of them. Where the journal must say that an attempt began, that is written first: gives those
   * entries, or null where nothing is left to do. Steps that have no attempt left don't begin any more.
   */
  prepare(interruptions: number): Preparation | null {
    let preparation: Preparation | null = null;
    for (const call of this.#ready) {
      if (call.prepared) continue;
      call.prepared = true;
      const exact = call.policy.limit === 0 && call.transaction === null;
      if (!exact) call.attempt = attemptsBegun(call, interruptions);
      const exhausted = call.attempt > call.policy.limit;
      const undoable = !exhausted && call.rollback !== null && !call.undoable;
      if (!exhausted && !undoable && !exact) continue;
      preparation ??= { entries: [], exhausted: [], undoable: [] };
      if (exhausted) {
        preparation.exhausted.push(call);
      } else if (undoable) {
        call.undoable = true;
        preparation.undoable.push(call);
        preparation.entries.push(begin(call, "undoable"));
      } else preparation.entries.push(begin(call, "started"));
    }
    const exhausted = preparation?.exhausted ?? [];
    if (exhausted.length > 0) this.#ready = this.#ready.filter((call) => !exhausted.includes(call));
    return preparation;
  }

  /** Everything is committed. */
  start(owner: AttemptOwner): void {
    if (this.#ready.length === 1) {
      this.#start(this.#ready.pop() as BodyCall, owner); // as in most turns: the array is used again
      return;
    }
    const ready = this.#ready;
    this.#ready = [];
    for (const call of ready) this.#start(call, owner);
  }

  #start(call: BodyCall, owner: AttemptOwner): void {
    call.prepared = false;
    call.attempt++;
    call.emits = 0;
    // The time of a transaction counts from the call of its body: waiting for the database counts as nothing.
    const timeoutMs = call.transaction === null ? call.policy.timeoutMs : Number.POSITIVE_INFINITY;
    const attempt = new Attempt(call, owner, this.#clock.monotonic(), timeoutMs);
    call.running = attempt;
    this.#running.push(attempt);
    attempt.run();
  }

  /** Milliseconds until the first running attempt must have ended: infinity if none runs. */
  get remaining(): number {
    let endsAt = Number.POSITIVE_INFINITY;
    for (const attempt of this.#running) endsAt = Math.min(endsAt, attempt.endsAt);
    return endsAt - this.#clock.monotonic();
  }

  /** Ends the attempts whose time is over. */
  timeOut(): void {
    const now = this.#clock.monotonic();
    for (const attempt of this.#running.filter(({ endsAt }) => endsAt <= now)) attempt.timeOut();
  }

  /** Its attempt has called no body, and isn't counted: it begins when that is allowed again. */
  withdraw(call: BodyCall): void {
    this.ended(call);
    call.attempt--;
    this.#ready.push(call);
  }

  /** The end of its attempt was delivered. */
  ended(call: BodyCall): void {
    if (call.running === null) return;
    const index = this.#running.indexOf(call.running as Attempt);
    if (index >= 0 && index === this.#running.length - 1) this.#running.pop();
    else if (index >= 0) this.#running.splice(index, 1);
    call.running = null;
  }

  /** Bodies that were about to begin don't. */
  forget(): void {
    this.#ready = [];
  }

  /** Tells the running bodies to stop; their results are ignored. */
  drop(reason: AttemptAbortedError): void {
    for (const attempt of this.#running.splice(0)) {
      attempt.call.running = null;
      attempt.drop(reason);
    }
  }
}

/** How many attempts have begun. One that emitted something has; if no owner was lost, it was given back, and begins again. */
function attemptsBegun({ attempt, record }: BodyCall, interruptions: number): number {
  const emitted =
    record === null || record.progressAttempt === 0 ? 0 : record.progressAttempt - (interruptions > 0 ? 0 : 1);
  return Math.max(attempt + interruptions, emitted);
}

function begin(call: BodyCall, kind: "started" | "undoable"): NewEntry {
  call.startedAttempt = call.attempt + 1;
  return call.entry(kind, { attempt: call.startedAttempt });
}
