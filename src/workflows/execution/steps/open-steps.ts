import type { AttemptAbortedError } from "../../../errors.ts";
import type { AttemptOutcome, WorkflowMeter } from "../../../monitoring/meters/meter.ts";
import type { ClaimedInstance, InstanceCommit, InstanceOutcome } from "../../../store/instances/instance-records.ts";
import { decodeValue, StreamReference } from "../../../values/index.ts";
import { StoredStream } from "../../streams/stored-stream.ts";
import { type AbandonableCall, Abandonments, reasonOf, storeReason } from "../abandonment.ts";
import type { Attempt, AttemptOwner } from "../attempt.ts";
import { toUpdate } from "../attempt-results.ts";
import { Bodies } from "../bodies.ts";
import { ChildWaits } from "../child-waits.ts";
import type { CodeRun } from "../code-run.ts";
import type { Commits } from "../commits.ts";
import type { DatabaseTime } from "../database-time.ts";
import {
  type AttemptEnd,
  Endings,
  forgetEnding,
  liveValue,
  stepInterrupted,
  storedError,
  storedValue,
  toReceived,
  waitTimeout,
} from "../endings.ts";
import type { Events } from "../events.ts";
import type { ExecutionHost } from "../execution-host.ts";
import { RELEASED, RUNNING } from "../outcomes.ts";
import { Progress } from "../progress.ts";
import type { RunLimits } from "../run-limits.ts";
import { Waits } from "../waits.ts";
import {
  type ChildResult,
  ResultCall,
  readNotice,
  reviveChildError,
  storeChildError,
  toChildResult,
} from "./result-call.ts";
import { BodyCall, type OpenCall, SleepCall, type StepCall } from "./step-call.ts";

/** Waits that are over sooner are held in memory, with the lease. */
const HOLD_MS = 5000;

/** The execution that runs the steps. */
export interface StepOwner extends AttemptOwner {
  readonly instance: ClaimedInstance;
  /** Receives each failed attempt that will be retried. */
  readonly onAttemptFailed: ((call: BodyCall, error: unknown) => void) | undefined;
  /** The database failed while the code read a stream, or the code has diverged from its history. */
  fail(error: unknown): void;
}

/** The steps that the code has called and that haven't ended for it: bodies, waits, and endings that it isn't told of yet. */
export class OpenSteps {
  readonly bodies: Bodies;
  readonly waits = new Waits();
  readonly endings = new Endings();
  readonly children = new ChildWaits();
  readonly #abandoned = new Abandonments();
  readonly #host: ExecutionHost;
  readonly #meter: WorkflowMeter;
  readonly #owner: StepOwner;
  readonly #code: CodeRun;
  readonly #commits: Commits;
  readonly #limits: RunLimits;
  readonly #time: DatabaseTime;
  readonly #events: Events;
  /** Created by the first emit: few steps emit anything. */
  #progress: Progress | undefined;

  constructor(
    host: ExecutionHost,
    owner: StepOwner,
    code: CodeRun,
    commits: Commits,
    limits: RunLimits,
    time: DatabaseTime,
    events: Events,
  ) {
    this.#host = host;
    this.#meter = host.meterOf(owner.instance.name);
    this.#owner = owner;
    this.#code = code;
    this.#commits = commits;
    this.#limits = limits;
    this.#time = time;
    this.#events = events;
    this.bodies = new Bodies(host.clock);
  }

  get progress(): Progress {
    this.#progress ??= new Progress(this.#owner.instance, this.#host);
    return this.#progress;
  }

  /** Whether an emit waits until it is stored. */
  get emitting(): boolean {
    return this.#progress !== undefined && this.#progress.waiting > 0;
  }

  /** Whether time or an event must pass before any of them can go on. */
  get onlyWait(): boolean {
    const begun = this.bodies.running > 0 || this.bodies.ready > 0;
    const delivered = this.endings.empty && this.children.empty && this.#abandoned.empty;
    return !begun && delivered && this.waits.size > 0;
  }

  /** The steps with bodies that the code called itself and that haven't ended for it. */
  get unfinished(): BodyCall[] {
    if (this.bodies.running + this.bodies.ready + this.waits.size === 0) return [];
    return [...this.bodies.calls, ...this.waits.retries].filter(({ parent }) => parent === null);
  }

  /** Whether events must be looked for before a wait ends, or the owner lets go. */
  get mustLook(): boolean {
    return this.waits.listening && (this.children.mustRegister || this.waits.mustLook(this.#time.now(), this.#events));
  }

  /**
   * Milliseconds until the first wait or attempt must end: infinity if there is none. Nothing comes due while the run rests.
   */
  remaining(resting: boolean): number {
    if (resting || this.waits.size === 0) return this.bodies.remaining;
    return Math.min(this.waits.earliest - this.#time.now(), this.bodies.remaining);
  }

  /** A commit was written: emits that it has are stored. */
  written(commit: InstanceCommit): void {
    this.#progress?.written(commit);
  }

  /**
   * Adds a call, and sees to it that it ends: as it did before, or for the first time. Throws if the journal has no room for
   * it. While the run is rolled back, only stored endings are delivered.
   */
  enter(call: OpenCall, aliases: readonly string[]): Promise<unknown> {
    const known = call.parent === null ? undefined : this.#code.findInner(call);
    if (known !== undefined) return again(known);
    const record = this.#code.find(call, aliases);
    if (record === null && this.#limits.full) throw this.#limits.refusal();
    const diverged = this.#code.register(call, record, aliases);
    if (diverged !== null) {
      this.#owner.fail(diverged);
      return call.promise;
    }
    const entry = record?.ending ?? null;
    const { rollback } = this.#code;
    if (rollback !== null && (entry === null || rollback.undoing)) {
      rollback.noteUnending();
    } else if (entry !== null) {
      this.endings.addStored(call, entry);
      if (call instanceof BodyCall && call.progressed) this.progress.foundEnded(call);
    } else this.add(call);
    return call.promise;
  }

  /** It begins, or ends, when it is time. */
  add(call: OpenCall): void {
    if (call instanceof ResultCall) this.children.add(call);
    if (call instanceof BodyCall && call.dueAt === 0) this.bodies.add(call);
    else this.waits.add(call);
  }

  /**
   * Delivers one ending: first those of the journal, then those of attempts, then what time and events bring, unless it rests.
   */
  deliverNext(resting: boolean): boolean {
    const stored = this.endings.takeStored();
    if (stored !== undefined) {
      const { call, entry } = stored;
      const failure = storedError(call, entry);
      if (failure === null) call.succeed(this.#opened(storedValue(call, entry, this.#events)));
      else call.fail(failure.error);
      forgetEnding(call, entry);
      return true;
    }
    const ended = this.endings.takeEnded();
    if (ended !== undefined) {
      this.deliver(ended);
      return true;
    }
    const abandoned = this.#abandoned.take();
    if (abandoned !== undefined) {
      const value = storeReason(abandoned);
      this.#commits.add(abandoned.entry("abandoned", { value }));
      abandoned.fail(reasonOf(abandoned, value));
      return true;
    }
    const child = this.children.takeEnded();
    if (child === undefined) return !resting && this.waits.size > 0 && this.#deliverWait();
    this.waits.remove(child.call);
    this.#deliverResult(child.call, child.result, null);
    return true;
  }

  /** The code gives up a wait: from now on it takes no event. That is delivered like any other ending. */
  abandon(call: AbandonableCall): void {
    if (!this.waits.remove(call)) return;
    if (call instanceof ResultCall) this.children.drop(call);
    this.#abandoned.add(call);
  }

  /** The end of another instance is delivered to the code that waits for it; `event` told of it. */
  #deliverResult(call: ResultCall, result: ChildResult, event: number | null): void {
    if ("error" in result) {
      const value = storeChildError(result.error);
      this.#commits.add(call.entry("failed", { value, event }));
      call.fail(reviveChildError(call, value));
    } else if (event === null) {
      this.#commits.add(call.entry("completed", { value: result.output }));
      call.succeed(decodeValue(result.output));
    } else {
      this.#commits.add(call.entry("received", { event }));
      call.succeed(decodeValue(result.output));
    }
  }

  /** The end of an attempt is delivered to the code, or the step is tried again. */
  deliver(end: AttemptEnd): void {
    const { call } = end;
    const update = toUpdate(end, this.#limits, this.#time, this.#code);
    this.#ended(call, update.kind);
    this.#commits.add(update.entry);
    if (update.kind === "retried") {
      this.waits.add(call);
      this.#owner.onAttemptFailed?.(call, update.error);
      return;
    }
    if (call.progressed) this.progress.ended(call, update.entry);
    if (update.kind === "completed") call.succeed(this.#opened(update.value));
    else call.fail(update.error);
  }

  /** The end of an attempt is in the journal already, written by its transaction. */
  deliverWritten(end: AttemptEnd): void {
    if ("error" in end) return;
    const { call, value, text } = end;
    this.#ended(call, "completed");
    if (call.rollback !== null) call.output = text;
    if (call.progressed) this.progress.foundEnded(call);
    call.succeed(liveValue(value, text));
  }

  #ended(call: BodyCall, outcome: AttemptOutcome): void {
    const attempt = call.running as Attempt | null;
    this.#meter.step(outcome, attempt === null ? null : this.#host.clock.monotonic() - attempt.startedAt);
    this.bodies.ended(call);
  }

  #deliverWait(): boolean {
    const now = this.#time.now();
    for (const call of this.waits.takeDueRetries(now)) this.bodies.add(call);
    const ended = this.waits.takeEnded(now, this.#events);
    if (ended === null) return false;
    if (ended instanceof SleepCall) {
      this.#commits.add(ended.entry("completed"));
      ended.succeed(undefined);
      return true;
    }
    const { call, event } = ended;
    if (call instanceof ResultCall) this.children.drop(call); // a lost owner had registered it
    if (event === null) {
      this.#commits.add(call.entry("timedOut", { value: call.awaits }));
      call.fail(waitTimeout(call));
    } else if (call instanceof ResultCall) {
      this.#deliverResult(call, toChildResult(call, readNotice(event)), event.sequence);
    } else {
      this.#commits.add(call.entry("received", { event: event.sequence }));
      call.succeed(toReceived(event));
    }
    return true;
  }

  /**
   * Prepares the bodies that may begin, and gives whether they begin at once. Otherwise there is something to write first, or
   * steps have failed because they have no attempt left.
   */
  prepare(interruptions: number): boolean {
    const diverged = this.#code.checkInner();
    if (diverged !== null) throw diverged;
    const preparation = this.bodies.prepare(interruptions);
    if (preparation === null) return true;
    const { entries, exhausted, undoable } = preparation;
    this.#code.began(undoable);
    for (const call of exhausted) this.endings.add({ call, error: stepInterrupted(call), delay: null });
    for (const entry of entries) this.#commits.add(entry);
    return entries.length === 0;
  }

  /**
   * What becomes of an instance whose function hasn't ended: it goes on, waits without an owner, or is given back to come to
   * rest.
   */
  outcome(resting: boolean): InstanceOutcome {
    if (this.bodies.running > 0) return RUNNING;
    if (resting) return RELEASED;
    if (this.bodies.ready > 0 || this.waits.size === 0) return RUNNING;
    const dueAt = this.waits.earliest;
    if (dueAt - this.#time.latest() <= HOLD_MS) return RUNNING;
    const { loadedWakes, knownWakes } = this.#events;
    return { kind: "parked", dueAt, wakes: this.waits.listening ? loadedWakes : knownWakes };
  }

  /**
   * How the instance is given back after something was done: due at once, or, if it only waits, when its first wait is over. An
   * event that one of the waits would receive makes it due at once, too, and so does an instance that hasn't been told who waits
   * for its end.
   */
  givenBack(onlyWaits: boolean): InstanceOutcome {
    const parks = onlyWaits && !this.children.mustRegister && !this.waits.hasEvent(this.#events);
    const dueAt = parks ? this.waits.earliest : this.#time.now();
    return { kind: "parked", dueAt, wakes: this.#events.loadedWakes };
  }

  /**
   * Adds the deadlines that must be written with this outcome. They are written when the owner lets go, and with any other
   * entries: however often the process is lost afterwards, they stay the same. Those that are far off are written before a body
   * begins.
   */
  recordDeadlines({ kind }: InstanceOutcome): void {
    if (this.waits.size === 0) return;
    const lettingGo = kind === "parked" || kind === "released";
    if (!lettingGo && kind !== "running") return;
    const all = lettingGo || this.#commits.pending;
    const after = all ? Number.NEGATIVE_INFINITY : this.#time.latest() + HOLD_MS;
    for (const entry of this.waits.record(after)) this.#commits.add(entry);
  }

  /** The run has failed: none of them ends or begins any more. */
  clear(): void {
    this.bodies.forget();
    this.waits.clear();
    this.endings.clear();
    this.children.clear();
    this.#abandoned.clear();
  }

  /** Tells bodies and emits why their results don't count any more. */
  drop(reason: AttemptAbortedError): void {
    this.bodies.drop(reason);
    this.#progress?.end(reason);
  }

  #opened(value: unknown): unknown {
    if (!(value instanceof StreamReference)) return value;
    return this.#host.openStream(this.#owner.instance.ref, value, (error) => this.#owner.fail(error));
  }
}

/** A step inside another that is tried again. Its stream can be read again from the beginning. */
function again(call: StepCall): Promise<unknown> {
  call.tellAgain();
  const ending = call.promise.then((value) => (value instanceof StoredStream ? value.reopen() : value));
  ending.catch(() => {});
  return ending;
}
