import type { Timer } from "../clock.ts";
import { type AttemptAbortedError, CodecError, PerdureError } from "../errors.ts";
import type { RetryPolicy } from "../queue/retry-policy.ts";
import { type AttemptFailure, solitude, solitudeAfter, UNREADABLE_PAUSE_MS, type Work } from "../queue/work.ts";
import { runApart } from "../replayed-code.ts";
import { applySchema } from "../schema.ts";
import type { ClaimedHook, HookOutcome, HookSettlement, SettleResult } from "../store/hooks/hook-records.ts";
import type { Store } from "../store/store.ts";
import { decodeValue, isUnchecked, loggedError, tame } from "../values/index.ts";
import { AttemptObserver } from "./attempt-observer.ts";
import {
  type AttemptEnding,
  type AttemptResult,
  completedOutcome,
  counted,
  failedOutcome,
  mayHaveBegun,
  policyOf,
} from "./attempt-outcome.ts";
import { timeoutError, timeoutOf } from "./attempt-timeout.ts";
import type { AnyHookDefinition } from "./define-hook.ts";
import type { HookBatch, HookBatches, JoinedItem } from "./hook-batches.ts";
import { HookCall, type Transacting } from "./hook-context.ts";
import type { StuckHook } from "./hook-settings.ts";
import { attemptOver, HookTransaction, transactionRepeated } from "./hook-transaction.ts";
import type { RegisteredHooks } from "./registered-hooks.ts";
import { settlePatiently } from "./settle-patiently.ts";

const COMPLETED: AttemptEnding = { kind: "completed" };
const ABANDONED: AttemptEnding = { kind: "abandoned" };

/** One attempt at a hook that this process has claimed. */
export class HookWork implements Work, Transacting {
  readonly hook: ClaimedHook;
  readonly #store: Store;
  readonly #hooks: RegisteredHooks;
  readonly #batches: HookBatches;
  readonly #onStuck: (hook: StuckHook) => void;
  readonly #definition: AnyHookDefinition;
  readonly #policy: RetryPolicy;
  readonly #aborter = new AbortController();
  readonly #givenUp = new AbortController();
  /** Whether the handler was called. */
  #begun = false;
  /** Whether the row hasn't counted the loss of an owner that may have begun. */
  readonly #miscounted: boolean;
  /** Whether the hook's schema refused a payload that was given in SQL. Another attempt wouldn't change that. */
  #refused = false;
  #isStuck = false;
  /** Ends what waits for the handler. */
  #resolve: ((ending: AttemptEnding) => void) | undefined;
  #timer: Timer | undefined;
  #abandoned = false;
  #isHeld: () => boolean = () => false;
  #transaction: HookTransaction | null = null;
  /** Whether the handler has ended. */
  #ended = false;

  constructor(
    hook: ClaimedHook,
    store: Store,
    hooks: RegisteredHooks,
    batches: HookBatches,
    onStuck: (hook: StuckHook) => void,
  ) {
    this.#batches = batches;
    this.#definition = hooks.find(hook.name) as AnyHookDefinition; // only what is known is claimed
    this.#policy = policyOf(this.#definition, hook);
    this.hook = mayHaveBegun(hook, this.#policy) ? counted(hook) : hook;
    this.#miscounted = this.hook !== hook;
    this.#store = store;
    this.#hooks = hooks;
    this.#onStuck = onStuck;
  }

  get recovered(): boolean {
    return this.hook.recoveries > 0;
  }

  /** On its last attempt it runs alone, too: another hook must not end the process and use up that attempt. */
  get solitudeMs(): number | null {
    const { attempts, recoveries } = this.hook;
    const last = recoveries > 0 && attempts > this.#policy.limit;
    return last ? solitude(recoveries) : solitudeAfter(recoveries);
  }

  get description(): string {
    return `hook ${this.hook.namespace}/${this.hook.name} ${this.hook.id}`;
  }

  async execute(
    onEnd: () => void,
    isHeld: () => boolean,
    _onFailure: (failure: AttemptFailure) => void,
    slots: number,
  ): Promise<AttemptFailure | null> {
    let observer: AttemptObserver | undefined;
    try {
      if (this.#mustTellOfBeginning && !(await this.#begin(isHeld))) {
        onEnd();
        return null;
      }
      this.#begun = true;
      this.#isHeld = isHeld;
      observer = new AttemptObserver(this.#store, this.#hooks.settings, this.hook);
      const ending = await this.#run(slots, observer);
      observer.rest();
      this.#ended = true;
      onEnd();
      return await this.#end(ending, observer);
    } finally {
      observer?.dropped(); // unless its outcome was written
      if (this.hook.lineKey !== null) this.#store.work.freed(this.hook.namespace);
    }
  }

  async #end(ending: AttemptEnding, observer: AttemptObserver): Promise<AttemptFailure | null> {
    if (ending.kind === "settled") {
      observer.end("completed");
      return this.#afterwards(ending);
    }
    if (ending.kind === "abandoned" || this.#abandoned) return null;
    if (ending.kind === "unreadable") return this.#postpone(ending.error);
    const outcome = this.#outcomeOf(ending);
    const stuck = this.#isStuck;
    const error = ending.kind === "threw" ? ending.error : undefined;
    const result = await this.#settle(outcome);
    if (result !== "lost") observer.end(outcome.kind, error, result);
    if (stuck) this.#onStuck({ ...this.#summary(), reason: "timeout" });
    if (ending.kind !== "threw") return null;
    const { attempts } = this.hook;
    return { error: ending.error, description: this.description, attempt: attempts, final: outcome.kind === "failed" };
  }

  abandon(reason: AttemptAbortedError): void {
    this.#abandoned = true;
    this.#aborter.abort(reason);
    this.#resolve?.(ABANDONED);
  }

  /** Whether its transaction has settled it: its lease is over, though its handler may still run. */
  get settled(): boolean {
    return this.#transaction?.state === "committed";
  }

  /** Begins the transaction that completes the hook. */
  async transact(first: unknown, second: unknown): Promise<unknown> {
    if (this.#transaction !== null) throw transactionRepeated();
    if (this.#ended) throw attemptOver();
    this.#transaction = new HookTransaction(
      {
        store: this.#store,
        settlement: this.#settlement(this.#outcomeOf({ kind: "completed" })),
        isHeld: this.#isHeld,
        signal: this.#aborter.signal,
        onLost: () => this.#lose(),
      },
      first,
      second,
    );
    return this.#transaction.ended;
  }

  async release(): Promise<void> {
    if (this.settled) return;
    if (this.#miscounted && !this.#begun) await this.#count({ begins: false });
    await this.#settle({ kind: "released" });
  }

  wrapUp(): void {
    const { namespace, name } = this.hook;
    if (this.#definition.batch !== null) this.#batches.hurry({ namespace, hookName: name });
  }

  giveUp(): void {
    this.#givenUp.abort();
  }

  async giveBack(): Promise<boolean> {
    if (!this.#begun) await this.release();
    return true;
  }

  /** The counts of the hook when it was taken over from a lost owner. */
  toLost(): StuckHook {
    return { ...this.#summary(), reason: "lost" };
  }

  #summary(): Omit<StuckHook, "reason"> {
    return { hookId: this.hook.id, hookName: this.hook.name, attempts: this.hook.attempts };
  }

  /** If the loss of an owner would decide the hook's outcome, it must be known whether the owner had begun. */
  get #mustTellOfBeginning(): boolean {
    const { attempts, recoveries } = this.hook;
    const { limit } = this.#policy;
    return this.#miscounted || attempts === limit + 1 || (recoveries > 0 && attempts <= limit);
  }

  /** Writes that the attempt begins. Returns whether this worker still owns the hook. */
  async #begin(isHeld: () => boolean): Promise<boolean> {
    if (!(await this.#count({ begins: true }))) return false;
    if (isHeld()) return !this.#abandoned;
    await this.release(); // it took so long that nothing may begin any more
    return false;
  }

  #count({ begins }: { begins: boolean }): Promise<boolean> {
    const { namespace, id, lock, attempts, recoveries } = this.hook;
    return this.#store.hooks.count({ namespace, id, lock, attempts, recoveries, begins });
  }

  /** Calls the handler, and waits until it ends, hangs for too long, or this worker loses the hook. */
  async #run(slots: number, observer: AttemptObserver): Promise<AttemptEnding> {
    const { attempts, recoveries, payload: stored } = this.hook;
    if (attempts > this.#policy.limit + 1) {
      const message = `The hook was lost with its process ${recoveries} times in a row and has no attempts left: it may be what ends the process.`;
      return { kind: "threw", error: new PerdureError("hook.crash_loop", message) };
    }
    try {
      const given = decodeValue(stored);
      const payload = (isUnchecked(stored) ? await this.#check(given) : given) as never;
      const call = new HookCall(this.hook, this.#policy, this.#aborter.signal, this.#hooks.surroundings, this);
      const ending = await new Promise<AttemptEnding>((resolve) => {
        this.#resolve = resolve;
        const complete = () => resolve(COMPLETED);
        const fail = (error: unknown) => resolve({ kind: "threw", error: tame(error) });
        if (this.#definition.batch !== null) return this.#joinBatch({ payload, hook: call, complete, fail }, slots);
        this.#watch();
        observer.run(() => callHandler(this.#definition, payload, call)).then(complete, fail);
      });
      return this.#transaction === null ? ending : await this.#withTransaction(ending, this.#transaction);
    } catch (error) {
      return error instanceof CodecError ? { kind: "unreadable", error } : { kind: "threw", error };
    } finally {
      this.#timer?.cancel();
    }
  }

  /** The handler has ended, and has begun a transaction. */
  #withTransaction(ending: AttemptEnding, transaction: HookTransaction): Promise<AttemptEnding> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      if (this.#abandoned || !(ending.kind === "completed" || ending.kind === "threw")) resolve(ending);
      else void transaction.endingAfter(ending).then(resolve);
    });
  }

  /** The hook was settled by its transaction: an error of the handler changes nothing any more. */
  #afterwards(ending: Extract<AttemptEnding, { kind: "settled" }>): null {
    if (!("error" in ending)) return null;
    const { namespace, id, name } = this.hook;
    this.#store.logger.warn(
      "A hook's handler failed after its transaction had been committed. The hook is completed, and isn't tried again.",
      { namespace, hookName: name, hookId: id, error: loggedError(ending.error, this.#store.stackTraces) },
    );
    return null;
  }

  /** Another worker has the hook. */
  #lose(): void {
    this.#abandoned = true;
    this.#resolve?.(ABANDONED);
  }

  /** The batch begins later: by then, the hook may have another owner. */
  #joinBatch(item: Omit<JoinedItem, "begin">, slots: number): void {
    const { batch, handler } = this.#definition;
    const begin = () => {
      const ours = !this.#abandoned && this.#isHeld();
      if (ours) this.#watch();
      else this.#resolve?.(ABANDONED);
      return ours;
    };
    this.#batches.join(batch as HookBatch, handler as never, { ...item, begin }, slots);
  }

  /** Applies the hook's schema to a payload that was given in SQL, where no schema could be applied. */
  async #check(given: unknown): Promise<unknown> {
    try {
      return await applySchema(this.#definition.schema, given, `The payload of "${this.hook.name}"`);
    } catch (error) {
      this.#refused = true;
      throw error;
    }
  }

  /** Ends the attempt if its handler runs for too long. */
  #watch(): void {
    const timeout = timeoutOf(this.#definition, this.#hooks.settings);
    if (timeout === null) return;
    this.#timer = this.#store.clock.setTimer(() => {
      const error = timeoutError(timeout);
      this.#isStuck = timeout.stuck;
      this.#aborter.abort(error);
      this.#resolve?.({ kind: "threw", error });
    }, timeout.milliseconds);
  }

  /** Not the hook's fault: it is released for a while, and the attempt isn't counted. */
  async #postpone({ code, message }: CodecError): Promise<null> {
    const { namespace, id, name } = this.hook;
    const details = { namespace, hookName: name, hookId: id, code, message };
    this.#store.logger.warn("The payload of a hook can't be read at present; trying again later.", details);
    await this.#settle({ kind: "released", delayMs: UNREADABLE_PAUSE_MS });
    return null;
  }

  #outcomeOf(result: AttemptResult): HookOutcome {
    const { hook } = this;
    if (result.kind === "completed") return completedOutcome(hook, this.#hooks.settings);
    return failedOutcome(hook, result.error, this.#policy, this.#store, { final: this.#refused });
  }

  #settlement(outcome: HookOutcome): HookSettlement {
    const { namespace, id, lock, key } = this.hook;
    return { namespace, id, lock, keyed: key !== null, outcome };
  }

  async #settle(outcome: HookOutcome): Promise<SettleResult> {
    const settlement = this.#settlement(outcome);
    let result: SettleResult;
    try {
      result = await this.#store.hooks.settle(settlement);
    } catch (error) {
      const terms = { isPatient: () => this.#begun, signal: this.#givenUp.signal };
      result = await settlePatiently(this.#store, settlement, error, terms);
    }
    const { namespace, id } = this.hook;
    if (result === "lost") {
      const message = "The outcome of a hook was not written: its lease had run out and another process has it.";
      this.#store.logger.warn(message, { namespace, hookId: id });
    }
    if (result === "pending") {
      this.#store.work.post({ namespace, delayMs: delayOf(outcome) });
    }
    return result;
  }
}

/** Its promise rejects with what the handler throws. */
function callHandler(definition: AnyHookDefinition, payload: never, call: HookCall): Promise<unknown> {
  try {
    return Promise.resolve(runApart(() => definition.handler(payload, call)));
  } catch (error) {
    return Promise.reject(error);
  }
}

/** The delay until the hook is due again. */
function delayOf(outcome: HookOutcome): number {
  return outcome.kind === "retry" || outcome.kind === "released" ? (outcome.delayMs ?? 0) : 0;
}
