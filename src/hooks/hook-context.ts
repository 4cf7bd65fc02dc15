import type { Duration } from "../duration.ts";
import type { TraceContext } from "../monitoring/tracing.ts";
import type { OwnedTransaction } from "../queue/owned-transaction.ts";
import type { RetryPolicy } from "../queue/retry-policy.ts";
import type { Isolation } from "../store/engine.ts";
import type { ClaimedHook } from "../store/hooks/hook-records.ts";
import { decodeValue } from "../values/index.ts";
import type { WorkflowBindings } from "../workflows/instances/workflow-binding.ts";

/** What handlers and workflows find in their application. */
export interface HookSurroundings<Env = unknown> {
  /** The workflows of the application. A `create` with an id made from the `idempotencyKey` happens once for all attempts. */
  readonly workflows: WorkflowBindings;
  /** The `env` of the application, as workflows have it. */
  readonly env: Env;
}

/** How the transaction of a hook runs. */
export interface HookTransactionConfig {
  /** How long the function may take. Default: 10 seconds. */
  readonly timeout?: Duration;
  /** Default: that of the database. SQLite and Durable Objects run every transaction as if it were alone. */
  readonly isolation?: Isolation;
}

/** The call that a handler handles. */
export interface HookContext<Env = unknown> extends HookSurroundings<Env> {
  readonly hookId: string;
  readonly hookName: string;
  readonly namespace: string;
  /** The same for every attempt at one trigger, and never for two triggers: give it to services that remember such keys. */
  readonly idempotencyKey: string;
  readonly status: "processing";
  /** With this one. */
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly createdAt: Date;
  /** When the attempt before this one began; null in the first. */
  readonly lastAttemptAt: Date | null;
  /** For when this attempt was scheduled, if it is a retry. */
  readonly nextRetryAt: Date | null;
  /** When this attempt was due. */
  readonly processAt: Date;
  /** Aborted when the handler took too long, when its lease was lost, and when the process must stop. */
  readonly signal: AbortSignal;
  /** W3C trace context, as the code that triggered the hook had it. */
  readonly traceContext: TraceContext | null;

  /**
   * Runs the function in a transaction that completes the hook with the same commit: what it writes is written exactly once,
   * whatever fails. It can be called once in an attempt. When it resolves, the attempt has succeeded, whatever the handler does
   * afterwards. The function is called again if the database couldn't serialize the transaction, which isn't another attempt.
   *
   * @example
   * const credit = defineHook({}, async (payment: Payment, hook) => {
   *   await hook.transaction((tx) => tx.sql`update accounts set balance = balance + ${payment.amount} where id = ${payment.account}`);
   * });
   */
  transaction<Result, Client = unknown>(
    body: (tx: OwnedTransaction<Client>) => Result | Promise<Result>,
  ): Promise<Result>;
  transaction<Result, Client = unknown>(
    config: HookTransactionConfig,
    body: (tx: OwnedTransaction<Client>) => Result | Promise<Result>,
  ): Promise<Result>;
}

/** Begins the transaction of an attempt. */
export interface Transacting {
  transact(first: unknown, second: unknown): Promise<unknown>;
}

/** The argument of a handler that describes its call. */
export class HookCall implements HookContext {
  readonly hookId: string;
  readonly hookName: string;
  readonly namespace: string;
  readonly idempotencyKey: string;
  readonly status = "processing";
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly createdAt: Date;
  readonly lastAttemptAt: Date | null;
  readonly nextRetryAt: Date | null;
  readonly processAt: Date;
  readonly traceContext: TraceContext | null;
  readonly signal: AbortSignal;
  readonly #surroundings: () => HookSurroundings;
  readonly #attempt: Transacting;

  constructor(
    hook: ClaimedHook,
    policy: RetryPolicy,
    signal: AbortSignal,
    surroundings: () => HookSurroundings,
    attempt: Transacting,
  ) {
    this.#surroundings = surroundings;
    this.#attempt = attempt;
    this.hookId = hook.id;
    this.hookName = hook.name;
    this.namespace = hook.namespace;
    this.idempotencyKey = `${hook.id}:${hook.triggers}`;
    this.attempts = hook.attempts;
    this.maxAttempts = policy.limit + 1;
    this.createdAt = new Date(hook.createdAt);
    this.lastAttemptAt = hook.lastAttemptAt === null ? null : new Date(hook.lastAttemptAt);
    this.processAt = new Date(hook.dueAt);
    this.nextRetryAt = hook.attempts > 1 ? this.processAt : null;
    this.traceContext = hook.trace === null ? null : (decodeValue(hook.trace) as TraceContext);
    this.signal = signal;
  }

  get workflows(): WorkflowBindings {
    return this.#surroundings().workflows;
  }

  get env(): unknown {
    return this.#surroundings().env;
  }

  transaction<Result>(first: unknown, second?: unknown): Promise<Result> {
    const ended = this.#attempt.transact(first, second) as Promise<Result>;
    ended.catch(() => {}); // a handler that doesn't await it fails with it
    return ended;
  }
}
