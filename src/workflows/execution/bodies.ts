import type { Clock } from "../../clock.ts";
import type { AttemptAbortedError } from "../../errors.ts";
import type { InstanceRun, NewEntry } from "../../store/instances/instance-records.ts";
import { Attempt, type AttemptHelpers, type AttemptResult } from "./attempt.ts";
import type { BodyCall } from "./step-call.ts";
import { runInside } from "./step-scope.ts";

interface PreparedBodies {
  readonly entries: NewEntry[];
  /** They have no attempt left. */
  readonly exhausted: BodyCall[];
  /** They can be taken back from now on. */
  readonly undoable: BodyCall[];
}

/** The functions of steps: those that may begin, and those that run. */
export class Bodies {
  readonly #clock: Clock;
  readonly #run: InstanceRun;
  readonly #onEnd: (attempt: Attempt, result: AttemptResult) => void;
  readonly #helpers: AttemptHelpers;
  readonly #ready = new Set<BodyCall>();
  readonly #running = new Map<BodyCall, Attempt>();

  constructor(
    clock: Clock,
    run: InstanceRun,
    onEnd: (attempt: Attempt, result: AttemptResult) => void,
    helpers: AttemptHelpers,
  ) {
    this.#clock = clock;
    this.#run = run;
    this.#onEnd = onEnd;
    this.#helpers = helpers;
  }

  get ready(): number {
    return this.#ready.size;
  }

  get running(): number {
    return this.#running.size;
  }

  isRunning(call: BodyCall): boolean {
    return this.#running.has(call);
  }

  /** It begins as soon as everything that led to it is committed. */
  add(call: BodyCall): void {
    this.#ready.add(call);
  }

  /**
   * Gives the attempts that are about to begin their numbers. `interruptions` is how many owners were lost since the last entry:
   * what begins now began under each of them. Where it must be known that an attempt began, that is written first: gives those
   * entries. Steps that have no attempt left don't begin any more.
   */
  prepare(interruptions: number): PreparedBodies {
    const entries: NewEntry[] = [];
    const exhausted: BodyCall[] = [];
    const undoable: BodyCall[] = [];
    for (const call of this.#ready) {
      if (call.prepared) continue;
      call.prepared = true;
      const exact = call.policy.limit === 0;
      if (!exact) call.attempt = attemptsBegun(call, interruptions);
      if (call.attempt > call.policy.limit) {
        this.#ready.delete(call);
        exhausted.push(call);
      } else if (call.rollback !== null && !call.undoable) {
        call.undoable = true;
        undoable.push(call);
        entries.push(begin(call, "undoable"));
      } else if (exact) entries.push(begin(call, "started"));
    }
    return { entries, exhausted, undoable };
  }

  /** Everything is committed. */
  start(): void {
    for (const call of this.#ready) {
      this.#ready.delete(call);
      call.prepared = false;
      call.attempt++;
      call.emits = 0;
      this.#start(call);
    }
  }

  /** Milliseconds until the first of those that run must have ended: infinity if none runs. */
  get remaining(): number {
    let endsAt = Number.POSITIVE_INFINITY;
    for (const attempt of this.#running.values()) endsAt = Math.min(endsAt, attempt.endsAt);
    return endsAt - this.#clock.monotonic();
  }

  /** Ends those whose time is over. */
  timeOut(): void {
    const now = this.#clock.monotonic();
    for (const attempt of [...this.#running.values()]) if (attempt.endsAt <= now) attempt.timeOut();
  }

  /** What became of it was delivered. */
  ended(call: BodyCall): void {
    this.#running.delete(call);
  }

  /** What was about to begin doesn't. */
  forget(): void {
    this.#ready.clear();
  }

  /** Tells what runs to stop; whatever it still gives is ignored. */
  drop(reason: AttemptAbortedError): void {
    for (const attempt of this.#running.values()) attempt.drop(reason);
    this.#running.clear();
  }

  #start(call: BodyCall): void {
    const endsAt = this.#clock.monotonic() + call.policy.timeoutMs;
    const attempt = new Attempt(call, endsAt, () => this.#idempotencyKey(call), this.#onEnd, this.#helpers);
    this.#running.set(call, attempt);
    attempt.run((context) => runInside(this.#run, call, () => call.body(context as never)));
  }

  #idempotencyKey(call: BodyCall): string {
    const { ref, run } = this.#run;
    return `${ref}/${run}/${call.key}`;
  }
}

/** How many attempts have begun. One that told something has; if no owner was lost, it was given back, and begins again. */
function attemptsBegun({ attempt, record }: BodyCall, interruptions: number): number {
  const told =
    record === null || record.progressAttempt === 0 ? 0 : record.progressAttempt - (interruptions > 0 ? 0 : 1);
  return Math.max(attempt + interruptions, told);
}

function begin(call: BodyCall, kind: "started" | "undoable"): NewEntry {
  call.startedAttempt = call.attempt + 1;
  return call.entry(kind, { attempt: call.startedAttempt });
}
