import type { Timer } from "../clock.ts";
import { AttemptAbortedError, CodecError, PerdureError } from "../errors.ts";
import { isNonRetryable } from "../non-retryable.ts";
import { type RetryPolicy, requestedDelay, resolveRetries, retryDelay } from "../queue/retry-policy.ts";
import { type AttemptFailure, UNREADABLE_PAUSE_MS, type Work } from "../queue/work.ts";
import type { ClaimedHook, HookOutcome } from "../store/hook-records.ts";
import type { Store } from "../store/store.ts";
import { decodeValue, encodeError, tame } from "../values/index.ts";
import type { AnyHookDefinition } from "./define-hook.ts";
import { HookCall } from "./hook-call.ts";
import type { StuckHook } from "./hook-settings.ts";
import type { RegisteredHooks } from "./registered-hooks.ts";

/** Hooks with an id of the caller's own are kept at least this long, so that the same id does nothing a second time. */
const KEEP_OWN_IDS_MS = 30 * 24 * 3_600_000;

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
  readonly #aborter = new AbortController();
  #abandon: (() => void) | undefined;
  #abandoned = false;

  constructor(hook: ClaimedHook, store: Store, hooks: RegisteredHooks, onStuck: (hook: StuckHook) => void) {
    this.hook = hook;
    this.#store = store;
    this.#hooks = hooks;
    this.#onStuck = onStuck;
  }

  get recovered(): boolean {
    return this.hook.recoveries > 0;
  }

  get description(): string {
    return `hook ${this.hook.namespace}/${this.hook.name} ${this.hook.id}`;
  }

  async execute(onEnd: () => void): Promise<AttemptFailure | null> {
    const definition = this.#hooks.find(this.hook.name) as AnyHookDefinition; // only what is known is claimed
    const policy = this.#policy(definition);
    const ending = await this.#run(definition, policy);
    onEnd();
    if (ending.kind === "abandoned" || this.#abandoned) return null;
    if (ending.kind === "unreadable") return this.#postpone(ending.error);
    const outcome = this.#outcome(ending, policy);
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
    await this.#settle({ kind: "released" });
  }

  /** What it was when it was taken over from a lost owner. */
  toLost(): StuckHook {
    return { ...this.#summary(), reason: "lost" };
  }

  #summary(): Omit<StuckHook, "reason"> {
    return { hookId: this.hook.id, hookName: this.hook.name, attempts: this.hook.attempts };
  }

  #policy(definition: AnyHookDefinition): RetryPolicy {
    const ofTrigger = this.hook.retries === null ? {} : (JSON.parse(this.hook.retries) as Partial<RetryPolicy>);
    return resolveRetries(definition.retries, ofTrigger);
  }

  /** Calls the handler, and waits until it ends, hangs for too long, or the hook isn't ours any more. */
  async #run(definition: AnyHookDefinition, policy: RetryPolicy): Promise<Ending> {
    const { attempts, recoveries } = this.hook;
    if (attempts > policy.limit + 1) {
      const message = `The hook was lost with its process ${recoveries} times in a row and has no attempts left: it may be what ends the process.`;
      return { kind: "threw", error: new PerdureError("hook.crash_loop", message) };
    }
    let timer: Timer | undefined;
    try {
      const payload = decodeValue(this.hook.payload) as never;
      const call = new HookCall(this.hook, policy, this.#aborter.signal);
      return await new Promise<Ending>((resolve) => {
        this.#abandon = () => resolve({ kind: "abandoned" });
        timer = this.#watch(resolve);
        callHandler(definition, payload, call).then(
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

  #outcome(ending: Exclude<Ending, { kind: "abandoned" | "unreadable" }>, policy: RetryPolicy): HookOutcome {
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

  async #settle(outcome: HookOutcome): Promise<void> {
    const { namespace, id, lock, key } = this.hook;
    const result = await this.#store.hooks.settle({ namespace, id, lock, keyed: key !== null, outcome });
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
