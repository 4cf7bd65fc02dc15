import type { Timer } from "../clock.ts";
import { AttemptAbortedError, CodecError } from "../errors.ts";
import type { ClaimedInstance, InstanceCommit, InstanceLease, InstanceOutcome } from "../store/instance-records.ts";
import { refuseEncoded } from "../values/index.ts";
import { AttemptResults } from "./attempt-results.ts";
import { Bodies } from "./bodies.ts";
import { CodeRun } from "./code-run.ts";
import { Commits, isSubstantial, type WrittenCommit } from "./commits.ts";
import { DatabaseTime } from "./database-time.ts";
import { Endings } from "./endings.ts";
import { EventFeed } from "./event-feed.ts";
import { EventLookup } from "./event-lookup.ts";
import { EndSignal, type FinalOutcome, toEnd } from "./execution-end.ts";
import type { ExecutionEnd, ExecutionHost, ParkedExecution } from "./execution-host.ts";
import { OpenWaits } from "./open-waits.ts";
import { Outcomes } from "./outcomes.ts";
import { PauseFlag } from "./pause-flag.ts";
import { Progress } from "./progress.ts";
import type { StepRecord } from "./run-journal.ts";
import type { OpenWait, StepCall } from "./step-call.ts";
import { crashLoop, stepInterrupted } from "./step-ending.ts";
import type { StepIdentity } from "./step-path.ts";

type InstanceNews = { readonly wakes: number; readonly paused: boolean; readonly at: number };

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
  readonly #lookup: EventLookup;
  readonly #outcomes: Outcomes;
  readonly #endings = new Endings();
  readonly #pause = new PauseFlag();
  readonly #commits: Commits;
  readonly #results: AttemptResults;
  readonly #progress: Progress;
  readonly #end = new EndSignal();
  readonly #code: CodeRun;
  #lease: InstanceLease;
  #stopping = false;
  #scheduled = false;
  #delivered = false;
  /** Owners that were lost since the last entry. */
  #interruptions: number;
  #timer: Timer | undefined;
  #onLastCommit: (() => void) | undefined;

  constructor(instance: ClaimedInstance, host: ExecutionHost) {
    this.instance = instance;
    this.#host = host;
    this.#time = new DatabaseTime(host.clock, instance.claimedAt);
    this.#lease = { ref: instance.ref, run: instance.run, lock: instance.lock };
    this.#feed = new EventFeed(instance.wakes);
    this.#lookup = new EventLookup(host, this.#time, this.#feed, this.#waits);
    this.#interruptions = instance.recoveries;
    this.#bodies = new Bodies(host.clock, instance, (attempt, result) => this.#results.ended(attempt, result), {
      emit: (attempt, value) => this.#progress.emit(attempt, value),
      keep: (attempt, stream) => host.keepStream(attempt, this.#lease, stream),
    });
    this.#outcomes = new Outcomes(this.#time, this.#bodies, this.#waits, this.#feed);
    this.#code = new CodeRun({
      instance,
      host,
      endings: this.#endings,
      bodies: this.#bodies,
      waits: this.#waits,
      goOn: () => this.#goOn(),
      refusal: () => (this.#commits.room.full ? this.#commits.room.refusal() : null),
    });
    const limited = instance.slotKey !== null; // somebody else may have its slot when we let go
    const send = (commit: InstanceCommit) => host.commit(limited ? { ...commit, limited } : commit, instance);
    this.#commits = new Commits(
      send,
      this.#pause,
      {
        written: (commit, answer) => this.#written(commit, answer),
        superseded: () => this.supersede(),
        failed: (error) => this.fail(error),
      },
      host.limits,
    );
    this.#progress = new Progress(
      this.#commits,
      () => this.#soon(),
      (range) => host.dropProgress({ ref: instance.ref, run: instance.run, ...range }),
    );
    this.#results = new AttemptResults({
      host,
      time: this.#time,
      bodies: this.#bodies,
      waits: this.#waits,
      commits: this.#commits,
      progress: this.#progress,
      isOver: () => this.#end.end !== undefined,
      arrive: (deliver) => this.#arrive(deliver),
      supersede: () => this.supersede(),
      fail: (error) => this.fail(error),
    });
  }

  get lease(): InstanceLease {
    return this.#lease;
  }

  /** Whether nothing of the user's runs: it sleeps, or waits for an event or a retry. */
  get waiting(): boolean {
    const atRest = this.#commits.pending === 0 && !this.#commits.writing && this.#bodies.ready === 0;
    return this.#waits.size > 0 && this.#bodies.running === 0 && atRest;
  }

  /** Whether it should be told at once of events. */
  get listening(): boolean {
    return this.#end.end === undefined && this.#waits.listening;
  }

  /**
   * Runs until the instance is finished, parked, or not ours any more. `onLastCommit` is called when only the last commit is left.
   * Rejects if the store failed; nothing is lost then, and whoever claims the instance next goes on.
   */
  async run(main: () => Promise<unknown>, onLastCommit: () => void): Promise<ExecutionEnd> {
    this.#onLastCommit = onLastCommit;
    this.#pause.observe(this.instance.paused); // then nothing may begin, and it comes to rest
    if (!this.#pause.paused) refuseEncoded(this.instance.params);
    if (!this.#pause.paused && this.instance.begun && !(await this.#load())) return { kind: "superseded" };
    if (this.#end.end !== undefined) return this.#end.end; // it was taken away while we loaded
    const ended = this.#end.wait();
    if (this.#pause.paused) return this.#rest(ended);
    const failure = this.#interruptions > MOST_RECOVERIES ? crashLoop(this.#interruptions) : null;
    this.#commits.add(...this.#code.begin(main, failure));
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
    this.#end.reopen();
    this.#onLastCommit = onLastCommit;
    this.#soon();
    return this.#end.wait();
  }

  // What others tell it

  /** Of what is asked now; the answer may be overtaken by a pause or a resume. */
  get pauseChanges(): number {
    return this.#pause.changes;
  }

  /** What an answer of the database said about the instance; asked when `pauseChanges` was this. */
  observe(news: InstanceNews, askedAt: number): void {
    this.#observe(this.#pause.correct(news, askedAt));
    this.#soon();
  }

  /** Something may have been sent. */
  look(): void {
    if (this.#end.end === undefined) void this.#look();
  }

  pause(): void {
    this.#pause.change(true);
    this.#soon();
  }

  resume(): void {
    this.#pause.change(false);
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
    this.#end.finish({ kind: "superseded" });
  }

  /** Its lease is over, or is about to be given back. */
  abandon(reason: AttemptAbortedError): void {
    this.#timer?.cancel();
    this.#bodies.drop(reason);
    this.#progress.end(reason);
    this.#end.finish({ kind: "abandoned" });
  }

  /** Gives it back after it was abandoned. */
  async release(): Promise<void> {
    await this.#commits.writeLast(this.#lease, (substantial) => this.#giveBack(substantial));
  }

  /** Lets go of it for so long, after the codec could not read or write something. What can't be written is done again. */
  async postpone(delayMs: number): Promise<void> {
    const dueAt = this.#time.now() + delayMs;
    const outcome = (): InstanceOutcome => ({ kind: "parked", dueAt, wakes: this.#feed.knownWakes });
    await this.#commits.writeLast(this.#lease, outcome).catch((error: unknown) => {
      if (!(error instanceof CodecError)) throw error;
      return this.#commits.writeLast(this.#lease, outcome); // without the entries, which are gone
    });
  }

  // What the code calls

  /** The database's time. */
  now(): number {
    return this.#time.now();
  }

  /** A step is called. */
  enter(
    step: StepIdentity,
    aliases: readonly string[],
    create: (record: StepRecord | null) => StepCall & OpenWait,
  ): Promise<unknown> {
    return this.#code.enter(step, aliases, create);
  }

  /** The code has done something; if we had let go of the instance, we want it back. */
  #goOn(): void {
    if (this.#end.end?.kind === "parked" && this.#code.rollback === null) this.#host.reacquire(this);
    this.#soon();
  }

  // Turns

  /** After everything that the code does in answer to what was just delivered. */
  #soon(): void {
    if (this.#scheduled || this.#end.end !== undefined) return;
    this.#scheduled = true;
    this.#host.defer(this.#takeTurn);
  }

  readonly #takeTurn = (): void => {
    this.#scheduled = false;
    if (this.#end.end === undefined) this.#turn();
  };

  #turn(): void {
    if (this.#bodies.running > 0) this.#bodies.timeOut();
    this.#delivered = this.#code.result === undefined && this.#deliverNext();
    if (this.#delivered) {
      this.#code.rollback?.sign();
      this.#soon();
      return;
    }
    if (this.#commits.writing) return;
    if (this.#code.result === undefined && !this.#held && this.#lookup.due) {
      void this.#look();
      return;
    }
    const outcome = this.#outcome();
    this.#commits.add(...this.#outcomes.deadlines(outcome));
    if (this.#commits.pending > 0 || outcome.kind !== "running") this.#commit(outcome);
    else this.#proceed();
  }

  /** One ending at a time: first those of the journal, then what has ended since, then what time and events bring. */
  #deliverNext(): boolean {
    return this.#endings.deliverNext(() => this.#feed.events) || this.#deliverWait();
  }

  /** Nothing comes due while it is paused. */
  #deliverWait(): boolean {
    if (this.#held) return false;
    const now = this.#time.now();
    for (const call of this.#waits.takeDueRetries(now)) this.#bodies.add(call);
    const ended = this.#waits.takeEnded(now, this.#feed);
    if (ended === null) return false;
    this.#commits.add(ended.entry);
    ended.call.end(ended.ending);
    return true;
  }

  /** Whether nothing may begin. */
  get #held(): boolean {
    return this.#pause.paused || this.#stopping;
  }

  /** Everything is committed: begins what may begin, and waits for the rest. */
  #proceed(): void {
    if (!this.#held && this.isHeld()) this.#code.undoIfReady();
    if (!this.#held && this.#bodies.ready > 0 && this.isHeld()) {
      const { entries, exhausted, undoable } = this.#bodies.prepare(this.#interruptions);
      this.#code.began(undoable);
      for (const call of exhausted) {
        this.#endings.addArrived(() => this.#results.fail(call, stepInterrupted(call), null));
      }
      this.#commits.add(...entries);
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
    const untilDue = this.#held ? Number.POSITIVE_INFINITY : this.#untilDue();
    const remaining = Math.min(
      untilDue,
      this.#bodies.remaining,
      this.#code.rollback?.patience ?? Number.POSITIVE_INFINITY,
    );
    if (remaining === Number.POSITIVE_INFINITY) return;
    this.#timer = this.#host.clock.setTimer(() => this.#soon(), Math.max(remaining, 1));
  }

  /** Milliseconds until the first wait comes to its deadline. */
  #untilDue(): number {
    return this.#waits.size === 0 ? Number.POSITIVE_INFINITY : this.#waits.earliest - this.#time.now();
  }

  // Events

  async #look(): Promise<void> {
    try {
      const found = await this.#lookup.look(this.#lease);
      if (found === false) this.supersede();
      if (found !== null) this.#soon();
    } catch (error) {
      this.fail(error);
    }
  }

  async #load(): Promise<boolean> {
    const lookedAt = this.#time.now();
    const history = await this.#host.load(this.#lease);
    if (history === null) return false;
    this.#code.load(history.entries);
    this.#commits.position = (history.entries.at(-1)?.position ?? 0) + 1;
    for (const entry of history.entries) this.#commits.room.add(entry);
    this.#feed.add(history, lookedAt);
    this.#feed.markReceived(history.entries);
    return true;
  }

  #observe({ wakes, paused, at }: InstanceNews): void {
    this.#time.observe(at);
    this.#feed.heard(wakes);
    this.#pause.observe(paused);
  }

  // Commits

  #outcome(): InstanceOutcome {
    if (this.#code.result === undefined) return this.#outcomes.choose(this.#held);
    const { outcome, entries } = this.#code.finalOutcome(this.#code.result);
    this.#commits.add(...entries);
    return outcome;
  }

  #giveBack(substantial: boolean): InstanceOutcome {
    return this.#outcomes.giveBack({ interruptions: this.#interruptions, substantial });
  }

  #commit(wanted: InstanceOutcome): void {
    const outcome = wanted.kind === "released" ? this.#giveBack(this.#commits.substantial) : wanted;
    if (outcome.kind !== "running" && outcome.kind !== "rollingBack") this.#onLastCommit?.();
    this.#commits.write(this.#lease, outcome);
  }

  #written(commit: InstanceCommit, answer: WrittenCommit): void {
    const { entries, outcome } = commit;
    this.#host.committed(this.instance.ref);
    this.#progress.written(commit);
    if (entries.some(isSubstantial)) this.#interruptions = 0;
    if (outcome.kind !== "running" && outcome.kind !== "rollingBack") {
      this.#finishWith(outcome, answer);
      return;
    }
    if (outcome.kind === "rollingBack") this.#code.beginRollback(outcome.error);
    this.#observe(answer);
    // The code has done everything that it does without another ending: no need to wait for the next turn.
    if (!this.#scheduled && this.#end.end === undefined) this.#turn();
  }

  /** Delivers at once if nothing else was delivered in this turn; endings come one at a time. */
  #arrive(deliver: () => void): void {
    if (this.#delivered || !this.#endings.empty || this.#code.result !== undefined) {
      this.#endings.addArrived(deliver);
    } else {
      this.#delivered = true;
      deliver();
    }
    this.#soon();
  }

  // Ends

  #finishWith(outcome: FinalOutcome, answer: WrittenCommit): void {
    const over = outcome.kind === "completed" || outcome.kind === "errored";
    if (over) this.#code.tellOfUnreached();
    this.#stop("workflow.finished", "The workflow has ended: nobody waits for this step.");
    this.#end.finish(toEnd(outcome, answer, this.#code));
    // The code may have gone on while we let go: it waited for something that isn't a step.
    const goesOn = this.#bodies.ready > 0 || this.#endings.replaying || this.#code.result !== undefined;
    if (outcome.kind === "parked" && goesOn && !this.#held && this.#code.rollback === null) this.#host.reacquire(this);
  }

  /** The store failed: whoever takes the instance over goes on. */
  fail(error: unknown): void {
    if (this.#end.end !== undefined) return;
    const message = "The database could not be used: the instance will be taken over.";
    this.#stop("attempt.lease_lost", message);
    this.#end.fail(error);
  }

  /** Tells what still runs why nobody waits for it any more. */
  #stop(code: string, message: string): void {
    this.#timer?.cancel();
    const reason = new AttemptAbortedError(code, message);
    if (this.#bodies.running > 0) this.#bodies.drop(reason);
    this.#progress.end(reason);
  }
}
