import type { Timer } from "../clock.ts";
import { AttemptAbortedError, NonRetryableError, PerdureError, StoreError } from "../errors.ts";
import { requestedDelay } from "../queue/retry-policy.ts";
import type {
  ClaimedInstance,
  InstanceCommit,
  InstanceCommitResult,
  InstanceLease,
  InstanceOutcome,
  JournalEntry,
  NewEntry,
} from "../store/instance-records.ts";
import { decodeValue, encodeError, encodeValue } from "../values/index.ts";
import type { Attempt, AttemptResult } from "./attempt.ts";
import { Bodies } from "./bodies.ts";
import { DatabaseTime } from "./database-time.ts";
import { EventFeed } from "./event-feed.ts";
import type { ExecutionEnd, ExecutionHost, ParkedExecution } from "./execution-host.ts";
import { OpenWaits } from "./open-waits.ts";
import { RunJournal, type StepRecord } from "./run-journal.ts";
import { BodyCall, type OpenWait, type StepCall } from "./step-call.ts";
import { crashLoop, liveValue, stepInterrupted, storedEnding } from "./step-ending.ts";
import { describeStep, pathOf, type StepIdentity } from "./step-path.ts";
import { chooseDelay } from "./step-retry.ts";
import { runOutside } from "./step-scope.ts";

type WrittenCommit = Extract<InstanceCommitResult, { result: "written" }>;
type FinalOutcome = Exclude<InstanceOutcome, { kind: "running" }>;
type InstanceNews = { readonly wakes: number; readonly paused: boolean; readonly at: number };

/** Waits that are over sooner are held in memory, with the lease. */
const HOLD_MS = 5000;
/** An instance that is lost this many times, with nothing done in between, is what ends its processes. */
const MOST_RECOVERIES = 20;

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
export class Execution implements ParkedExecution {
  readonly instance: ClaimedInstance;
  /** Whether the lease can't be over yet. When it may be, nothing begins: whoever keeps it is about to abandon us. */
  isHeld: () => boolean = () => true;
  readonly #host: ExecutionHost;
  readonly #time: DatabaseTime;
  readonly #bodies: Bodies;
  readonly #waits = new OpenWaits();
  readonly #feed: EventFeed;
  #journal = new RunJournal();
  #lease: InstanceLease;
  /** Endings that are stored, of steps that were called. */
  readonly #replayed = new Set<{ call: StepCall; ending: JournalEntry }>();
  /** Steps inside of other steps, by their paths. */
  readonly #inner = new Map<string, StepCall>();
  /** What has ended and isn't delivered yet, in that order. */
  readonly #arrived: (() => void)[] = [];
  #pending: NewEntry[] = [];
  #committing: Promise<void> | undefined;
  #result: AttemptResult | undefined;
  #looking = false;
  #paused = false;
  /** How often this process has paused or resumed it: an answer to what was asked before knows nothing of that. */
  #pauseChanges = 0;
  #stopping = false;
  #scheduled = false;
  #delivered = false;
  /** Owners that were lost since the last entry. */
  #interruptions: number;
  #timer: Timer | undefined;
  #end: ExecutionEnd | undefined;
  #settle: { resolve(end: ExecutionEnd): void; reject(error: unknown): void } | undefined;
  #onLastCommit: (() => void) | undefined;

  constructor(instance: ClaimedInstance, host: ExecutionHost) {
    this.instance = instance;
    this.#host = host;
    this.#time = new DatabaseTime(host.clock, instance.claimedAt);
    this.#lease = { ref: instance.ref, run: instance.run, lock: instance.lock };
    this.#feed = new EventFeed(instance.wakes);
    this.#interruptions = instance.recoveries;
    this.#bodies = new Bodies(host.clock, instance, (attempt, result) => this.#bodyEnded(attempt, result));
  }

  get lease(): InstanceLease {
    return this.#lease;
  }

  /** Whether nothing of the user's runs: it sleeps, or waits for an event or a retry. */
  get waiting(): boolean {
    const atRest = this.#pending.length === 0 && this.#committing === undefined && this.#bodies.ready === 0;
    return this.#waits.size > 0 && this.#bodies.running === 0 && atRest;
  }

  /** Whether it should be told at once of events. */
  get listening(): boolean {
    return this.#end === undefined && this.#waits.listening;
  }

  /**
   * Runs until the instance is finished, parked, or not ours any more. `onLastCommit` is called when only the last commit is left.
   * Rejects if the store failed; nothing is lost then, and whoever claims the instance next goes on.
   */
  async run(main: () => Promise<unknown>, onLastCommit: () => void): Promise<ExecutionEnd> {
    this.#onLastCommit = onLastCommit;
    this.#paused = this.instance.paused; // then nothing may begin, and it comes to rest
    if (!this.#paused && this.instance.begun && !(await this.#load())) return { kind: "superseded" };
    if (this.#end !== undefined) return this.#end; // it was taken away while we loaded
    const ended = this.#untilEnd();
    if (this.#paused) return this.#rest(ended);
    if (this.#interruptions > MOST_RECOVERIES) this.#result = { error: crashLoop(this.#interruptions) };
    else this.#begin(main);
    this.#soon();
    return ended;
  }

  #rest(ended: Promise<ExecutionEnd>): Promise<ExecutionEnd> {
    this.#commit({ kind: "released" });
    return ended;
  }

  /** Goes on after it was parked: the code went on, and the instance is ours again. */
  continue(
    lease: InstanceLease,
    { wakes, at }: Omit<InstanceNews, "paused">,
    onLastCommit: () => void,
  ): Promise<ExecutionEnd> {
    this.#lease = lease;
    this.#observe({ wakes, at, paused: false });
    this.#end = undefined;
    this.#onLastCommit = onLastCommit;
    this.#soon();
    return this.#untilEnd();
  }

  // What others tell it

  /** Of what is asked now; the answer may be overtaken by a pause or a resume. */
  get pauseChanges(): number {
    return this.#pauseChanges;
  }

  /** What an answer of the database said about the instance; asked when `pauseChanges` was this. */
  observe(news: InstanceNews, askedAt: number): void {
    this.#observe(askedAt === this.#pauseChanges ? news : { ...news, paused: this.#paused });
    this.#soon();
  }

  /** Something may have been sent. */
  look(): void {
    if (this.#end === undefined) void this.#look();
  }

  pause(): void {
    this.#paused = true;
    this.#pauseChanges++;
    this.#soon();
  }

  resume(): void {
    this.#paused = false;
    this.#pauseChanges++;
    this.look();
  }

  /** The process is about to end: begins nothing more, and gives the instance back as soon as nothing runs. */
  wrapUp(): void {
    this.#stopping = true;
    this.#soon();
  }

  /** It was terminated, restarted or deleted, or another process has it. */
  supersede(): void {
    const message = "The instance was terminated, restarted or deleted, or another process has it.";
    this.#stop("attempt.superseded", message);
    this.#finish({ kind: "superseded" });
  }

  /** Its lease is over, or is about to be given back. */
  abandon(reason: AttemptAbortedError): void {
    this.#timer?.cancel();
    this.#bodies.drop(reason);
    this.#finish({ kind: "abandoned" });
  }

  /** Gives it back after it was abandoned. */
  async release(): Promise<void> {
    await this.#committing?.catch(() => {});
    const { position } = this.#journal;
    const entries = this.#pending.splice(0);
    await this.#host.commit({ ...this.#lease, position, entries, outcome: this.#givenBack(entries.length) });
  }

  // What the code calls

  /** The database's time. */
  now(): number {
    return this.#time.now();
  }

  /**
   * Registers a call, and sees to it that it ends: as it did before, or for the first time. A step inside of another that is
   * tried again is the same step: it isn't run again.
   */
  enter(
    step: StepIdentity,
    aliases: readonly string[],
    create: (record: StepRecord | null) => StepCall & OpenWait,
  ): Promise<unknown> {
    const path = step.parent === null ? null : pathOf(step);
    const known = path === null ? undefined : this.#inner.get(path);
    if (known !== undefined) return known.promise;
    const call = create(this.#journal.find(step, aliases));
    if (path !== null) this.#inner.set(path, call);
    if (call.record !== null) call.record.reached = true;
    const ending = call.record?.ending ?? null;
    if (ending !== null) this.#replayed.add({ call, ending });
    else if (call instanceof BodyCall && call.dueAt === 0) this.#bodies.add(call);
    else this.#waits.add(call);
    this.#goOn();
    return call.promise;
  }

  #begin(main: () => Promise<unknown>): void {
    const end = (result: AttemptResult) => {
      this.#result ??= result;
      this.#goOn();
    };
    runOutside(main).then(
      (value) => end({ value }),
      (error: unknown) => end({ error }),
    );
  }

  /** The code has done something; if we had let go of the instance, we want it back. */
  #goOn(): void {
    if (this.#end?.kind === "parked") this.#host.reacquire(this);
    this.#soon();
  }

  // Turns

  /** After everything that the code does in answer to what was just delivered. */
  #soon(): void {
    if (this.#scheduled || this.#end !== undefined) return;
    this.#scheduled = true;
    this.#host.defer(this.#takeTurn);
  }

  readonly #takeTurn = (): void => {
    this.#scheduled = false;
    if (this.#end === undefined) this.#turn();
  };

  #turn(): void {
    if (this.#bodies.running > 0) this.#bodies.timeOut();
    this.#delivered = this.#result === undefined && this.#deliverNext();
    if (this.#delivered) {
      this.#soon();
      return;
    }
    if (this.#committing !== undefined) return;
    if (this.#mustLook()) {
      void this.#look();
      return;
    }
    const outcome = this.#outcome();
    this.#recordWaits(outcome);
    if (this.#pending.length > 0 || outcome.kind !== "running") this.#commit(outcome);
    else this.#proceed();
  }

  /**
   * Deadlines are written when we let go. Those that are far off are written before any body begins beside them, too: however
   * often the process is lost meanwhile, they stay where they are.
   */
  #recordWaits({ kind }: InstanceOutcome): void {
    if (kind === "completed" || kind === "errored") return;
    const from = kind === "running" ? this.#time.now() + HOLD_MS : Number.NEGATIVE_INFINITY;
    this.#pending.push(...this.#waits.record(from));
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
    next.call.end(storedEnding(next.call, next.ending, this.#feed.events));
    return true;
  }

  #deliverArrived(): boolean {
    const deliver = this.#arrived.shift();
    deliver?.();
    return deliver !== undefined;
  }

  /** Nothing comes due while it is paused. */
  #deliverWait(): boolean {
    if (this.#held) return false;
    const now = this.#time.now();
    for (const call of this.#waits.takeDueRetries(now)) this.#bodies.add(call);
    const ended = this.#waits.takeEnded(now, this.#feed);
    if (ended === null) return false;
    this.#pending.push(ended.entry);
    ended.call.end(ended.ending);
    return true;
  }

  /** Whether nothing may begin. */
  get #held(): boolean {
    return this.#paused || this.#stopping;
  }

  /** Everything is committed: begins what may begin, and waits for the rest. */
  #proceed(): void {
    if (!this.#held && this.#bodies.ready > 0 && this.isHeld()) {
      const { entries, exhausted } = this.#bodies.prepare(this.#interruptions);
      for (const call of exhausted) this.#arrived.push(() => this.#failStep(call, stepInterrupted(call), null));
      this.#pending.push(...entries);
      if (entries.length > 0 || exhausted.length > 0) this.#soon();
      if (entries.length > 0) return;
      this.#bodies.start();
      this.#soon(); // most bodies end at once, and need no timer
      return;
    }
    this.#setTimer();
  }

  #setTimer(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const remaining = Math.min(this.#held ? Number.POSITIVE_INFINITY : this.#untilDue(), this.#bodies.remaining);
    if (remaining === Number.POSITIVE_INFINITY) return;
    this.#timer = this.#host.clock.setTimer(() => this.#soon(), Math.max(remaining, 1));
  }

  /** Milliseconds until the first wait comes to its deadline. */
  #untilDue(): number {
    return this.#waits.size === 0 ? Number.POSITIVE_INFINITY : this.#waits.earliest - this.#time.now();
  }

  // Events

  /** Before a wait ends by its deadline, and before we let go, we must know of everything that was sent. */
  #mustLook(): boolean {
    if (!this.#waits.listening || this.#result !== undefined || this.#held) return false;
    return this.#feed.behind || this.#waits.mustLook(this.#time.now(), this.#feed.lookedAt);
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    const lookedAt = this.#time.now();
    const { ref, run } = this.#lease;
    try {
      const loaded = await this.#host.loadEvents({ ref, run, after: this.#feed.events.lastSequence });
      if (loaded === null) this.supersede();
      else this.#feed.add(loaded, lookedAt);
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
    this.#feed.add(history, lookedAt);
    this.#feed.markReceived(history.entries);
    return true;
  }

  #observe({ wakes, paused, at }: InstanceNews): void {
    this.#time.observe(at);
    this.#feed.heard(wakes);
    this.#paused = paused;
  }

  // Commits

  #outcome(): InstanceOutcome {
    if (this.#result !== undefined) return this.#finalOutcome(this.#result);
    if (this.#bodies.running > 0) return { kind: "running" };
    if (this.#held) return { kind: "released" };
    if (this.#bodies.ready > 0 || this.#waits.size === 0) return { kind: "running" };
    const dueAt = this.#waits.earliest;
    if (dueAt - this.#time.now() <= HOLD_MS) return { kind: "running" };
    return { kind: "parked", dueAt, wakes: this.#waits.listening ? this.#feed.loadedWakes : this.#feed.knownWakes };
  }

  #finalOutcome(result: AttemptResult): InstanceOutcome {
    if ("error" in result) return { kind: "errored", error: encodeError(result.error) };
    try {
      return { kind: "completed", output: this.#encode(result.value, "The result of the workflow") };
    } catch (error) {
      this.#result = { error };
      return { kind: "errored", error: encodeError(error) };
    }
  }

  /** Owners that were lost are counted on, unless something was done since. */
  #givenBack(entries: number): InstanceOutcome {
    if (this.#interruptions > 0 && entries === 0) return { kind: "released" };
    return { kind: "parked", dueAt: this.#time.now(), wakes: this.#feed.loadedWakes };
  }

  #commit(wanted: InstanceOutcome): void {
    const entries = this.#pending;
    this.#pending = [];
    const outcome = wanted.kind === "released" ? this.#givenBack(entries.length) : wanted;
    if (outcome.kind !== "running") this.#onLastCommit?.();
    const { ref, run, lock } = this.#lease;
    this.#committing = this.#write({ ref, run, lock, position: this.#journal.position, entries, outcome });
  }

  async #write(commit: InstanceCommit): Promise<void> {
    const changes = this.#pauseChanges;
    try {
      const answer = await this.#host.commit(commit);
      this.#committing = undefined;
      if (answer.result === "superseded") this.supersede();
      else this.#written(commit, changes === this.#pauseChanges ? answer : { ...answer, paused: this.#paused });
    } catch (error) {
      this.#committing = undefined;
      this.#fail(error);
    }
  }

  #written({ entries, outcome }: InstanceCommit, answer: WrittenCommit): void {
    this.#journal.position += entries.length;
    if (entries.length > 0) this.#interruptions = 0;
    if (outcome.kind !== "running") {
      this.#finishWith(outcome, answer);
      return;
    }
    this.#observe(answer);
    // The code has done everything that it does without another ending: no need to wait for the next turn.
    if (!this.#scheduled && this.#end === undefined) this.#turn();
  }

  #encode(value: unknown, label: string): string {
    return encodeValue(value, { label, maxBytes: this.#host.maxValueBytes });
  }

  // Bodies

  #bodyEnded(attempt: Attempt, result: AttemptResult): void {
    if (this.#end !== undefined) return;
    if ("error" in result) {
      void this.#attemptFailed(attempt, result.error);
      return;
    }
    const { call } = attempt;
    const { value } = result;
    try {
      const text = value === undefined ? null : this.#encode(value, `The result of the step "${call.name}"`);
      this.#arrive(() => this.#completeStep(call, value, text));
    } catch (error) {
      this.#arrive(() => this.#failStep(call, error, null));
    }
  }

  async #attemptFailed({ call, context }: Attempt, error: unknown): Promise<void> {
    const ours = call.type === "create";
    if (ours && error instanceof StoreError) {
      this.#fail(error);
      return;
    }
    const refused = error instanceof NonRetryableError || (ours && error instanceof PerdureError);
    let delay: number | null = null;
    if (!refused && call.attempt <= call.policy.limit) {
      delay = requestedDelay(error, this.#host.clock.now());
      delay ??= await chooseDelay(call.policy, context, error, this.#host);
    }
    if (this.#end === undefined) this.#arrive(() => this.#failStep(call, error, delay));
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

  #completeStep(call: BodyCall, value: unknown, text: string | null): void {
    this.#bodies.ended(call);
    this.#pending.push(call.entry("completed", { attempt: call.attempt, value: text }));
    call.end({ value: liveValue(value, text) });
  }

  /** An attempt has failed: the next comes after the delay, or, if that is null, none does. */
  #failStep(call: BodyCall, error: unknown, delay: number | null): void {
    this.#bodies.ended(call);
    const value = encodeError(error);
    const dueAt = delay === null ? null : this.#time.now() + Math.ceil(delay);
    this.#pending.push(call.entry("failed", { attempt: call.attempt, value, dueAt }));
    if (dueAt === null) {
      call.end({ error: decodeValue(value) });
      return;
    }
    call.dueAt = dueAt;
    this.#waits.add(call);
  }

  // Ends

  #untilEnd(): Promise<ExecutionEnd> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  #finishWith(outcome: FinalOutcome, answer: WrittenCommit): void {
    const over = outcome.kind === "completed" || outcome.kind === "errored";
    if (over) this.#tellOfUnreached();
    this.#stop("workflow.finished", "The workflow has ended: nobody waits for this step.");
    this.#finish(this.#toEnd(outcome, answer));
    // The code may have gone on while we let go: it waited for something that isn't a step.
    const goesOn = this.#bodies.ready > 0 || this.#replayed.size > 0 || this.#result !== undefined;
    if (outcome.kind === "parked" && goesOn && !this.#held) this.#host.reacquire(this);
  }

  #toEnd(outcome: FinalOutcome, answer: WrittenCommit): ExecutionEnd {
    if (outcome.kind === "completed") return { kind: "completed", output: outcome.output };
    if (outcome.kind === "released") return { kind: "released" };
    if (outcome.kind === "parked") return { kind: "parked", delayMs: delayOf(outcome, answer) };
    const thrown = this.#result !== undefined && "error" in this.#result ? this.#result.error : undefined;
    return { kind: "errored", error: outcome.error, thrown };
  }

  /** The store failed: whoever takes the instance over goes on. */
  #fail(error: unknown): void {
    if (this.#end !== undefined) return;
    const message = "The database could not be used: the instance will be taken over.";
    this.#stop("attempt.lease_lost", message);
    this.#end = { kind: "abandoned" };
    this.#settle?.reject(error);
  }

  #finish(end: ExecutionEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#settle?.resolve(end);
  }

  /** Tells what still runs why nobody waits for it any more. */
  #stop(code: string, message: string): void {
    this.#timer?.cancel();
    if (this.#bodies.running > 0) this.#bodies.drop(new AttemptAbortedError(code, message));
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
}

/** As the database decided it: how long until a parked instance is due. */
function delayOf({ dueAt, wakes }: { dueAt: number; wakes: number }, answer: WrittenCommit): number | null {
  if (answer.paused) return null;
  return answer.wakes === wakes ? Math.max(dueAt - answer.at, 0) : 0;
}
