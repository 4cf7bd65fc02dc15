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
import type { ClaimedHook, HookOutcome, HookSettlement, SettleResult } from "../store/hooks/hook-records.ts";
import type { Store } from "../store/store.ts";
import { decodeValue, encodeError, tame } from "../values/index.ts";
import type { AnyHookDefinition } from "./define-hook.ts";
import { HookCall } from "./hook-context.ts";
import type { StuckHook } from "./hook-settings.ts";
import type { RegisteredHooks } from "./registered-hooks.ts";

/** Hooks with an id of the caller's own are kept at least this long, so that the same id does nothing a second time. */
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
  readonly #onStuck: (hook: StuckHook) => void;
  readonly #definition: AnyHookDefinition;
  readonly #policy: RetryPolicy;
  readonly #aborter = new AbortController();
  readonly #givenUp = new AbortController();
  /** Whether the handler was called. */
  #begun = false;
  /** Whether the row doesn't count the loss of an owner that may have begun. */
  readonly #miscounted: boolean;
  #abandon: (() => void) | undefined;
  #abandoned = false;

  constructor(hook: ClaimedHook, store: Store, hooks: RegisteredHooks, onStuck: (hook: StuckHook) => void) {
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

  /** On its last attempt it is on its own, too: it must not be lost to a neighbour. */
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
    const ending = await this.#run();
    onEnd();
    if (ending.kind === "abandoned" || this.#abandoned) return null;
    if (ending.kind === "unreadable") return this.#postpone(ending.error);
    const outcome = this.#outcome(ending);
    const stuck = this.#aborter.signal.aborted === true; // whatever else aborts the signal abandons the hook
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

  giveUp(): void {
    this.#givenUp.abort();
  }

  async giveBack(): Promise<boolean> {
    if (!this.#begun) await this.release();
    return true;
  }

  /** What it was when it was taken over from a lost owner. */
  toLost(): StuckHook {
    return { ...this.#summary(), reason: "lost" };
  }

  #summary(): Omit<StuckHook, "reason"> {
    return { hookId: this.hook.id, hookName: this.hook.name, attempts: this.hook.attempts };
  }

  /**
   * Where the loss of an owner would decide about the hook, it must be known whether that had begun: then it is written first. Gives
   * whether the hook is still ours.
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

  /** Calls the handler, and waits until it ends, hangs for too long, or the hook isn't ours any more. */
  async #run(): Promise<Ending> {
    const { attempts, recoveries } = this.hook;
    if (attempts > this.#policy.limit + 1) {
      const message = `The hook was lost with its process ${recoveries} times in a row and has no attempts left: it may be what ends the process.`;
      return { kind: "threw", error: new PerdureError("hook.crash_loop", message) };
    }
    let timer: Timer | undefined;
    try {
      const payload = decodeValue(this.hook.payload) as never;
      const call = new HookCall(this.hook, this.#policy, this.#aborter.signal);
      return await new Promise<Ending>((resolve) => {
        this.#abandon = () => resolve({ kind: "abandoned" });
        timer = this.#watch(resolve);
        callHandler(this.#definition, payload, call).then(
          () => resolve({ kind: "completed" }),
          (error: unknown) => resolve({ kind: "threw", error: tame(error) }),
        );
      });
    } catch (error) {
      return error instanceof CodecError ? { kind: "unreadable", error } : { kind: "threw", error };
    } finally {
      timer?.cancel();
    }
  }

  #watch(resolve: (ending: Ending) => void): Timer | undefined {
    const { stuckTimeoutMinutes } = this.#hooks.settings;
    if (stuckTimeoutMinutes === false) return undefined;
    return this.#store.clock.setTimer(() => {
      const error = new AttemptAbortedError(
        "hook.stuck",
        `The handler didn't end within ${stuckTimeoutMinutes} minutes.`,
      );
      this.#aborter.abort(error);
      resolve({ kind: "threw", error });
    }, stuckTimeoutMinutes * 60_000);
  }

  #outcome(ending: Exclude<Ending, { kind: "abandoned" | "unreadable" }>): HookOutcome {
    const policy = this.#policy;
    const { attempts, ownId } = this.hook;
    if (ending.kind === "completed") {
      const { keepMs } = this.#hooks.settings;
      return { kind: "completed", keepMs: ownId ? Math.max(keepMs, KEEP_OWN_IDS_MS) : keepMs };
    }
    const error = encodeError(ending.error);
    if (isNonRetryable(ending.error) || attempts > policy.limit) return { kind: "failed", error };
    const now = this.#store.clock.now();
    const delayMs = requestedDelay(ending.error, now) ?? retryDelay(policy, attempts, this.#store.randomness);
    return { kind: "retry", delayMs: Math.round(delayMs), error };
  }

  /** No fault of the hook's: it is given back for a while, and the attempt isn't counted. */
  async #postpone({ code, message }: CodecError): Promise<null> {
    const { namespace, id, name } = this.hook;
    const details = { namespace, hookName: name, hookId: id, code, message };
    this.#store.logger.warn("The payload of a hook can't be read at present; trying again later.", details);
    await this.#settle({ kind: "released", delayMs: UNREADABLE_PAUSE_MS });
    return null;
  }

  /**
   * What has run isn't run again because the database is away, or refuses for a while: the outcome is sent until it is taken, or the
   * hook isn't ours any more. The token makes that harmless, also when the lease is over.
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
      "The database doesn't take the outcome of a hook; it is sent again until it does.",
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

/** Until it is due again. */
function delayOf(outcome: HookOutcome): number {
  return outcome.kind === "retry" || outcome.kind === "released" ? (outcome.delayMs ?? 0) : 0;
}

function policyOf(definition: AnyHookDefinition, { retries }: ClaimedHook): RetryPolicy {
  const ofTrigger = retries === null ? {} : (JSON.parse(retries) as Partial<RetryPolicy>);
  return resolveRetries(definition.retries, ofTrigger);
}

/**
 * Whether a lost owner that hadn't written that it begins may have begun all the same: not after an earlier loss, and not on the last
 * attempt. There owners begin only when they have written so.
 */
function mayHaveBegun({ unconfirmed, recoveries, attempts }: ClaimedHook, { limit }: RetryPolicy): boolean {
  return unconfirmed && recoveries === 0 && attempts <= limit;
}

function counted(hook: ClaimedHook): ClaimedHook {
  return { ...hook, attempts: hook.attempts + 1, recoveries: hook.recoveries + 1 };
}
