import { AttemptAbortedError, CodecError, type ValueRefusedError } from "../../errors.ts";
import type { InstanceCommit, InstanceLease, InstanceOutcome } from "../../store/instances/instance-records.ts";
import { refuseEncoded, tame } from "../../values/index.ts";
import type { AbandonableCall } from "./abandonment.ts";
import { isSubstantial, type RefusedPart, type WrittenCommit } from "./commits.ts";
import { crashLoop, unawaitedSteps } from "./endings.ts";
import type { ExecutionEnd } from "./execution-host.ts";
import type { InstanceNews, TimedNews } from "./hold.ts";
import { isFinal, RELEASED, toEnd, toResult } from "./outcomes.ts";
import { refusal } from "./refused-values.ts";
import type { BodyCall } from "./steps/step-call.ts";
import { describeStep } from "./steps/step-path.ts";
import { Turns } from "./turns.ts";

/** An instance that is lost this often, with nothing done in between, is what ends its processes. */
const MOST_RECOVERIES = 20;
/** For how long an execution keeps its slot while the database doesn't take its commit. */
const LONGEST_IN_SLOT_MS = 10_000;
/** The most steps that a log line names. */
const MOST_NAMED = 20;
const NO_CALLS: readonly BodyCall[] = [];

/**
 * Runs one instance, from its stored state on.
 *
 * The user's function runs once from its beginning. Steps whose endings are in the journal get them in the order of the
 * journal; between any two, everything that the code does in answer comes first, so races come out as they did. Then steps run
 * for real. When one ends, the code goes on at once; its next action (another step, a wait, its end) decides what is written,
 * in one commit. No body begins before everything that led to it is committed. `Turns` sees to that order.
 *
 * Waiting never throws: a sleep, a wait or a retry leaves its promise pending. When nothing but waits is left, the execution
 * holds them if they are short, or parks: it lets go of the instance until the earliest deadline.
 */
export class Execution extends Turns {
  /** Its number among the executions that have begun in this process. */
  order = 0;
  /** Whether it only waited when it was abandoned. */
  #onlyWaited = false;
  /** Whether something was sent before the code had begun. */
  #missedLook = false;
  /** Whether the log says that the database doesn't take its commit. */
  #toldOfDelay = false;

  /** Whether nothing of the user's runs: it sleeps, or waits for an event or a retry. */
  get waiting(): boolean {
    const { waits, bodies } = this.steps;
    const atRest = !this.commits.pending && !this.commits.writing && !this.standsStill;
    return waits.size > 0 && bodies.running === 0 && bodies.ready === 0 && atRest;
  }

  /** Milliseconds since its creation. */
  get age(): number {
    return this.time.now() - this.instance.createdAt;
  }

  /** Whether it should be told at once of events. */
  get listening(): boolean {
    return this.end === undefined && this.steps.waits.listening;
  }

  /**
   * Whether it lets go of the instance, or has done so: what is sent now may have come after its last commit, and is then work
   * for the next owner.
   */
  get lettingGo(): boolean {
    return this.end !== undefined || this.commits.writingLast;
  }

  /**
   * Runs until the instance is finished or parked, or has another owner. `onLastCommit` is called when only the last commit is
   * left. Rejects if the store failed; nothing is lost then, and the next owner resumes the instance.
   */
  async run(main: () => unknown, onLastCommit: () => void): Promise<ExecutionEnd> {
    const { instance, hold } = this;
    this.onLastCommit = onLastCommit;
    hold.observePause(instance.paused); // then nothing may begin, and it comes to rest
    if (!hold.paused) refuseEncoded(instance.params);
    if (!hold.paused && instance.begun && !(await this.#load())) return { kind: "superseded" };
    if (this.end !== undefined) return this.end; // it was taken away while we loaded
    const ended = this.untilEnd();
    if (hold.paused) {
      this.commit(RELEASED);
      return ended;
    }
    this.begun = true;
    const entry = this.code.begin(main);
    if (entry !== null) this.commits.add(entry);
    if (hold.interruptions > MOST_RECOVERIES) this.code.endWith({ error: crashLoop(hold.interruptions) });
    else this.#callMain();
    this.soon();
    if (this.#missedLook) this.look();
    return ended;
  }

  /** The parked instance is ours again, under this lease. It goes on, or is given back. */
  regain({ ref, run, lock }: InstanceLease): void {
    this.hold.lease = { ref, run, lock };
  }

  /** Goes on after it was parked: the code went on, and the instance is ours again. */
  continue(news: Omit<TimedNews, "paused">, onLastCommit: () => void): Promise<ExecutionEnd> {
    this.#learn({ wakes: news.wakes, paused: false, at: news.at }, news.askedAt);
    const ended = this.untilEnd();
    this.onLastCommit = onLastCommit;
    this.soon();
    return ended;
  }

  /** Calls the user's function, if it wasn't called before. */
  #callMain(): void {
    this.code.call()?.then(this.#returned, this.#threw);
  }

  readonly #returned = (value: unknown): void => {
    if (this.#endsDiverged()) return;
    const unawaited = this.code.rollback === null ? this.#reportUnawaited() : NO_CALLS;
    const refused = unawaited.length > 0 && this.host.isStrict(this.instance);
    this.code.ended(refused ? { error: unawaitedSteps(unawaited) } : toResult(value, this.limits));
    this.goOn();
  };

  /**
   * The function has ended without these steps: they are not carried out, or their results are lost. Some have failed, as the
   * history says, without any event.
   */
  #reportUnawaited(): readonly BodyCall[] {
    const { unfinished } = this.steps;
    const calls = [...this.code.unheard, ...unfinished];
    if (calls.length === 0) return NO_CALLS;
    const { name, id } = this.instance;
    for (const call of unfinished) this.commits.add(call.entry("unawaited", { attempt: call.attempt }));
    this.host.warn(
      "The function of a workflow ended without waiting for some of its steps. They may have failed, or not have run, and their " +
        "results are lost: await each step, or Promise.all of them.",
      { workflow: name, instance: id, steps: calls.slice(0, MOST_NAMED).map(describeStep) },
    );
    return calls;
  }

  readonly #threw = (thrown: unknown): void => {
    if (this.#endsDiverged()) return;
    const error = tame(thrown);
    this.code.ended({ error, failedSteps: this.code.failedSteps(error, null) });
    this.goOn();
  };

  #endsDiverged(): boolean {
    const diverged = this.code.divergedEnd();
    if (diverged !== null) this.fail(diverged);
    return diverged !== null;
  }

  /** Loads everything that is stored of the run. Returns false if the run isn't there any more, or has another owner. */
  async #load(): Promise<boolean> {
    const { host, instance, hold, events } = this;
    const lookedAt = this.time.now();
    this.loaded = host.beginLoad();
    const history = await host.load({ ...hold.lease, instance }, this.loaded, () => this.end === undefined);
    if (history === null) return false;
    this.code.load(history.entries);
    this.commits.continueAfter(history.entries);
    events.add(history, lookedAt);
    events.markReceived(history.entries);
    return true;
  }

  // What the worker and the runtime tell it

  /** Tells whether the lease can't have run out yet. */
  set isHeld(isHeld: () => boolean) {
    this.hold.isHeld = isHeld;
  }

  /** To be kept with each question: the answer may be overtaken by a pause or a resume. */
  get pauseChanges(): number {
    return this.hold.pauseChanges;
  }

  /** An answer of the database to a question that was asked at `pauseChanges`. */
  observe(news: InstanceNews, askedAt: number, pauseChanges: number): void {
    const { wakes, paused, at } = news;
    this.#learn({ wakes, paused: this.hold.correctPause(paused, pauseChanges), at }, askedAt);
    this.soon();
  }

  /** An answer of the database says this about the instance. */
  #learn({ wakes, paused, at }: InstanceNews, askedAt: number): void {
    this.time.observe(at, askedAt);
    this.events.heard(wakes);
    this.hold.observePause(paused);
  }

  /** Something may have been sent. */
  look(): void {
    if (!this.begun)
      this.#missedLook = true; // its events are being loaded
    else if (this.end === undefined) void this.lookForEvents();
  }

  protected async lookForEvents(): Promise<void> {
    const { events, host, instance } = this;
    const { children } = this.steps;
    if (events.looking) return;
    try {
      if (children.mustRegister) await children.register(host, this.hold.lease, () => this.soon());
      else if (await events.load(host, { ...this.hold.lease, instance }, this.time.now())) this.soon();
      else this.supersede();
    } catch (error) {
      this.fail(error);
    }
  }

  /** The code gives up a wait. */
  abandonWait(call: AbandonableCall): void {
    this.steps.abandon(call);
    this.goOn();
  }

  /** Its run isn't among the unfinished any more. If a commit is on its way, its answer will say why. */
  leave(): void {
    if (this.end === undefined && !this.commits.writing && this.code.rollback === null) this.supersede();
  }

  pause(): void {
    this.hold.setPaused(true);
    this.soon();
  }

  resume(): void {
    this.hold.setPaused(false);
    this.look();
  }

  /** The process is about to end: begins nothing more, and gives the instance back as soon as no body runs. */
  wrapUp(): void {
    this.hold.stopping = true;
    this.soon();
  }

  /** Its lease is over, or is about to be given back. */
  abandon(reason: AttemptAbortedError): void {
    this.#onlyWaited = this.onlyWaits;
    this.drop(reason);
    this.finish({ kind: "abandoned" });
  }

  /** Gives the instance back after it was abandoned. */
  release(): Promise<void> {
    return this.#letGo((substantial) => this.givenBack(substantial, this.#onlyWaited));
  }

  /** The process is about to end: nothing is sent again. If it still runs, though it has no slot any more, it is given back. */
  giveUp(): void {
    this.commits.giveUp();
    if (this.commits.writing || this.end !== undefined) return;
    this.abandon(
      new AttemptAbortedError("attempt.shutdown", "The process is shutting down: another one will run this."),
    );
    void this.release().catch(() => {}); // then it is taken over
  }

  /**
   * Gives the instance back after the store failed, so that nothing is counted: for a while, because it would meet the same
   * error again. Entries that were never sent go with it, and deadlines, if the database takes them.
   */
  giveBack(delayMs: number): Promise<void> {
    const dueAt = this.time.now() + delayMs;
    return this.#letGo((substantial) => this.#setAside(substantial, { dueAt }));
  }

  /**
   * Lets go of the instance for so long, because the codec could not read or write a value. Steps that can't be written run
   * again.
   */
  async postpone(delayMs: number, error?: string): Promise<void> {
    const dueAt = this.time.after(delayMs);
    const held = error === undefined ? {} : { error };
    const outcome = (substantial: boolean) => this.#setAside(substantial, { dueAt, ...held });
    await this.#letGo(outcome).catch((error: unknown) => {
      if (!(error instanceof CodecError)) throw error;
      return this.commits.writeLast(outcome); // without the entries, which are gone
    });
  }

  /** For a while. Lost owners are counted on, unless something was done since. */
  #setAside(substantial: boolean, wait: { readonly dueAt: number; readonly error?: string }): InstanceOutcome {
    if (this.hold.interruptions > 0 && !substantial) return { kind: "released", ...wait };
    return { kind: "parked", wakes: this.events.knownWakes, ...wait };
  }

  /** Writes the last commit. The open waits keep their deadlines, for the next owner. */
  #letGo(outcome: (substantial: boolean) => InstanceOutcome): Promise<void> {
    this.steps.recordDeadlines(RELEASED);
    return this.commits.writeLast(outcome);
  }

  // What the commits tell it

  written(commit: InstanceCommit, answer: WrittenCommit, askedAt: number): void {
    const { entries, outcome } = commit;
    this.host.committed(this.instance.ref);
    this.steps.written(commit);
    if (answer.woken !== undefined) this.host.woke(answer.woken);
    if (this.hold.interruptions > 0 && entries.some(isSubstantial)) this.hold.interruptions = 0;
    if (isFinal(outcome)) {
      const { code } = this;
      if (outcome.kind === "completed" || outcome.kind === "errored") code.warnOfUnreached();
      this.stop("workflow.finished", "The workflow has ended: nothing waits for this step.");
      this.finish(toEnd(outcome, answer, code.result, { rolledBack: code.rollback !== null }));
      if (outcome.kind === "parked") this.#goOnIfCalled();
      return;
    }
    if (outcome.kind === "rollingBack") this.#beginRollback(outcome.error);
    this.#learn(answer, askedAt);
    this.now();
  }

  /** The code may have gone on while the instance was being parked: it waited for something that isn't a step. */
  #goOnIfCalled(): void {
    const { steps, code, hold } = this;
    const goesOn = steps.bodies.ready > 0 || steps.endings.replaying || code.result !== undefined;
    if (goesOn && !hold.resting && code.rollback === null) this.host.reacquire(this);
  }

  /** The failure is stored: nothing that the code called ends or begins any more. */
  #beginRollback(error: string): void {
    const { steps, code } = this;
    const message = "The workflow has failed, and is rolled back: nothing waits for this step.";
    if (steps.bodies.running > 0) steps.bodies.drop(new AttemptAbortedError("workflow.finished", message));
    steps.clear();
    code.beginRollback(error);
    this.#callMain();
  }

  /**
   * The database doesn't take a commit. Its entries are kept, with the lease, until it does; but not the slot in the worker,
   * which others may need. When the commit is written at last, the instance is given back, to go on where there is a slot.
   */
  delayed(error: unknown, milliseconds: number): void {
    const { instance, host } = this;
    if (!this.#toldOfDelay) {
      this.#toldOfDelay = true;
      const message = error instanceof Error ? error.message : String(error);
      const details = { workflow: instance.name, instance: instance.id, message };
      host.warn("The database doesn't accept the commit of an instance; it is sent again until it does.", details);
    }
    if (milliseconds < LONGEST_IN_SLOT_MS || this.end !== undefined) return;
    this.onLastCommit?.();
    this.onLastCommit = undefined;
    this.wrapUp();
  }

  /**
   * A value can never be stored. If it is the result of the run, the run fails with that, and so it does if the name of a step
   * is refused. Otherwise its step has failed, and the code, which was told something else, begins again.
   */
  refused(part: RefusedPart, error: ValueRefusedError): void {
    if (this.end !== undefined) return;
    const { code } = this;
    if (part === "outcome") {
      const what = code.result !== undefined && "error" in code.result ? "The error" : "The result";
      if (code.refuse(refusal(`${what} of the workflow`, error))) this.now();
      else this.fail(error);
      return;
    }
    if (part !== "step") {
      const failure = refusal("The name of a step", error); // the message must not have it, or couldn't be stored either
      this.stop("workflow.finished", failure.message);
      code.endWith({ error: failure });
      this.now();
      return;
    }
    this.stop("attempt.lease_lost", "The instance begins again: a value of one of its steps can't be stored.");
    this.giveBack(0).then(
      () => this.finish({ kind: "released" }),
      (failure: unknown) => this.fail(failure),
    );
  }

  get undoes(): boolean {
    return this.code.rollback !== null;
  }
}
