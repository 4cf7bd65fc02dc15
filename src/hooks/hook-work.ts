import { pause, type Timer } from "../clock.ts";
import {
  AttemptAbortedError,
  CodecError,
  InvalidInputError,
  isInfrastructure,
  PerdureError,
  ValueRefusedError,
} from "../errors.ts";
import { isNonRetryable } from "../non-retryable.ts";
import { type RetryPolicy, requestedDelay, resolveRetries, retryDelay } from "../queue/retry-policy.ts";
import { type AttemptFailure, solitude, solitudeAfter, UNREADABLE_PAUSE_MS, type Work } from "../queue/work.ts";
import { applySchema } from "../schema.ts";
import type { ClaimedHook, HookOutcome, HookSettlement, SettleResult } from "../store/hooks/hook-records.ts";
import type { Store } from "../store/store.ts";
import { decodeValue, encodeError, isUnchecked, tame } from "../values/index.ts";
import type { AnyHookDefinition } from "./define-hook.ts";
import type { HookBatch, HookBatches } from "./hook-batches.ts";
import { HookCall } from "./hook-context.ts";
import type { StuckHook } from "./hook-settings.ts";
import type { RegisteredHooks } from "./registered-hooks.ts";

/** Hooks with a caller's id are kept at least this long, so that a second trigger with the id does nothing. */
const KEEP_OWN_IDS_MS = 30 * 24 * 3_600_000;

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;

type Ending =
  | { readonly kind: "completed" }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "unreadable"; readonly error: CodecError }
  | { readonly kind: "abandoned" };

/** One attempt at a hook that this process has claimed. */
export class HookWork implements Work {
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
  #abandon: (() => void) | undefined;
  #abandoned = false;

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

  async execute(onEnd: () => void, isHeld: () => boolean): Promise<AttemptFailure | null> {
    if (!(await this.#begin(isHeld))) {
      onEnd();
      return null;
    }
    this.#begun = true;
    const ending = await this.#run(isHeld);
    onEnd();
    if (ending.kind === "abandoned" || this.#abandoned) return null;
    if (ending.kind === "unreadable") return this.#postpone(ending.error);
    const outcome = this.#outcome(ending);
    const stuck = this.#isStuck;
    await this.#settle(outcome);
    if (stuck) this.#onStuck({ ...this.#summary(), reason: "timeout" });
    if (ending.kind !== "threw") return null;
    const { attempts } = this.hook;
    return { error: ending.error, description: this.description, attempt: attempts, final: outcome.kind === "failed" };
  }

  abandon(reason: AttemptAbortedError): void {
    this.#abandoned = true;
    this.#aborter.abort(reason);
    this.#abandon?.();
  }

  async release(): Promise<void> {
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

  /**
   * If the loss of an owner would decide the hook's outcome, it must be known whether the owner had begun, so that is written
   * first. Returns whether this worker still owns the hook.
   */
  async #begin(isHeld: () => boolean): Promise<boolean> {
    const { attempts, recoveries } = this.hook;
    const { limit } = this.#policy;
    const decides = attempts === limit + 1 || (recoveries > 0 && attempts <= limit);
    if (!decides && !this.#miscounted) return true;
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
  async #run(isHeld: () => boolean): Promise<Ending> {
    const { attempts, recoveries } = this.hook;
    if (attempts > this.#policy.limit + 1) {
      const message = `The hook was lost with its process ${recoveries} times in a row and has no attempts left: it may be what ends the process.`;
      return { kind: "threw", error: new PerdureError("hook.crash_loop", message) };
    }
    let timer: Timer | undefined;
    try {
      const given = decodeValue(this.hook.payload);
      const payload = (isUnchecked(this.hook.payload) ? await this.#check(given) : given) as never;
      const call = new HookCall(this.hook, this.#policy, this.#aborter.signal, this.#hooks.surroundings);
      return await new Promise<Ending>((resolve) => {
        this.#abandon = () => resolve({ kind: "abandoned" });
        const complete = () => resolve({ kind: "completed" });
        const fail = (error: unknown) => resolve({ kind: "threw", error: tame(error) });
        const begin = () => {
          timer = this.#watch(resolve);
        };
        if (this.#definition.batch !== null) return this.#joinBatch(payload, call, { begin, complete, fail }, isHeld);
        begin();
        callHandler(this.#definition, payload, call).then(complete, fail);
      });
    } catch (error) {
      return error instanceof CodecError ? { kind: "unreadable", error } : { kind: "threw", error };
    } finally {
      timer?.cancel();
    }
  }

  /** The batch begins later: by then, the hook may have another owner. */
  #joinBatch(
    payload: unknown,
    hook: HookCall,
    { begin, complete, fail }: { begin: () => void; complete: () => void; fail: (error: unknown) => void },
    isHeld: () => boolean,
  ): void {
    const { batch, handler } = this.#definition;
    const mayBegin = () => {
      const ours = !this.#abandoned && isHeld();
      if (ours) begin();
      else this.#abandon?.();
      return ours;
    };
    this.#batches.join(batch as HookBatch, handler as never, { payload, hook, begin: mayBegin, complete, fail });
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

  #watch(resolve: (ending: Ending) => void): Timer | undefined {
    const { timeoutMs } = this.#definition;
    if (timeoutMs !== null) {
      const error = () =>
        new AttemptAbortedError("hook.timeout", `The handler didn't end within ${timeoutMs} milliseconds.`);
      return this.#endAfter(timeoutMs, error, resolve);
    }
    const { stuckTimeoutMinutes } = this.#hooks.settings;
    if (stuckTimeoutMinutes === false) return undefined;
    const error = () => {
      this.#isStuck = true;
      return new AttemptAbortedError("hook.stuck", `The handler didn't end within ${stuckTimeoutMinutes} minutes.`);
    };
    return this.#endAfter(stuckTimeoutMinutes * 60_000, error, resolve);
  }

  #endAfter(milliseconds: number, createError: () => AttemptAbortedError, resolve: (ending: Ending) => void): Timer {
    return this.#store.clock.setTimer(() => {
      const error = createError();
      this.#aborter.abort(error);
      resolve({ kind: "threw", error });
    }, milliseconds);
  }

  #outcome(ending: Exclude<Ending, { kind: "abandoned" | "unreadable" }>): HookOutcome {
    const policy = this.#policy;
    const { attempts, ownId } = this.hook;
    if (ending.kind === "completed") {
      const { keepMs } = this.#hooks.settings;
      return { kind: "completed", keepMs: ownId ? Math.max(keepMs, KEEP_OWN_IDS_MS) : keepMs };
    }
    const error = encodeError(ending.error);
    if (this.#refused || isNonRetryable(ending.error) || attempts > policy.limit) return { kind: "failed", error };
    const now = this.#store.clock.now();
    const delayMs = requestedDelay(ending.error, now) ?? retryDelay(policy, attempts, this.#store.randomness);
    return { kind: "retry", delayMs: Math.round(delayMs), error };
  }

  /** Not the hook's fault: it is released for a while, and the attempt isn't counted. */
  async #postpone({ code, message }: CodecError): Promise<null> {
    const { namespace, id, name } = this.hook;
    const details = { namespace, hookName: name, hookId: id, code, message };
    this.#store.logger.warn("The payload of a hook can't be read at present; trying again later.", details);
    await this.#settle({ kind: "released", delayMs: UNREADABLE_PAUSE_MS });
    return null;
  }

  /**
   * A handler that has run must not run again because the database is away or refuses for a while. So the outcome is sent until
   * it is written, or the hook has another owner. The token makes that harmless, even after the lease has ended.
   */
  async #settlePatiently(settlement: HookSettlement): Promise<SettleResult> {
    const { signal } = this.#givenUp;
    let sent = settlement;
    for (let delay = FIRST_PAUSE_MS; ; delay = Math.min(delay * 2, LONGEST_PAUSE_MS)) {
      try {
        return await this.#store.hooks.settle(sent);
      } catch (error) {
        const { outcome } = sent;
        if (error instanceof ValueRefusedError && "error" in outcome && sent.outcome === settlement.outcome) {
          const refusal = new InvalidInputError(
            "value.refused",
            `The error of the hook can't be stored. ${error.message}`,
          );
          sent = { ...sent, outcome: { ...outcome, error: encodeError(refusal) } };
          continue;
        }
        if (!isInfrastructure(error) || signal.aborted || !this.#begun) throw error;
        if (delay === FIRST_PAUSE_MS) this.#tellOfDelay(error);
        await pause(this.#store.clock, delay, signal);
        sent = { ...sent, again: true };
      }
    }
  }

  #tellOfDelay(error: unknown): void {
    const { namespace, id } = this.hook;
    const message = error instanceof Error ? error.message : String(error);
    const details = { namespace, hookId: id, message };
    this.#store.logger.warn(
      "The outcome of a hook can't be written to the database; it is sent again until it is.",
      details,
    );
  }

  async #settle(outcome: HookOutcome): Promise<void> {
    const { namespace, id, lock, key } = this.hook;
    const result = await this.#settlePatiently({ namespace, id, lock, keyed: key !== null, outcome });
    if (result === "lost") {
      this.#store.logger.warn(
        "The outcome of a hook was not written: its lease had run out and another process has it.",
        {
          namespace,
          hookId: id,
        },
      );
    }
    if (result === "pending") {
      this.#store.work.post({ namespace, delayMs: delayOf(outcome) });
    }
  }
}

async function callHandler(definition: AnyHookDefinition, payload: never, call: HookCall): Promise<void> {
  await definition.handler(payload, call);
}

/** The delay until the hook is due again. */
function delayOf(outcome: HookOutcome): number {
  return outcome.kind === "retry" || outcome.kind === "released" ? (outcome.delayMs ?? 0) : 0;
}

function policyOf(definition: AnyHookDefinition, { retries }: ClaimedHook): RetryPolicy {
  const ofTrigger = retries === null ? {} : (JSON.parse(retries) as Partial<RetryPolicy>);
  return resolveRetries(definition.retries, ofTrigger);
}

/**
 * Whether a lost owner may have begun without having written so. Not after an earlier loss, and not on the last
 * attempt: then owners write that they begin before they do.
 */
function mayHaveBegun({ inDoubt, recoveries, attempts }: ClaimedHook, { limit }: RetryPolicy): boolean {
  return inDoubt && recoveries === 0 && attempts <= limit;
}

function counted(hook: ClaimedHook): ClaimedHook {
  return { ...hook, attempts: hook.attempts + 1, recoveries: hook.recoveries + 1 };
}
