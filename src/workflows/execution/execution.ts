import { AttemptAbortedError, CodecError, type ValueRefusedError } from "../../errors.ts";
import type {
  ClaimedInstance,
  InstanceCommit,
  InstanceLease,
  InstanceOutcome,
} from "../../store/instances/instance-records.ts";
import { refuseEncoded } from "../../values/index.ts";
import type { AttemptResults } from "./attempt-results.ts";
import { isSubstantial, type WrittenCommit } from "./commits.ts";
import { type FinalOutcome, toEnd } from "./execution-end.ts";
import type { ExecutionEnd, ExecutionHost, ParkedExecution } from "./execution-host.ts";
import { ExecutionParts } from "./execution-parts.ts";
import { load, observe, type TimedNews } from "./instance-news.ts";
import type { StepRecord } from "./run-journal.ts";
import { type Refused, refusal } from "./salvage.ts";
import type { OpenWait, StepCall } from "./step-call.ts";
import { crashLoop } from "./step-ending.ts";
import type { StepFailures } from "./step-failures.ts";
import type { StepIdentity } from "./step-path.ts";
import { Turns } from "./turns.ts";

/** An instance that is lost this many times, with nothing done in between, is what ends its processes. */
const MOST_RECOVERIES = 20;
/** For how long an execution keeps its place while the database doesn't take its commit. */
const LONGEST_IN_PLACE_MS = 10_000;

/**
 * Runs one instance, from what is stored of it on.
 *
 * The user's function runs once from its beginning. Steps whose endings are in the journal get them in the order of the journal;
 * between any two, everything that the code does in answer comes first, so races come out as they did. Then steps run for real.
 * When one ends, the code goes on at once; what it did next (another step, a wait, its end) decides what is written, in one
 * commit. No body begins before everything that led to it is committed. `Turns` sees to that order.
 *
 * Waiting never throws: a sleep, a wait or a retry leaves its promise pending. When nothing but waits is left, the execution
 * holds them if they are short, or parks: it lets go of the instance until the earliest deadline.
 */
export class Execution implements ParkedExecution {
  readonly instance: ClaimedInstance;
  /** Its number among the executions that have begun in this process. */
  order = 0;
  readonly #parts: ExecutionParts;
  readonly #turns: Turns;
  #onLastCommit: (() => void) | undefined;
  /** When it was abandoned. */
  #onlyWaited = false;
  /** Whether something was sent before the code had begun. */
  #missedLook = false;
  /** Whether others were told that the database doesn't take its commit. */
  #toldOfDelay = false;

  /** `askedAt` is the monotonic time at which the claim was sent. */
  constructor(instance: ClaimedInstance, askedAt: number, host: ExecutionHost) {
    this.instance = instance;
    this.#parts = new ExecutionParts(instance, askedAt, host, {
      goOn: () => this.#goOn(),
      soon: () => this.#turns.soon(),
      arrive: (deliver) => this.#turns.arrive(deliver),
      written: (commit, answer, askedAt) => this.#written(commit, answer, askedAt),
      superseded: () => this.supersede(),
      failed: (error) => this.fail(error),
      delayed: (error, milliseconds) => this.#delayed(error, milliseconds),
      refused: (part, error) => this.#refused(part, error),
    });
    this.#turns = new Turns(this.#parts, {
      commit: (outcome) => this.#commit(outcome),
      look: () => void this.#look(),
      fail: (error) => this.fail(error),
    });
  }

  get lease(): InstanceLease {
    return this.#parts.possession.lease;
  }

  /** Whether nothing of the user's runs: it sleeps, or waits for an event or a retry. */
  get waiting(): boolean {
    const { commits, bodies, waits } = this.#parts;
    const atRest = commits.pending === 0 && !commits.writing && bodies.ready === 0;
    return waits.size > 0 && bodies.running === 0 && atRest;
  }

  /** Whether it should be told at once of events. */
  get listening(): boolean {
    return this.#parts.end.end === undefined && this.#parts.waits.listening;
  }

  /**
   * Runs until the instance is finished, parked, or not ours any more. `onLastCommit` is called when only the last commit is left.
   * Rejects if the store failed; nothing is lost then, and whoever claims the instance next goes on.
   */
  async run(main: () => Promise<unknown>, onLastCommit: () => void): Promise<ExecutionEnd> {
    const { possession, end, code, commits } = this.#parts;
    const { pause, interruptions } = possession;
    this.#onLastCommit = onLastCommit;
    pause.observe(this.instance.paused); // then nothing may begin, and it comes to rest
    if (!pause.paused) refuseEncoded(this.instance.params);
    if (!pause.paused && this.instance.begun && !(await load(this.#parts))) return { kind: "superseded" };
    if (end.end !== undefined) return end.end; // it was taken away while we loaded
    const ended = end.wait();
    if (pause.paused) {
      this.#commit({ kind: "released" });
      return ended;
    }
    this.#turns.open();
    commits.add(...code.begin(main, interruptions > MOST_RECOVERIES ? crashLoop(interruptions) : null));
    this.#turns.soon();
    if (this.#missedLook) this.look();
    return ended;
  }

  /** Goes on after it was parked: the code went on, and the instance is ours again. */
  continue(lease: InstanceLease, news: Omit<TimedNews, "paused">, onLastCommit: () => void): Promise<ExecutionEnd> {
    const { possession, end } = this.#parts;
    possession.lease = lease;
    observe(this.#parts, { ...news, paused: false });
    end.reopen();
    this.#onLastCommit = onLastCommit;
    this.#turns.soon();
    return end.wait();
  }

  // What others tell it

  /** Tells whether the lease can't be over yet. */
  set isHeld(isHeld: () => boolean) {
    this.#parts.possession.isHeld = isHeld;
  }

  /** Told of each attempt at a step that failed and will be tried again. */
  set onAttemptFailed(onAttemptFailed: AttemptResults["onAttemptFailed"]) {
    this.#parts.results.onAttemptFailed = onAttemptFailed;
  }

  /** Of what is asked now; the answer may be overtaken by a pause or a resume. */
  get pauseChanges(): number {
    return this.#parts.possession.pause.changes;
  }

  /** What an answer of the database said about the instance; asked when `pauseChanges` was this. */
  observe(news: TimedNews, changes: number): void {
    observe(this.#parts, this.#parts.possession.pause.correct(news, changes));
    this.#turns.soon();
  }

  /** Something may have been sent. */
  look(): void {
    if (!this.#turns.isOpen)
      this.#missedLook = true; // its events are being loaded
    else if (this.#parts.end.end === undefined) void this.#look();
  }

  /** It is over: gives back what it has loaded. */
  releaseLoad(): void {
    this.#parts.releaseLoad();
  }

  pause(): void {
    this.#parts.possession.pause.change(true);
    this.#turns.soon();
  }

  resume(): void {
    this.#parts.possession.pause.change(false);
    this.look();
  }

  /** The process is about to end: begins nothing more, and gives the instance back as soon as nothing runs. */
  wrapUp(): void {
    this.#parts.possession.stopping = true;
    this.#turns.soon();
  }

  /** It was terminated, restarted or deleted, or another process has it. */
  supersede(): void {
    const message = "The instance was terminated, restarted or deleted, or another process has it.";
    this.#stop("attempt.superseded", message);
    this.#parts.end.finish({ kind: "superseded" });
  }

  /** Its lease is over, or is about to be given back. */
  abandon(reason: AttemptAbortedError): void {
    this.#onlyWaited = this.#onlyWaits;
    this.#drop(reason);
    this.#parts.end.finish({ kind: "abandoned" });
  }

  /** Gives it back after it was abandoned. */
  release(): Promise<void> {
    return this.#letGo((substantial) => this.#giveBack(substantial, this.#onlyWaited));
  }

  /** The process is about to end: nothing is sent again. What still runs, though it has no place any more, is given back. */
  giveUp(): void {
    const { commits, end } = this.#parts;
    commits.giveUp();
    if (commits.writing || end.end !== undefined) return;
    this.abandon(
      new AttemptAbortedError("attempt.shutdown", "The process is shutting down: another one will run this."),
    );
    void this.release().catch(() => {}); // then it is taken over
  }

  /**
   * Gives it back after the store failed, so that nothing is counted: for a while, because it would meet the same again. Entries that
   * were never sent go with it, and deadlines, if the database takes them.
   */
  giveBack(delayMs: number): Promise<void> {
    const { possession, feed, time } = this.#parts;
    const dueAt = time.now() + delayMs;
    return this.#letGo((substantial) => {
      if (possession.interruptions > 0 && !substantial) return { kind: "released", dueAt };
      return { kind: "parked", dueAt, wakes: feed.knownWakes };
    });
  }

  /** Lets go of it for so long, after the codec could not read or write something. What can't be written is done again. */
  async postpone(delayMs: number): Promise<void> {
    const { commits, feed, time } = this.#parts;
    const dueAt = time.after(delayMs);
    const outcome = (): InstanceOutcome => ({ kind: "parked", dueAt, wakes: feed.knownWakes });
    await this.#letGo(outcome).catch((error: unknown) => {
      if (!(error instanceof CodecError)) throw error;
      return commits.writeLast(this.lease, outcome); // without the entries, which are gone
    });
  }

  /** The store failed: whoever takes the instance over goes on. */
  fail(error: unknown): void {
    const { end } = this.#parts;
    if (end.end !== undefined) return;
    this.#stop("attempt.lease_lost", "The database could not be used: the instance will be taken over.");
    end.fail(error);
  }

  // What the code calls

  /** The deadline of a wait that begins now. */
  after(milliseconds: number): number {
    return this.#parts.time.after(milliseconds);
  }

  /** The failures of steps that the code was told of. */
  get failures(): StepFailures {
    return this.#parts.code.failures;
  }

  /** The place, in the order of starts, of a step that has begun and isn't in the journal yet. */
  placeOf(path: string): number | null {
    return this.#parts.code.placeOf(path);
  }

  /** A step is called. */
  enter(
    step: StepIdentity,
    aliases: readonly string[],
    create: (record: StepRecord | null) => StepCall & OpenWait,
  ): Promise<unknown> {
    return this.#parts.code.enter(step, aliases, create);
  }

  /** The code has done something; if we had let go of the instance, we want it back. */
  #goOn(): void {
    const { end, code, host } = this.#parts;
    if (end.end?.kind === "parked" && code.rollback === null) host.reacquire(this);
    this.#turns.soon();
  }

  async #look(): Promise<void> {
    try {
      const found = await this.#parts.lookup.look(this.lease, this.instance);
      if (found === false) this.supersede();
      if (found !== null) this.#turns.soon();
    } catch (error) {
      this.fail(error);
    }
  }

  // What it writes

  /** Whether time or an event must pass before anything of it can go on. */
  get #onlyWaits(): boolean {
    const { bodies, waits, endings, code } = this.#parts;
    const idle = bodies.running === 0 && bodies.ready === 0 && endings.empty;
    return idle && waits.size > 0 && code.result === undefined;
  }

  /** The last commit. What it waits for keeps its deadlines, for its next owner. */
  #letGo(outcome: (substantial: boolean) => InstanceOutcome): Promise<void> {
    const { commits, outcomes } = this.#parts;
    commits.add(...outcomes.deadlines({ kind: "released" }, { writes: true }));
    return commits.writeLast(this.lease, outcome);
  }

  #giveBack(substantial: boolean, onlyWaits: boolean): InstanceOutcome {
    const { outcomes, possession } = this.#parts;
    return outcomes.giveBack({ interruptions: possession.interruptions, substantial, onlyWaits });
  }

  #commit(wanted: InstanceOutcome): void {
    const { commits } = this.#parts;
    const outcome = wanted.kind === "released" ? this.#giveBack(commits.substantial, this.#onlyWaits) : wanted;
    if (isFinal(outcome)) this.#onLastCommit?.();
    commits.write(this.lease, outcome);
  }

  #written(commit: InstanceCommit, answer: WrittenCommit, askedAt: number): void {
    const { entries, outcome } = commit;
    const { host, progress, possession, code } = this.#parts;
    host.committed(this.instance.ref);
    progress.written(commit);
    if (entries.some(isSubstantial)) possession.interruptions = 0;
    if (isFinal(outcome)) {
      this.#finishWith(outcome, answer);
      return;
    }
    if (outcome.kind === "rollingBack") code.beginRollback(outcome.error);
    observe(this.#parts, { ...answer, askedAt });
    this.#turns.now();
  }

  /**
   * The database doesn't take a commit. What was done is kept, with the lease, until it does; but not the place in the worker, which
   * others may need. When the commit is written at last, the instance is given back, to go on where there is a place.
   */
  #delayed(error: unknown, milliseconds: number): void {
    const { instance } = this;
    const { host, end } = this.#parts;
    if (!this.#toldOfDelay) {
      this.#toldOfDelay = true;
      const message = error instanceof Error ? error.message : String(error);
      const details = { workflow: instance.name, instance: instance.id, message };
      host.warn("The database doesn't take what an instance did; it is sent again until it does.", details);
    }
    if (milliseconds < LONGEST_IN_PLACE_MS || end.end !== undefined) return;
    this.#onLastCommit?.();
    this.#onLastCommit = undefined;
    this.wrapUp();
  }

  /**
   * A value can never be stored. Where it is what the run comes to, the run fails with that. Otherwise its step has failed, and the
   * code, which was told something else, begins anew.
   */
  #refused(part: Refused, error: ValueRefusedError): void {
    const { code, end } = this.#parts;
    if (end.end !== undefined) return;
    if (part === "outcome" && code.refuse(refusal("What the workflow came to", error))) {
      this.#turns.now();
      return;
    }
    if (part === "outcome") {
      this.fail(error);
      return;
    }
    this.#stop("attempt.lease_lost", "The instance begins anew: a value of one of its steps can't be stored.");
    this.giveBack(0).then(
      () => end.finish({ kind: "released" }),
      (failure: unknown) => {
        if (end.end === undefined) end.fail(failure);
      },
    );
  }

  // How it ends

  #finishWith(outcome: FinalOutcome, answer: WrittenCommit): void {
    const { code, end, bodies, endings, possession, host } = this.#parts;
    const over = outcome.kind === "completed" || outcome.kind === "errored";
    if (over) code.tellOfUnreached();
    this.#stop("workflow.finished", "The workflow has ended: nobody waits for this step.");
    end.finish(toEnd(outcome, answer, code));
    // The code may have gone on while we let go: it waited for something that isn't a step.
    const goesOn = bodies.ready > 0 || endings.replaying || code.result !== undefined;
    if (outcome.kind === "parked" && goesOn && !possession.resting && code.rollback === null) host.reacquire(this);
  }

  /** Tells what still runs why nobody waits for it any more. */
  #stop(code: string, message: string): void {
    const { bodies, progress } = this.#parts;
    // Most often nothing runs, and an error is costly to make: it has a stack.
    if (bodies.running > 0 || progress.waiting > 0) this.#drop(new AttemptAbortedError(code, message));
    else this.#turns.stop();
  }

  #drop(reason: AttemptAbortedError): void {
    const { bodies, progress } = this.#parts;
    this.#turns.stop();
    bodies.drop(reason);
    progress.end(reason);
  }
}

/** Whether the execution has no more to do when this is written. */
function isFinal(outcome: InstanceOutcome): outcome is FinalOutcome {
  return outcome.kind !== "running" && outcome.kind !== "rollingBack";
}
