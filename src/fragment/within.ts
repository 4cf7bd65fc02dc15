import { InvalidInputError } from "../errors.ts";
import type { HookDefinitions, HookInput } from "../hooks/define-hook.ts";
import type { RegisteredHooks } from "../hooks/registered-hooks.ts";
import { prepareTrigger, type TriggerOptions } from "../hooks/trigger.ts";
import type { TriggeredHook } from "../hooks/write-triggers.ts";
import { isThenable } from "../schema.ts";
import type { AsyncTransaction, ForeignTransaction, SyncTransaction } from "../store/foreign-transaction.ts";
import type { HookInsert } from "../store/hooks/hook-records.ts";
import type { Store } from "../store/store.ts";
import type { TriggerArguments } from "./unit-of-work.ts";

/** Triggers hooks in a transaction that the application began: they commit or roll back with it. */
export interface WithinSync<Hooks extends HookDefinitions> {
  triggerHook<Name extends keyof Hooks & string>(
    name: Name,
    ...rest: TriggerArguments<HookInput<Hooks[Name]>>
  ): TriggeredHook;
}

/** The same for an asynchronous driver: await it before the transaction ends. */
export interface WithinAsync<Hooks extends HookDefinitions> {
  triggerHook<Name extends keyof Hooks & string>(
    name: Name,
    ...rest: TriggerArguments<HookInput<Hooks[Name]>>
  ): Promise<TriggeredHook>;
}

export interface RunWithin<Hooks extends HookDefinitions> {
  (transaction: SyncTransaction): WithinSync<Hooks>;
  (transaction: AsyncTransaction): WithinAsync<Hooks>;
}

/** The delays after which to look for new rows: no notice says when the application's SQLite transaction commits. */
const LOOK_AFTER_MS = [5, 50, 500, 5000];

type Prepare = (name: string, payload: unknown, options?: TriggerOptions) => HookInsert | Promise<HookInsert>;

export function createWithin<Hooks extends HookDefinitions>(store: Store, hooks: RegisteredHooks): RunWithin<Hooks> {
  const prepare: Prepare = (name, payload, options) => prepareTrigger(hooks, name, payload, options, store.createId);
  const within = (transaction: ForeignTransaction) => {
    checkTransaction(store, transaction);
    return transaction.mode === "async"
      ? withinAsync(store, transaction, prepare)
      : withinSync(store, transaction, prepare);
  };
  return within as RunWithin<Hooks>;
}

function withinAsync(store: Store, transaction: AsyncTransaction, prepare: Prepare): WithinAsync<HookDefinitions> {
  return {
    async triggerHook(name: string, payload?: unknown, options?: TriggerOptions): Promise<TriggeredHook> {
      const trigger = await prepare(name, payload, options);
      if (!(await transaction.isOpen())) throw notOpen();
      const { text, parameters } = await store.engine.foreignInsert(trigger);
      await transaction.execute(text, parameters);
      return written(store, trigger);
    },
  };
}

function withinSync(store: Store, transaction: SyncTransaction, prepare: Prepare): WithinSync<HookDefinitions> {
  return {
    triggerHook(name: string, payload?: unknown, options?: TriggerOptions): TriggeredHook {
      const trigger = prepare(name, payload, options);
      if (trigger instanceof Promise) {
        trigger.catch(() => {});
        throw new InvalidInputError(
          "payload.async_schema",
          `The schema of "${name}" is asynchronous: a synchronous transaction can't wait for it.`,
        );
      }
      if (!transaction.isOpen()) throw notOpen();
      const insert = store.engine.foreignInsert(trigger);
      if (isThenable(insert)) {
        insert.catch(() => {});
        throw new InvalidInputError(
          "transaction.async_codec",
          "The codec of this database is asynchronous: a synchronous transaction can't wait for it. Use a unit of work, or a synchronous codec.",
        );
      }
      transaction.execute(insert.text, insert.parameters);
      return written(store, trigger);
    },
  };
}

function written(store: Store, { id, namespace }: HookInsert): TriggeredHook {
  if (store.engine.dialect === "sqlite" && store.work.attended) {
    for (const delay of LOOK_AFTER_MS) store.clock.setTimer(() => store.work.post({ namespace, delayMs: 0 }), delay);
  }
  return { id };
}

function notOpen(): InvalidInputError {
  return new InvalidInputError(
    "transaction.not_open",
    "There is no open transaction on this connection: begin one, or the hook could run although your writes are rolled back.",
  );
}

function checkTransaction(store: Store, transaction: ForeignTransaction): void {
  const mode: unknown = transaction?.mode;
  if (mode !== "sync" && mode !== "async") {
    throw new InvalidInputError(
      "transaction.invalid",
      "within takes a transaction wrapped by fromPg, fromNodeSqlite or one of the others.",
    );
  }
  if (transaction.dialect === store.engine.dialect) return;
  throw new InvalidInputError(
    "transaction.invalid",
    `The transaction is one of ${transaction.dialect}, but Perdure's tables are in ${store.engine.dialect}.`,
  );
}
