import type { Clock, Timer } from "../clock.ts";
import { AttemptAbortedError, EventTimeoutError, NonRetryableError, PerdureError, StoreError } from "../errors.ts";
import { requestedDelay } from "../queue/retry-policy.ts";
import type {
  ClaimedInstance,
  EventsRequest,
  InstanceCommit,
  InstanceCommitResult,
  InstanceHistory,
  InstanceLease,
  InstanceOutcome,
  InstanceRun,
  JournalEntry,
  LoadedEvents,
  NewEntry,
} from "../store/instance-records.ts";
import { decodeValue, encodeError, encodeValue } from "../values/index.ts";
import { Attempt } from "./attempt.ts";
import { DatabaseTime } from "./database-time.ts";
import { EventBox } from "./event-box.ts";
import { describeStep, RunJournal } from "./run-journal.ts";
import { BodyCall, EventCall, type OpenWait, SleepCall, type StepCall, type StepEnding } from "./step-call.ts";
import { chooseDelay } from "./step-retry.ts";

/** What an execution needs of the world around it. */
export interface ExecutionHost {
  readonly clock: Clock;
  readonly maxValueBytes: number;
  commit(commit: InstanceCommit): Promise<InstanceCommitResult>;
  load(run: InstanceRun): Promise<InstanceHistory | null>;
  loadEvents(request: EventsRequest): Promise<LoadedEvents | null>;
  /** A step was called after the instance had been parked: take the instance again, if nobody else has. */
  reacquire(execution: Execution): void;
  warn(message: string, details: Readonly<Record<string, unknown>>): void;
}

/**
 * How an execution ended: its run is over, or waits without us; or somebody else has it now, and whatever we still did would be
 * refused.
 */
export type ExecutionEnd =
  | { readonly kind: "completed"; readonly output: string }
  | { readonly kind: "errored"; readonly error: string; readonly thrown: unknown }
  /** `delayMs` is how long until it is due; null while it is paused. */
  | { readonly kind: "parked"; readonly delayMs: number | null }
  | { readonly kind: "released" | "superseded" | "abandoned" };

type WrittenCommit = Extract<InstanceCommitResult, { result: "written" }>;
type RunResult = { readonly value: unknown } | { readonly error: unknown };

/** Waits that are over sooner are held in memory, with the lease. */
const HOLD_MS = 5000;
/** An instance that is lost this many times, with nothing done in between, is what ends its processes. */
export const MOST_RECOVERIES = 20;

/**
 * Runs one instance, from what is stored of it on.
 *
 * The user's function runs once from its beginning. Steps whose endings are in the journal get them in the order of the journal;
 * between any two, everything that the code does in answer comes first, so races come out as they did. Then steps run for real.
 * When one ends, the code goes on at once; what it did next (another step, a wait, its end) decides what is written, in one
 * commit. No body begins before everything that led to it is committed.
 *
 *     turn: deliver one ending ─▶ (the code reacts) ─▶ turn … nothing to deliver ─▶ commit ─▶ begin bodies, or wait, or end
 *
 * Waiting never throws: a sleep, a wait or a retry leaves its promise pending. When nothing but waits is left, the execution
 * holds them if they are short, or parks: it lets go of the instance until the earliest deadline.
 */
export class Execution {
  readonly instance: ClaimedInstance;
  readonly #host: ExecutionHost;
  readonly #time: DatabaseTime;
  readonly #events = new EventBox();
  #lease: InstanceLease;
  #journal = new RunJournal([]);
  /** Endings that are stored, of steps that were called: in the order of calling. */
  readonly #replayed = new Set<{ call: StepCall; ending: JournalEntry }>();
  /** Attempts that have ended, in that order. */
  readonly #arrived: (() => void)[] = [];
  readonly #attempts = new Map<BodyCall, Attempt>();
  /** Bodies that may begin as soon as everything is committed. */
  readonly #ready = new Set<BodyCall>();
  readonly #retries = new Set<BodyCall>();
  readonly #sleeps = new Set<SleepCall>();
  readonly #eventCalls = new Set<EventCall>();
  #pending: NewEntry[] = [];
  #committing: Promise<void> | undefined;
  #result: RunResult | undefined;
  /** `wakes` as of the events that we have, and as of the last answer. */
  #loadedWakes: number;
  #knownWakes: number;
  /** The database's time, at least, when we last looked for events. */
  #lookedAt = 0;
  #looking = false;
  #paused = false;
  #stopping = false;
  #scheduled = false;
  #delivered = false;
  /** Owners that were lost since the last entry; what begins before the next entry may have begun before. */
  #interruptions: number;
  #timer: Timer | undefined;
  #end: ExecutionEnd | undefined;
  #onEnd: ((end: ExecutionEnd) => void) | undefined;
  #onFailure: ((error: unknown) => void) | undefined;
  #onLastCommit: (() => void) | undefined;

  constructor(instance: ClaimedInstance, host: ExecutionHost) {
    this.instance = instance;
    this.#host = host;
    this.#time = new DatabaseTime(host.clock, instance.claimedAt);
    this.#lease = { ref: instance.ref, run: instance.run, lock: instance.lock };
    this.#loadedWakes = instance.wakes;
    this.#knownWakes = instance.wakes;
    this.#interruptions = instance.recoveries;
  }

  get lease(): InstanceLease {
    return this.#lease;
  }

  /** Whether nothing of the user's runs: it sleeps, or waits for an event or a retry. */
  get waiting(): boolean {
    return this.#waits().length > 0 && this.#attempts.size === 0 && this.#ready.size === 0;
  }

  /** Whether it should be told at once of events. */
  get listening(): boolean {
    return this.#end === undefined && this.#eventCalls.size > 0;
  }

  /**
   * Runs until the instance is finished, parked, or not ours any more. `onLastCommit` is called when only the last commit is left.
   * Rejects if the store failed; nothing is lost then, and whoever claims the instance next goes on.
   */
  async run(main: () => Promise<unknown>, onLastCommit: () => void): Promise<ExecutionEnd> {
    this.#onLastCommit = onLastCommit;
    if (this.instance.begun && !(await this.#load())) return { kind: "superseded" };
    const ended = this.#untilEnd();
    if (this.#interruptions > MOST_RECOVERIES) this.#result = { error: crashLoop(this.#interruptions) };
    else this.#begin(main);
    this.#soon();
    return ended;
  }

  /** Goes on after it was parked: a step was called, and the instance is ours again. */
  async continue(lease: InstanceLease, wakes: number, at: number, onLastCommit: () => void): Promise<ExecutionEnd> {
    this.#lease = lease;
    this.#knownWakes = wakes;
    this.#time.observe(at);
    this.#end = undefined;
    this.#onLastCommit = onLastCommit;
    const ended = this.#untilEnd();
    this.#soon();
    return ended;
  }

  /** What an answer of the database said about the instance. */
  observe(answer: { wakes: number; paused: boolean; at: number }): void {
    this.#observe(answer);
    this.#soon();
  }

  /** Something may have been sent. */
  look(): void {
    if (this.#end === undefined) void this.#look();
  }

  pause(): void {
    this.#paused = true;
    this.#soon();
  }

  resume(): void {
    this.#paused = false;
    this.look();
  }

  /** It was terminated, restarted or deleted. */
  supersede(): void {
    this.#supersede();
  }

  /** The process is about to end: begins nothing more, and gives the instance back as soon as nothing runs. */
  wrapUp(): void {
    this.#stopping = true;
    this.#soon();
  }

  /** It isn't ours any more. */
  abandon(reason: AttemptAbortedError): void {
    this.#stop(reason);
    this.#finish({ kind: "abandoned" });
  }

  /** Gives it back after it was abandoned. */
  async release(): Promise<void> {
    await this.#committing?.catch(() => {});
    const { position } = this.#journal;
    await this.#host.commit({ ...this.#lease, position, entries: [], outcome: { kind: "released" } });
  }

  // What the code calls

  /** Registers a call, and sees to it that it ends as it did before, or for the first time. */
  enter(call: StepCall): Promise<unknown> {
    if (call.record !== null) call.record.reached = true;
    const ending = call.record?.ending ?? null;
    if (ending !== null) this.#replayed.add({ call, ending });
    else if (call instanceof BodyCall) (call.dueAt > 0 ? this.#retries : this.#ready).add(call);
    else if (call instanceof SleepCall) this.#sleeps.add(call);
    else if (call instanceof EventCall) this.#eventCalls.add(call);
    if (this.#end?.kind === "parked") this.#host.reacquire(this);
    this.#soon();
    return call.promise;
  }

  find(type: StepCall["type"], name: string, count: number, aliases: readonly string[]): StepCall["record"] {
    return this.#journal.find(type, name, count, aliases);
  }

  /** Whether a body runs: what is called now may be called from inside of it. */
  get busy(): boolean {
    return this.#attempts.size > 0;
  }

  /** The database's time. */
  now(): number {
    return this.#time.now();
  }

  // Turns

  #observe({ wakes, paused, at }: { wakes: number; paused: boolean; at: number }): void {
    this.#time.observe(at);
    this.#knownWakes = Math.max(this.#knownWakes, wakes);
    this.#paused = paused;
  }

  #begin(main: () => Promise<unknown>): void {
    main().then(
      (value) => this.#returned({ value }),
      (error: unknown) => this.#returned({ error }),
    );
  }

  #returned(result: RunResult): void {
    this.#result ??= result;
    if (this.#end?.kind === "parked") this.#host.reacquire(this);
    this.#soon();
  }

  /** After everything that the code does in answer to what was just delivered. */
  #soon(): void {
    if (this.#scheduled || this.#end !== undefined) return;
    this.#scheduled = true;
    this.#host.clock.defer(() => {
      this.#scheduled = false;
      if (this.#end === undefined) this.#turn();
    });
  }

  #turn(): void {
    this.#delivered = false;
    if (this.#result === undefined && this.#deliverNext()) {
      this.#delivered = true;
      this.#soon();
      return;
    }
    if (this.#committing !== undefined) return;
    if (this.#mustLook()) {
      void this.#look();
      return;
    }
    const outcome = this.#outcome();
    if (outcome.kind === "parked") this.#recordWaits();
    if (this.#pending.length > 0 || outcome.kind !== "running") this.#commit(outcome);
    else this.#proceed();
  }

  /** One ending at a time: first those of the journal, then what has ended since, then what time and events bring. */
  #deliverNext(): boolean {
    return this.#replayNext() || this.#deliverArrived() || this.#deliverWait();
  }

  #replayNext(): boolean {
    let next: { call: StepCall; ending: JournalEntry } | undefined;
    for (const one of this.#replayed) {
      if (next === undefined || one.ending.position < next.ending.position) next = one;
    }
    if (next === undefined) return false;
    this.#replayed.delete(next);
    next.call.end(this.#endingOf(next.call, next.ending));
    return true;
  }

  #endingOf(call: StepCall, { kind, value, event }: JournalEntry): StepEnding {
    if (kind === "failed") return { error: decodeValue(value as string) };
    if (kind === "timedOut") return { error: eventTimeout(call) };
    if (kind === "received") return { value: toReceived(this.#events.get(event as number)) };
    return { value: value === null ? undefined : decodeValue(value) };
  }

  #deliverArrived(): boolean {
    const deliver = this.#arrived.shift();
    deliver?.();
    return deliver !== undefined;
  }

  /** What happened first: the end of a sleep, an event, or the deadline of a wait. Nothing does while it is paused. */
  #deliverWait(): boolean {
    if (this.#paused || this.#stopping) return false;
    const now = this.#time.now();
    for (const retry of this.#retries) {
      if (retry.dueAt > now) continue;
      this.#retries.delete(retry);
      this.#ready.add(retry);
    }
    let sleep: SleepCall | undefined;
    for (const one of this.#sleeps) {
      if (one.dueAt <= now && (sleep === undefined || one.dueAt < sleep.dueAt)) sleep = one;
    }
    const match =
      this.#eventCalls.size === 0 ? null : this.#events.match(this.#eventCalls, Math.min(now, this.#lookedAt));
    if (sleep !== undefined && (match === null || sleep.dueAt <= match.at)) {
      this.#sleeps.delete(sleep);
      this.#pending.push(sleep.entry("completed"));
      sleep.end({ value: undefined });
      return true;
    }
    if (match === null) return false;
    const { call, event } = match;
    this.#eventCalls.delete(call);
    if (event === null) {
      this.#pending.push(call.entry("timedOut"));
      call.end({ error: eventTimeout(call) });
    } else {
      this.#events.markReceived(event);
      this.#pending.push(call.entry("received", { event: event.sequence }));
      call.end({ value: toReceived(event) });
    }
    return true;
  }

  // Events

  /** Before a wait ends by its deadline, and before we let go, we must know of everything that was sent. */
  #mustLook(): boolean {
    if (this.#eventCalls.size === 0 || this.#result !== undefined || this.#paused || this.#stopping) return false;
    if (this.#knownWakes !== this.#loadedWakes) return true;
    const now = this.#time.now();
    for (const { dueAt } of this.#eventCalls) if (dueAt <= now && dueAt > this.#lookedAt) return true;
    return false;
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    const lookedAt = this.#time.now();
    const { ref, run } = this.#lease;
    try {
      const loaded = await this.#host.loadEvents({ ref, run, after: this.#events.lastSequence });
      if (loaded === null) this.#supersede();
      else {
        this.#events.add(loaded.events);
        this.#loadedWakes = Math.max(this.#loadedWakes, loaded.wakes);
        this.#knownWakes = Math.max(this.#knownWakes, loaded.wakes);
        this.#lookedAt = Math.max(this.#lookedAt, lookedAt);
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#looking = false;
      this.#soon();
    }
  }

  async #load(): Promise<boolean> {
    const lookedAt = this.#time.now();
    const history = await this.#host.load(this.#lease);
    if (history === null) return false;
    this.#journal = new RunJournal(history.entries);
    this.#events.add(history.events);
    for (const { event } of history.entries) {
      const received = event === null ? undefined : this.#events.get(event);
      if (received !== undefined) this.#events.markReceived(received);
    }
    this.#loadedWakes = history.wakes;
    this.#knownWakes = Math.max(this.#knownWakes, history.wakes);
    this.#lookedAt = lookedAt;
    return true;
  }

  // Commits

  #outcome(): InstanceOutcome {
    if (this.#result !== undefined) return this.#finalOutcome(this.#result);
    if (this.#attempts.size > 0) return { kind: "running" };
    const wakes = this.#loadedWakes;
    if (this.#paused) return { kind: "parked", dueAt: this.#time.now(), wakes };
    if (this.#stopping) return { kind: "released" };
    const waits = this.#waits();
    if (this.#ready.size > 0 || waits.length === 0) return { kind: "running" };
    const dueAt = earliest(waits);
    if (dueAt - this.#time.now() <= HOLD_MS) return { kind: "running" };
    return { kind: "parked", dueAt, wakes: this.#eventCalls.size === 0 ? this.#knownWakes : wakes };
  }

  #finalOutcome(result: RunResult): InstanceOutcome {
    if ("error" in result) return { kind: "errored", error: encodeError(result.error) };
    try {
      return { kind: "completed", output: this.#encode(result.value, "The result of the workflow") };
    } catch (error) {
      this.#result = { error };
      return { kind: "errored", error: encodeError(error) };
    }
  }

  #recordWaits(): void {
    for (const wait of [...this.#sleeps, ...this.#eventCalls]) {
      if (wait.recorded) continue;
      wait.recorded = true;
      this.#pending.push(wait.entry("waiting", { dueAt: wait.dueAt }));
    }
  }

  #commit(outcome: InstanceOutcome): void {
    const entries = this.#pending;
    this.#pending = [];
    if (outcome.kind !== "running") this.#onLastCommit?.();
    this.#committing = this.#write({ ...this.#lease, position: this.#journal.position, entries, outcome });
  }

  async #write(commit: InstanceCommit): Promise<void> {
    try {
      const answer = await this.#host.commit(commit);
      this.#committing = undefined;
      if (answer.result === "superseded") {
        this.#supersede();
        return;
      }
      this.#journal.position += commit.entries.length;
      if (commit.entries.length > 0) this.#interruptions = 0;
      const { outcome } = commit;
      if (outcome.kind !== "running") this.#finishWith(outcome, answer);
      else {
        this.#observe(answer);
        if (!this.#scheduled) this.#turn(); // the code has done everything that it does without another ending
      }
    } catch (error) {
      this.#committing = undefined;
      this.#fail(error);
    }
  }

  // Bodies

  /** Everything is committed: begins what may begin, and waits for the rest. */
  #proceed(): void {
    if (!this.#paused && !this.#stopping) {
      for (const call of this.#ready) this.#prepare(call);
      if (this.#pending.length > 0) {
        this.#soon();
        return;
      }
      for (const call of this.#ready) this.#start(call);
    }
    this.#setTimer();
  }

  /** Where it must be known that an attempt began, that is written first. What has no attempts left, fails. */
  #prepare(call: BodyCall): void {
    const { policy } = call;
    if (call.prepared) return;
    call.prepared = true;
    const exact = policy.limit === 0;
    const interrupted = exact ? 0 : this.#interruptions;
    const attempt = call.attempt + interrupted + 1;
    if (attempt > policy.limit + 1) {
      this.#ready.delete(call);
      call.attempt = attempt - 1;
      this.#arrived.push(() => this.#failStep(call, stepInterrupted(call), null));
      this.#soon();
      return;
    }
    call.attempt = attempt - 1;
    if (!exact) return;
    call.startedAttempt = attempt;
    this.#pending.push(call.entry("started", { attempt }));
  }

  #start(call: BodyCall): void {
    this.#ready.delete(call);
    call.prepared = false;
    call.attempt++;
    const { ref, run } = this.#lease;
    const key = `${ref}/${run}/${describeStep(call)}`;
    const attempt = new Attempt(this.#host.clock, call, call.attempt, call.policy, key);
    this.#attempts.set(call, attempt);
    attempt.run(call.body, call.policy.timeoutMs, (result) => {
      if (this.#end !== undefined) return;
      if ("value" in result) this.#completed(call, result.value);
      else void this.#attemptFailed(call, attempt, result.error);
    });
  }

  #completed(call: BodyCall, value: unknown): void {
    let text: string | null;
    try {
      text = value === undefined ? null : this.#encode(value, `The result of the step "${call.name}"`);
    } catch (error) {
      this.#arrive(() => this.#failStep(call, error, null));
      return;
    }
    this.#arrive(() => {
      this.#attempts.delete(call);
      this.#pending.push(call.entry("completed", { attempt: call.attempt, value: text }));
      call.end({ value: isPrimitive(value) ? value : decodeValue(text as string) });
    });
  }

  async #attemptFailed(call: BodyCall, attempt: Attempt, error: unknown): Promise<void> {
    const { policy } = call;
    const ours = call.type === "create";
    if (ours && error instanceof StoreError) {
      this.#fail(error);
      return;
    }
    const refused = error instanceof NonRetryableError || (ours && error instanceof PerdureError);
    const final = refused || call.attempt > policy.limit;
    const delay = final
      ? null
      : (requestedDelay(error, this.#host.clock.now()) ??
        (await chooseDelay(policy, attempt.context, error, this.#host)));
    if (this.#end === undefined) this.#arrive(() => this.#failStep(call, error, delay));
  }

  /** An attempt has failed: the next comes after the delay, or, if that is null, none does. */
  #failStep(call: BodyCall, error: unknown, delay: number | null): void {
    this.#attempts.delete(call);
    const value = encodeError(error);
    const dueAt = delay === null ? null : this.#time.now() + Math.ceil(delay);
    this.#pending.push(call.entry("failed", { attempt: call.attempt, value, dueAt }));
    if (dueAt === null) {
      call.end({ error: decodeValue(value) });
      return;
    }
    call.dueAt = dueAt;
    this.#retries.add(call);
  }

  /** Delivers at once if nothing else was delivered in this turn; endings come one at a time. */
  #arrive(deliver: () => void): void {
    if (this.#delivered || this.#arrived.length > 0 || this.#replayed.size > 0 || this.#result !== undefined) {
      this.#arrived.push(deliver);
    } else {
      this.#delivered = true;
      deliver();
    }
    this.#soon();
  }

  // Waiting

  #waits(): OpenWait[] {
    return [...this.#sleeps, ...this.#eventCalls, ...this.#retries];
  }

  #setTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const waits = this.#waits();
    if (waits.length === 0 || this.#paused) return;
    const remaining = earliest(waits) - this.#time.now();
    this.#timer = this.#host.clock.setTimer(() => this.#soon(), Math.max(remaining, 1));
  }

  // Ends

  #untilEnd(): Promise<ExecutionEnd> {
    return new Promise((resolve, reject) => {
      this.#onEnd = resolve;
      this.#onFailure = reject;
    });
  }

  #finishWith(outcome: Exclude<InstanceOutcome, { kind: "running" }>, answer: WrittenCommit): void {
    if (outcome.kind === "completed" || outcome.kind === "errored") this.#tellOfUnreached();
    this.#stop(new AttemptAbortedError("workflow.finished", "The workflow has ended: nobody waits for this step."));
    if (outcome.kind === "errored") {
      const thrown = this.#result !== undefined && "error" in this.#result ? this.#result.error : undefined;
      this.#finish({ kind: "errored", error: outcome.error, thrown });
    } else if (outcome.kind === "completed") this.#finish({ kind: "completed", output: outcome.output });
    else if (outcome.kind === "parked") this.#finish({ kind: "parked", delayMs: delayOf(outcome, answer) });
    else this.#finish({ kind: "released" });
    // The code went on by itself while we let go: it waited for something else as well.
    const goesOn = this.#ready.size > 0 || this.#replayed.size > 0 || this.#result !== undefined;
    if (outcome.kind === "parked" && goesOn) this.#host.reacquire(this);
  }

  #supersede(): void {
    this.#stop(
      new AttemptAbortedError(
        "attempt.superseded",
        "The instance was terminated, restarted or deleted, or another process has it.",
      ),
    );
    this.#finish({ kind: "superseded" });
  }

  #fail(error: unknown): void {
    if (this.#end !== undefined) return;
    this.#stop(
      new AttemptAbortedError("attempt.lease_lost", "The database could not be used: the instance will be taken over."),
    );
    this.#end = { kind: "abandoned" };
    this.#onFailure?.(error);
  }

  #finish(end: ExecutionEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#onEnd?.(end);
  }

  #stop(reason: AttemptAbortedError): void {
    this.#timer?.cancel();
    for (const attempt of this.#attempts.values()) attempt.drop(reason);
    this.#attempts.clear();
  }

  #tellOfUnreached(): void {
    const unreached = this.#journal.unreached();
    if (unreached.length === 0) return;
    this.#host.warn("Steps that had run before were not reached by this code. If one was renamed, give it an alias.", {
      workflow: this.instance.name,
      instance: this.instance.id,
      steps: unreached.slice(0, 20).map(describeStep),
    });
  }

  #encode(value: unknown, label: string): string {
    return encodeValue(value, { label, maxBytes: this.#host.maxValueBytes });
  }
}

function earliest(waits: readonly OpenWait[]): number {
  let first = Number.POSITIVE_INFINITY;
  for (const { dueAt } of waits) first = Math.min(first, dueAt);
  return first;
}

/** As the database decided it: how long until a parked instance is due. */
function delayOf({ dueAt, wakes }: { dueAt: number; wakes: number }, answer: WrittenCommit): number | null {
  if (answer.paused) return null;
  return answer.wakes === wakes ? Math.max(dueAt - answer.at, 0) : 0;
}

function isPrimitive(value: unknown): boolean {
  return value === null || (typeof value !== "object" && typeof value !== "function");
}

function toReceived(event: { type: string; payload: string; at: number } | undefined): unknown {
  if (event === undefined)
    throw new PerdureError("workflow.event_missing", "An event that was received isn't stored any more.");
  return { payload: decodeValue(event.payload), timestamp: new Date(event.at), type: event.type };
}

function eventTimeout({ name }: StepCall): EventTimeoutError {
  return new EventTimeoutError(`No event came in time for the step "${name}".`);
}

function stepInterrupted(call: StepCall): PerdureError {
  return new PerdureError(
    "step.interrupted",
    `The step ${describeStep(call)} was lost with its process in each of its attempts: it may be what ends the process.`,
  );
}

function crashLoop(recoveries: number): PerdureError {
  const message = `The instance was lost with its process ${recoveries} times in a row, with nothing done in between: it may be what ends the process.`;
  return new PerdureError("workflow.crash_loop", message);
}
