import { makeDetachable } from "../detachable.ts";
import { InvalidInputError, PerdureError } from "../errors.ts";
import type { HookDefinitions, HookInput } from "../hooks/define-hook.ts";
import type { RegisteredHooks } from "../hooks/registered-hooks.ts";
import { prepareTrigger, type TriggerOptions } from "../hooks/trigger.ts";
import { TriggerPlan } from "../hooks/write-triggers.ts";
import type { EngineTransaction } from "../store/engine.ts";
import type { HookInsert } from "../store/hooks/hook-records.ts";
import { insertBatches } from "../store/hooks/stored-hooks.ts";
import { buildSql, checkParameters, checkText } from "../store/sql.ts";
import type { SqlRow, SqlValue } from "../store/sql-value.ts";
import type { Store } from "../store/store.ts";
import type { Workflows } from "../workflows/define/workflow-types.ts";
import { BufferedCalls, type UnitBindings } from "../workflows/instances/buffered-calls.ts";
import { type SendEventTo, sendEventTo } from "../workflows/instances/prepare-event.ts";
import { warnOfReplays } from "../workflows/replay-warning.ts";
import type { WorkflowRuntime } from "../workflows/workflow-runtime.ts";

/** The arguments of a trigger: the payload is optional if the hook takes none. */
export type TriggerArguments<Input> = undefined extends Input
  ? [payload?: Input, options?: TriggerOptions]
  : [payload: Input, options?: TriggerOptions];

/** A transaction of the application that can trigger hooks, create instances and send events. */
export interface UnitOfWork<Hooks extends HookDefinitions, Registry extends Workflows = Record<never, never>> {
  /**
   * Runs SQL; each value becomes a parameter of the engine.
   *
   * @example
   * const [order] = await uow.sql`select * from orders where id = ${id}`;
   */
  sql<Row extends SqlRow = SqlRow>(parts: TemplateStringsArray, ...values: unknown[]): Promise<Row[]>;
  /** Runs native SQL with the engine's own placeholders, untouched. */
  query<Row extends SqlRow = SqlRow>(text: string, parameters?: readonly SqlValue[]): Promise<Row[]>;
  /**
   * Triggers a hook that runs after this transaction, if it commits. Throws at once if there is no such hook, or if it refuses
   * the payload.
   */
  triggerHook<Name extends keyof Hooks & string>(name: Name, ...rest: TriggerArguments<HookInput<Hooks[Name]>>): void;
  /**
   * Each workflow by its key.
   *
   * @example
   * uow.workflows.checkout.create({ id: order.id, params: order });
   */
  readonly workflows: UnitBindings<Registry>;
  /**
   * Sends an event to an instance, which may be created in the same unit of work.
   *
   * @example
   * uow.sendEvent({ workflow: shipping, id: order.id }, { type: "paid", payload: { by: "card" } });
   */
  readonly sendEvent: SendEventTo<void>;
}

/**
 * Runs `body` in a transaction. Triggers, instances and events are written last, so that other transactions don't wait for
 * these rows while user code runs.
 */
export async function runUnitOfWork<Hooks extends HookDefinitions, Registry extends Workflows, Result>(
  { store, hooks, workflows }: UnitOfWorkParts,
  body: (uow: UnitOfWork<Hooks, Registry>) => Promise<Result>,
): Promise<Result> {
  if (typeof body !== "function") {
    throw new InvalidInputError("unit_of_work.invalid", "unitOfWork takes a function: unitOfWork(async (uow) => …).");
  }
  let plan: TriggerPlan | undefined;
  let calls: BufferedCalls | null | undefined;
  try {
    const { result, inserted } = await store.engine.transaction(async (transaction) => {
      const uow = new BufferedUnitOfWork(store, hooks, transaction);
      calls = workflows === null ? null : new BufferedCalls(workflows, () => uow.refuseFinished());
      uow.workflows = calls?.bindings ?? {};
      uow.sendEvent = (target, event) => sendEventTo(workflows, uow.workflows, target, event);
      const result = await body(uow as unknown as UnitOfWork<Hooks, Registry>);
      const triggers = await uow.finish();
      await calls?.write(transaction);
      plan = new TriggerPlan(store, triggers);
      const [inserted = []] = await insertBatches([plan.writes], (writes) => transaction.insertHooks(writes));
      return { result, inserted };
    });
    plan?.committed(inserted);
    calls?.committed();
    return result;
  } catch (error) {
    plan?.cancel(error);
    throw error;
  }
}

interface UnitOfWorkParts {
  readonly store: Store;
  readonly hooks: RegisteredHooks;
  readonly workflows: WorkflowRuntime | null;
}

class BufferedUnitOfWork implements UnitOfWork<HookDefinitions> {
  workflows: object = {};
  declare sendEvent: SendEventTo<void>;
  readonly #store: Store;
  readonly #hooks: RegisteredHooks;
  readonly #transaction: EngineTransaction;
  readonly #triggers: (HookInsert | Promise<HookInsert>)[] = [];
  #finished = false;

  constructor(store: Store, hooks: RegisteredHooks, transaction: EngineTransaction) {
    this.#store = store;
    this.#hooks = hooks;
    this.#transaction = transaction;
  }

  async sql<Row extends SqlRow>(parts: TemplateStringsArray, ...values: unknown[]): Promise<Row[]> {
    const { text, parameters } = buildSql(this.#store.engine.dialect, parts, values);
    return this.query(text, parameters);
  }

  async query<Row extends SqlRow>(text: string, parameters: readonly SqlValue[] = []): Promise<Row[]> {
    this.refuseFinished();
    return (await this.#transaction.query(checkText(text), checkParameters(parameters))) as Row[];
  }

  triggerHook(name: string, payload?: unknown, options?: TriggerOptions): void {
    this.refuseFinished();
    warnOfReplays(this.#store, { hookName: name }, options?.id);
    const trigger = prepareTrigger(this.#hooks, name, payload, options, this.#store.createId);
    if (trigger instanceof Promise) trigger.catch(() => {}); // finish() reports it
    this.#triggers.push(trigger);
  }

  /** Ends the collection of triggers and returns them; rejects if a schema refused one. */
  finish(): Promise<HookInsert[]> {
    this.#finished = true;
    return Promise.all(this.#triggers);
  }

  refuseFinished(): void {
    if (!this.#finished) return;
    throw new PerdureError(
      "transaction.finished",
      "The unit of work is over: await its calls before its function returns.",
    );
  }
}

makeDetachable(BufferedUnitOfWork);
