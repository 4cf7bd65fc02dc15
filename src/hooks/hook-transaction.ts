import type { Clock } from "../clock.ts";
import { type Duration, parseDuration } from "../duration.ts";
import { AttemptAbortedError, InvalidInputError, PerdureError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import type { OpenTransaction } from "../queue/open-transaction.ts";
import type { OwnedTransaction } from "../queue/owned-transaction.ts";
import { type Conclusion, TransactionAttempt, type TransactionHost } from "../queue/transaction-attempt.ts";
import { checkIsolation, DEFAULT_TRANSACTION_TIMEOUT_MS } from "../queue/transaction-options.ts";
import type { Engine, EngineTransaction, Isolation } from "../store/engine.ts";
import type { HookSettlement, SettleResult } from "../store/hooks/hook-records.ts";
import type { Store } from "../store/store.ts";
import { tame } from "../values/index.ts";
import type { AttemptEnding, AttemptResult } from "./attempt-outcome.ts";
import type { HookTransactionConfig } from "./hook-context.ts";

export type HookTransactionBody = (tx: OwnedTransaction) => unknown;

/** The attempt that a transaction settles. */
export interface HookTransactionParts {
  readonly store: Store;
  /** The end of the hook: that it is completed. */
  readonly settlement: HookSettlement;
  readonly isHeld: () => boolean;
  readonly signal: AbortSignal;
  /** The hook isn't this worker's any more. */
  readonly onLost: () => void;
}

interface Settled {
  readonly value: unknown;
  readonly result: SettleResult;
}

/**
 * The transaction of one attempt at a hook. Its last statement settles the hook as completed, for the owner's token only: that
 * is its fence. There is one in an attempt, because the hook is completed with it.
 *
 *     (none) ─▶ open ─▶ committed
 *                 └───▶ rolled back
 */
export class HookTransaction implements TransactionHost<unknown, unknown, Settled> {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly isolation: Isolation | undefined;
  readonly timeoutMs: number | null;
  readonly #parts: HookTransactionParts;
  readonly #body: HookTransactionBody;
  readonly #controller = new AbortController();
  /** The result of the function, if the transaction is committed; else it rejects. */
  readonly ended: Promise<unknown>;
  state: "open" | "committed" | "rolled back" = "open";

  /** Takes the arguments of `hook.transaction`. */
  constructor(parts: HookTransactionParts, first: unknown, second: unknown) {
    const { config, body } = readArguments(first, second);
    this.#parts = parts;
    this.#body = body;
    this.engine = parts.store.engine;
    this.clock = parts.store.clock;
    this.isolation = config.isolation;
    this.timeoutMs = parseTimeout(config.timeout);
    const { signal } = parts;
    if (signal.aborted) this.stop(signal.reason);
    else signal.addEventListener("abort", () => this.stop(signal.reason));
    this.ended = this.#run();
  }

  get over(): boolean {
    return this.#controller.signal.aborted;
  }

  get mayBegin(): boolean {
    return this.#parts.isHeld();
  }

  signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: AttemptAbortedError): void {
    this.stop(reason);
  }

  /** Rolls it back, unless its last statement is on its way. */
  stop(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /**
   * The outcome of the attempt when its handler has ended like this. If the transaction is committed, the attempt has
   * succeeded. A handler that fails takes its open transaction with it; one that returns waits for it, and fails with it.
   */
  async endingAfter(result: AttemptResult): Promise<AttemptEnding> {
    const { kind } = result;
    const open = this.state === "open";
    if (open && kind === "threw") this.stop(result.error);
    try {
      await this.ended;
      return kind === "threw" ? { kind: "settled", error: result.error } : { kind: "settled" };
    } catch (error) {
      return open && kind === "completed" ? { kind: "threw", error: tame(error) } : result;
    }
  }

  async call(tx: OpenTransaction): Promise<unknown> {
    return this.#body(tx);
  }

  async seal(value: unknown): Promise<unknown> {
    return value;
  }

  async write(transaction: EngineTransaction, value: unknown): Promise<Settled | null> {
    const [result = "lost"] = await transaction.settleHooks([this.#parts.settlement]);
    return result === "lost" ? null : { value, result };
  }

  /**
   * While the lease holds, only its owner settles the hook: if the token is gone, the commit was written. Later that can't be
   * known, but then another worker has the hook.
   */
  async find({ value }: Settled): Promise<Settled | "absent" | null> {
    const { store, settlement, isHeld } = this.#parts;
    const leased = await store.hooks.statements.findLeased([settlement.namespace], [settlement.lock]);
    if (leased.some(({ id }) => id === settlement.id)) return "absent";
    return isHeld() ? { value, result: "pending" } : null;
  }

  rolledBack(): void {}

  async #run(): Promise<unknown> {
    try {
      const conclusion = await new TransactionAttempt(this).run();
      if (conclusion.kind === "committed") return this.#committed(conclusion.done);
      throw this.#failure(conclusion);
    } catch (error) {
      this.state = "rolled back";
      throw error;
    }
  }

  #committed({ value, result }: Settled): unknown {
    const { store, settlement } = this.#parts;
    this.state = "committed";
    if (result === "pending") store.work.post({ namespace: settlement.namespace, delayMs: 0 });
    return value;
  }

  #failure(conclusion: Exclude<Conclusion<Settled>, { kind: "committed" }>): unknown {
    if (this.over) return this.#controller.signal.reason;
    if (conclusion.kind === "failed") return conclusion.error;
    this.#parts.onLost();
    return new AttemptAbortedError(
      "attempt.lease_lost",
      "The lease of the hook was lost before its transaction was committed: another process may run it now.",
    );
  }
}

/** Of a second transaction in an attempt. */
export function transactionRepeated(): InvalidInputError {
  return new InvalidInputError(
    "transaction.repeated",
    "hook.transaction can be called once in an attempt, because it completes the hook. Write everything in one function, or trigger " +
      "another hook for the rest.",
  );
}

/** Of a transaction that is asked for when the handler has ended. */
export function attemptOver(): PerdureError {
  return new PerdureError(
    "transaction.finished",
    "The attempt at the hook is over: await hook.transaction before the handler returns.",
  );
}

function readArguments(
  first: unknown,
  second: unknown,
): { readonly config: HookTransactionConfig; readonly body: HookTransactionBody } {
  const [config, body] = typeof first === "function" ? [{}, first] : [first, second];
  if (typeof body !== "function") {
    throw new InvalidInputError(
      "transaction.invalid",
      "hook.transaction takes a function, and options before it: hook.transaction({ timeout }, async (tx) => …).",
    );
  }
  checkOptions(config, {
    label: "The transaction of a hook",
    fields: ["timeout", "isolation"],
    code: "transaction.invalid",
  });
  checkIsolation((config as HookTransactionConfig).isolation, "transaction.invalid");
  return { config: config as HookTransactionConfig, body: body as HookTransactionBody };
}

const LONGEST_TIMEOUT_MS = 86_400_000;

function parseTimeout(timeout: Duration | undefined): number {
  if (timeout === undefined) return DEFAULT_TRANSACTION_TIMEOUT_MS;
  const milliseconds = parseDuration(timeout, "timeout");
  if (milliseconds >= 1 && milliseconds <= LONGEST_TIMEOUT_MS) return milliseconds;
  throw new InvalidInputError(
    "transaction.invalid",
    "The timeout of a transaction must be from 1 millisecond to 1 day.",
  );
}
