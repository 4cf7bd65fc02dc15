import { InvalidInputError, PerdureError } from "../errors.ts";
import type { HookDefinitions, HookInput } from "../hooks/define-hook.ts";
import type { RegisteredHooks } from "../hooks/registered-hooks.ts";
import { prepareTrigger, type TriggerOptions } from "../hooks/trigger.ts";
import type { TriggeredHook } from "../hooks/write-triggers.ts";
import { isThenable } from "../schema.ts";
import type {
  AsyncTransaction,
  Awaitable,
  ForeignInstances,
  ForeignTransaction,
  SyncTransaction,
} from "../store/foreign-transaction.ts";
import type { HookInsert } from "../store/hooks/hook-records.ts";
import type { EventInsert, InstanceInsert, InstanceInsertResult } from "../store/instances/instance-records.ts";
import type { SqlRow } from "../store/sql-value.ts";
import type { Store } from "../store/store.ts";
import type { Workflows } from "../workflows/define/workflow-types.ts";
import { createForeignBindings, type ForeignBindings } from "../workflows/instances/foreign-bindings.ts";
import type { SentEvent } from "../workflows/instances/instance.ts";
import { type SendEventTo, sendEventTo } from "../workflows/instances/prepare-event.ts";
import { warnOfReplays } from "../workflows/replay-warning.ts";
import type { WorkflowRuntime } from "../workflows/workflow-runtime.ts";
import { PendingCalls } from "./pending-calls.ts";
import type { TriggerArguments } from "./unit-of-work.ts";

/** Calls in a transaction that the application began: they commit and roll back with its other writes. */
export interface WithinSync<Hooks extends HookDefinitions, Registry extends Workflows = NoWorkflows> {
  /** Calls a hook after the commit. */
  triggerHook<Name extends keyof Hooks & string>(
    name: Name,
    ...rest: TriggerArguments<HookInput<Hooks[Name]>>
  ): TriggeredHook;
  /** Each workflow by its key. */
  readonly workflows: ForeignBindings<"sync", Registry>;
  /** Sends an event to an instance, as the binding of its workflow does. */
  readonly sendEvent: SendEventTo<void>;
}

/** The same where the driver is asynchronous: await every call before the transaction ends. */
export interface WithinAsync<Hooks extends HookDefinitions, Registry extends Workflows = NoWorkflows> {
  /** Calls a hook after the commit. */
  triggerHook<Name extends keyof Hooks & string>(
    name: Name,
    ...rest: TriggerArguments<HookInput<Hooks[Name]>>
  ): Promise<TriggeredHook>;
  /** Each workflow by its key. */
  readonly workflows: ForeignBindings<"async", Registry>;
  /** Sends an event to an instance, as the binding of its workflow does. */
  readonly sendEvent: SendEventTo<Promise<void>>;
}

type NoWorkflows = Record<never, never>;

export interface RunWithin<Hooks extends HookDefinitions, Registry extends Workflows = NoWorkflows> {
  (transaction: SyncTransaction): WithinSync<Hooks, Registry>;
  (transaction: AsyncTransaction): WithinAsync<Hooks, Registry>;
}

/** The delays after which to look for new rows: no notice says when the application's SQLite transaction commits. */
const LOOK_AFTER_MS = [5, 50, 500, 5000];

type SendEvent = [target: { workflow: unknown; id: string }, event: SentEvent<string, unknown>];
type Trigger = (name: string, payload?: unknown, options?: TriggerOptions) => Awaitable<TriggeredHook>;

export function createWithin<Hooks extends HookDefinitions, Registry extends Workflows = NoWorkflows>(
  store: Store,
  hooks: RegisteredHooks,
  workflows: WorkflowRuntime | null,
): RunWithin<Hooks, Registry> {
  const within = (transaction: ForeignTransaction) => {
    checkTransaction(store, transaction);
    const pending = transaction.mode === "async" ? new PendingCalls(transaction) : null;
    const calls = new ForeignCalls(store, pending?.transaction ?? transaction, hooks.namespace);
    const triggerHook: Trigger = (name, payload, options) => {
      warnOfReplays(store, { hookName: name }, options?.id);
      return calls.chain(
        prepareTrigger(hooks, name, payload, options, store.createId),
        (trigger) => calls.insertHook(trigger),
        `The schema of "${name}"`,
      );
    };
    const bindings = workflows === null ? {} : createForeignBindings(workflows, calls, calls.chain);
    const sendEvent = (...given: SendEvent) => sendEventTo<Awaitable<void>>(workflows, bindings, ...given);
    if (pending === null) return { triggerHook, workflows: bindings, sendEvent };
    return {
      triggerHook: (...given: Parameters<Trigger>) => pending.run(calls.transaction, () => triggerHook(...given)),
      workflows: inPromises(bindings, (call) => pending.run(calls.transaction, call)),
      sendEvent: (...given: SendEvent) => pending.run(calls.transaction, () => sendEvent(...given)),
    };
  };
  return within as unknown as RunWithin<Hooks, Registry>;
}

type AnyCall = (...given: never[]) => unknown;

/** In an asynchronous transaction a call that is refused rejects, as every other. */
function inPromises(
  bindings: object,
  run: (call: () => unknown) => Promise<unknown>,
): Record<string, Record<string, AnyCall>> {
  const wrap =
    (call: AnyCall) =>
    (...given: never[]) =>
      run(() => call(...given));
  const wrapAll = (binding: object) =>
    Object.fromEntries(Object.entries(binding).map(([name, call]) => [name, wrap(call as AnyCall)]));
  return Object.fromEntries(Object.entries(bindings).map(([key, binding]) => [key, wrapAll(binding as object)]));
}

/**
 * The calls of one transaction: each is checked, written on its connection, and made known to workers once it has committed.
 */
class ForeignCalls implements ForeignInstances {
  readonly #store: Store;
  readonly transaction: ForeignTransaction;
  readonly #namespace: string;
  readonly #instances: ForeignInstances;
  /** Transactions whose commit is awaited. */
  readonly #watched = new Set<string>();

  constructor(store: Store, transaction: ForeignTransaction, namespace: string) {
    this.#store = store;
    this.transaction = store.engine.enterForeign?.(transaction) ?? transaction;
    this.#namespace = namespace;
    this.#instances = store.engine.foreignInstances(this.transaction, (id) => this.#confirm(id));
  }

  /** Waits where the transaction can wait, and refuses to where it can't. */
  readonly chain = <Value, Result>(
    value: Awaitable<Value>,
    next: (value: Value) => Awaitable<Result>,
    label = "A schema",
  ): Awaitable<Result> => {
    if (!isThenable(value)) return next(value as Value);
    if (this.transaction.mode === "async") return (value as Promise<Value>).then(next);
    value.catch(() => {});
    throw new InvalidInputError(
      "payload.async_schema",
      `${label} is asynchronous: a synchronous transaction can't wait for it.`,
    );
  };

  insertHook(trigger: HookInsert): Awaitable<TriggeredHook> {
    const done = (rows: SqlRow[], confirmed: boolean) => {
      if (confirmed) this.#confirm((rows[0]?.["result"] as string | null | undefined) ?? null);
      else this.#written();
      return { id: trigger.id };
    };
    return this.#write(
      (store) => store.engine.foreignInsert(trigger),
      ({ text, parameters, confirmed = false }) => {
        const rows = this.transaction.execute(text, parameters);
        return isThenable(rows) ? rows.then((given) => done(given as SqlRow[], confirmed)) : done(rows, confirmed);
      },
    );
  }

  insert(instances: readonly InstanceInsert[]): Awaitable<InstanceInsertResult[]> {
    return this.#write(
      () => this.#instances.insert(instances),
      (results) => this.#written(results),
    );
  }

  sendEvent(event: EventInsert): ReturnType<ForeignInstances["sendEvent"]> {
    return this.#write(
      () => this.#instances.sendEvent(event),
      (result) => this.#written(result),
    );
  }

  /** Errors of the library become ours, with its own as their cause. */
  #write<Value, Result>(
    begin: (store: Store) => Awaitable<Value>,
    next: (value: Value) => Awaitable<Result>,
  ): Awaitable<Result> {
    if (this.transaction.mode === "async") return this.#writeLater(this.transaction, begin, next);
    if (!this.transaction.isOpen()) throw notOpen();
    try {
      const value = begin(this.#store);
      if (!isThenable(value)) return next(value as Value);
      value.catch(() => {});
    } catch (error) {
      throw toForeignError(error);
    }
    throw new InvalidInputError(
      "transaction.async_codec",
      "The codec of this database is asynchronous: a synchronous transaction can't wait for it. Use a unit of work, or a synchronous codec.",
    );
  }

  async #writeLater<Value, Result>(
    transaction: AsyncTransaction,
    begin: (store: Store) => Awaitable<Value>,
    next: (value: Value) => Awaitable<Result>,
  ): Promise<Result> {
    if (transaction.isOpen?.() === false) throw notOpen();
    try {
      return await next(await begin(this.#store));
    } catch (error) {
      throw toForeignError(error);
    }
  }

  #confirm(transactionId: string | null): void {
    if (transactionId === null) throw notOpen();
    if (this.transaction.mode === "async") this.transaction.confirm?.(transactionId);
    if (this.#watched.has(transactionId)) return;
    this.#watched.add(transactionId);
    const { engine, work } = this.#store;
    const look = engine.watchCommit?.(transactionId, () => {
      work.post({ namespace: this.#namespace, delayMs: 0 });
      work.announce(this.#namespace);
    });
    if (look === undefined || this.transaction.mode !== "async") return;
    const stopListening = this.transaction.onEnd?.(() => {
      stopListening?.();
      look();
    });
  }

  /** Where nothing tells of the commit. */
  #written<Result>(result?: Result): Result {
    const { engine, work, clock } = this.#store;
    if (engine.watchCommit === undefined && work.attended) {
      for (const delay of LOOK_AFTER_MS) {
        clock.setTimer(() => work.post({ namespace: this.#namespace, delayMs: 0 }), delay);
      }
    }
    return result as Result;
  }
}

function notOpen(): InvalidInputError {
  return new InvalidInputError(
    "transaction.not_open",
    "There is no open transaction on this connection, so nothing was written. Begin one, await this call before the transaction " +
      "ends, and give the transaction itself instead of a pool.",
  );
}

function checkTransaction(store: Store, transaction: ForeignTransaction): void {
  const mode: unknown = transaction?.mode;
  if (mode !== "sync" && mode !== "async") {
    throw new InvalidInputError(
      "transaction.invalid",
      "within takes a transaction wrapped by fromPg, fromKysely, fromNodeSqlite or one of the others.",
    );
  }
  if (transaction.dialect === store.engine.dialect) return;
  throw new InvalidInputError(
    "transaction.invalid",
    `The transaction is one of ${transaction.dialect}, but Perdure's tables are in ${store.engine.dialect}.`,
  );
}

/** PostgreSQL refuses every statement after one that failed. */
const ABORTED = "25P02";
/** There is no such table, or no such schema. */
const MISSING = ["42P01", "3F000"];

function toForeignError(error: unknown): unknown {
  if (error instanceof PerdureError) return error;
  const states = statesOf(error);
  if (states.has(ABORTED)) {
    return new PerdureError(
      "transaction.rolled_back",
      "An earlier statement of this transaction failed, and its error was caught: PostgreSQL takes no more statements and will roll " +
        "the transaction back. Let the error end the transaction, or use a savepoint around a statement that may fail.",
      { cause: error },
    );
  }
  if (MISSING.some((state) => states.has(state))) {
    return new InvalidInputError(
      "transaction.other_database",
      "Perdure's tables aren't in the database of this transaction, so nothing was written. Begin it in the database that perdure() " +
        "was given.",
      { cause: error },
    );
  }
  return new PerdureError("transaction.failed", "The statement failed in your transaction; the cause says why.", {
    cause: error,
  });
}

/** The states of SQL that an error names. Libraries wrap the errors of their drivers, each in its own way. */
function statesOf(error: unknown): ReadonlySet<unknown> {
  const states = new Set<unknown>();
  for (let one = error, depth = 0; typeof one === "object" && one !== null && depth < 6; depth++) {
    const { code, originalCode, cause, meta, driverError } = one as LibraryError;
    for (const state of [code, originalCode, meta?.code]) states.add(state);
    one = meta?.driverAdapterError ?? driverError ?? cause;
  }
  return states;
}

interface LibraryError {
  readonly code?: unknown;
  readonly originalCode?: unknown;
  readonly cause?: unknown;
  readonly driverError?: unknown;
  readonly meta?: { readonly code?: unknown; readonly driverAdapterError?: unknown };
}
