import { type AlertTarget, raiseAlert, raiseCrashLoop } from "../monitoring/alerts.ts";
import type { HookMeter } from "../monitoring/meters/meter.ts";
import type { TraceContext, WorkSpan } from "../monitoring/tracing.ts";
import { ownerOfToken } from "../queue/owner.ts";
import type { ClaimedHook, HookOutcome, SettleResult } from "../store/hooks/hook-records.ts";
import type { Store } from "../store/store.ts";
import { decodeValue, describeError } from "../values/index.ts";
import type { HookSettings } from "./hook-settings.ts";

/** What an outcome counts as. An attempt that has ended isn't released. */
const COUNTED = { completed: "completed", retry: "retried", failed: "failed", released: "retried" } as const;

/** Counts an attempt at a hook, makes its span, and raises alerts. It begins with its handler. */
export class AttemptObserver {
  readonly #store: Store;
  readonly #hook: ClaimedHook;
  readonly #meter: HookMeter;
  readonly #span: WorkSpan | null;
  readonly #startedAt: number;

  constructor(store: Store, { telemetry }: HookSettings, hook: ClaimedHook) {
    const { namespace, name, id, attempts: attempt, claimedAt, dueAt, lock } = hook;
    this.#store = store;
    this.#hook = hook;
    this.#meter = store.meter.of(namespace).hooks.of(name);
    this.#meter.begin(claimedAt - dueAt);
    this.#startedAt = store.clock.monotonic();
    this.#span =
      telemetry?.attempts({ namespace, name, id, attempt, context: contextOf(hook), worker: ownerOfToken(lock) }) ??
      null;
    raiseCrashLoop(store, namespace, this.#target, hook.recoveries);
  }

  /** Calls the handler. */
  run<Result>(handler: () => Result): Result {
    return this.#span === null ? handler() : this.#span.run(handler);
  }

  /** The handler has ended, or isn't waited for any more. */
  rest(): void {
    this.#meter.rest(this.#store.clock.monotonic() - this.#startedAt);
  }

  /** Nothing was written: the hook has another owner, or waits for the codec. */
  dropped(): void {
    this.#span?.end("dropped");
  }

  /** Its outcome is written. `result` is what the row became. */
  end(kind: HookOutcome["kind"], error?: unknown, result?: SettleResult): void {
    this.#meter.end(COUNTED[kind]);
    this.#span?.end(COUNTED[kind], error);
    if (result !== "failed") return;
    const { namespace, attempts } = this.#hook;
    const target = this.#target;
    raiseAlert(this.#store, namespace, { kind: "deadLetter", target, attempts, error: describeError(error) });
  }

  get #target(): AlertTarget {
    return { kind: "hook", hookName: this.#hook.name, hookId: this.#hook.id };
  }
}

/** Null if it can't be read: then the payload can't, either. */
function contextOf({ trace }: ClaimedHook): TraceContext | null {
  try {
    return trace === null ? null : (decodeValue(trace) as TraceContext);
  } catch {
    return null;
  }
}
