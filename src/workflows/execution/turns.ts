import type { Timer } from "../../clock.ts";
import type { InstanceOutcome } from "../../store/instances/instance-records.ts";
import type { ExecutionParts } from "./execution-parts.ts";
import { stepInterrupted } from "./step-ending.ts";

/** What a turn may come to, beside endings that are delivered and bodies that begin. */
interface TurnActions {
  /** Writes what has come together, and what becomes of the instance. */
  commit(outcome: InstanceOutcome): void;
  /** Looks for events. */
  look(): void;
  /** Ends the execution: what is stored can't be read. */
  fail(error: unknown): void;
}

/**
 * How an execution goes on: in turns. Each delivers one ending, and the next comes when the code has done everything that it does
 * in answer. When nothing is left to deliver, what has come together is committed; when that is written, bodies begin, or time
 * must pass.
 *
 *     turn: deliver one ending ─▶ (the code reacts) ─▶ turn … nothing to deliver ─▶ commit ─▶ begin bodies, or wait, or end
 */
export class Turns {
  readonly #parts: ExecutionParts;
  readonly #actions: TurnActions;
  /** Whether the code has begun: while its journal is loaded, which may take long, there are no turns. */
  #open = false;
  #scheduled = false;
  /** Whether something was delivered that the code may not have answered yet. */
  #delivered = false;
  #timer: Timer | undefined;

  constructor(parts: ExecutionParts, actions: TurnActions) {
    this.#parts = parts;
    this.#actions = actions;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** The code is about to begin. */
  open(): void {
    this.#open = true;
  }

  /** The next one, after everything that the code does in answer to what was just delivered. */
  soon(): void {
    if (!this.#open || this.#scheduled || this.#parts.end.end !== undefined) return;
    this.#scheduled = true;
    this.#parts.host.defer(this.#takeTurn);
  }

  /** The next one, at once, unless it is on its way: the code has done everything that it does without another ending. */
  now(): void {
    if (!this.#scheduled) this.#tryTurn();
  }

  /** Delivers at once if nothing else was delivered in this turn; endings come one at a time. */
  arrive(deliver: () => void): void {
    const { endings, code } = this.#parts;
    if (this.#delivered || !endings.empty || code.result !== undefined) {
      endings.addArrived(deliver);
    } else {
      this.#delivered = true;
      deliver();
    }
    this.soon();
  }

  /** None comes because time has passed. */
  stop(): void {
    this.#timer?.cancel();
  }

  readonly #takeTurn = (): void => {
    this.#scheduled = false;
    this.#tryTurn();
  };

  /** A turn serves many instances at a time: what goes wrong with one is its own affair. */
  #tryTurn(): void {
    if (this.#parts.end.end !== undefined) return;
    try {
      this.#turn();
    } catch (error) {
      this.#actions.fail(error);
    }
  }

  #turn(): void {
    const { bodies, code, commits, lookup, possession, outcomes } = this.#parts;
    if (bodies.running > 0) bodies.timeOut();
    this.#delivered = code.result === undefined && this.#deliverNext();
    if (this.#delivered) {
      code.rollback?.sign();
      this.soon();
      return;
    }
    if (commits.writing) return;
    if (code.result === undefined && !possession.resting && lookup.due) {
      this.#actions.look();
      return;
    }
    const outcome = this.#outcome();
    commits.add(...outcomes.deadlines(outcome, { writes: commits.pending > 0 }));
    if (commits.pending > 0 || outcome.kind !== "running") this.#actions.commit(outcome);
    else this.#proceed();
  }

  /** One ending at a time: first those of the journal, then what has ended since, then what time and events bring. */
  #deliverNext(): boolean {
    const { endings, feed } = this.#parts;
    return endings.deliverNext(() => feed.events) || this.#deliverWait();
  }

  /** Nothing comes due while it is paused. */
  #deliverWait(): boolean {
    const { possession, time, waits, bodies, feed, commits } = this.#parts;
    if (possession.resting) return false;
    const now = time.now();
    for (const call of waits.takeDueRetries(now)) bodies.add(call);
    const ended = waits.takeEnded(now, feed);
    if (ended === null) return false;
    commits.add(ended.entry);
    ended.call.end(ended.ending);
    return true;
  }

  #outcome(): InstanceOutcome {
    const { code, outcomes, possession, commits } = this.#parts;
    if (code.result === undefined) return outcomes.choose(possession.resting);
    const { outcome, entries } = code.finalOutcome(code.result);
    commits.add(...entries);
    return outcome;
  }

  /** Everything is committed: begins what may begin, and waits for the rest. */
  #proceed(): void {
    const { possession, code, bodies } = this.#parts;
    this.#parts.releaseLoad();
    if (possession.mayBegin) code.undoIfReady();
    if (bodies.ready > 0 && possession.mayBegin) this.#begin();
    else this.#setTimer();
  }

  #begin(): void {
    const { bodies, code, endings, results, commits, possession } = this.#parts;
    const { entries, exhausted, undoable } = bodies.prepare(possession.interruptions);
    code.began(undoable);
    for (const call of exhausted) endings.addArrived(() => results.fail(call, stepInterrupted(call), null));
    commits.add(...entries);
    if (entries.length > 0 || exhausted.length > 0) this.soon();
    if (entries.length > 0) return;
    bodies.start();
    this.soon(); // most bodies end at once, and need no timer
  }

  #setTimer(): void {
    const { possession, bodies, code, host } = this.#parts;
    this.#timer?.cancel();
    this.#timer = undefined;
    const untilDue = possession.resting ? Number.POSITIVE_INFINITY : this.#untilDue();
    const patience = code.rollback?.patience ?? Number.POSITIVE_INFINITY;
    const remaining = Math.min(untilDue, bodies.remaining, patience);
    if (remaining === Number.POSITIVE_INFINITY) return;
    this.#timer = host.clock.setTimer(() => this.soon(), Math.max(remaining, 1));
  }

  /** Milliseconds until the first wait comes to its deadline. */
  #untilDue(): number {
    const { waits, time } = this.#parts;
    return waits.size === 0 ? Number.POSITIVE_INFINITY : waits.earliest - time.now();
  }
}
