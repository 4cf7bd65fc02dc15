import type { Clock } from "../../../clock.ts";
import type { HookInsert } from "../../hooks/hook-records.ts";
import type {
  InstanceChange,
  InstanceTarget,
  ProgressRange,
  RestartRequest,
  TimedOutRun,
} from "../../instances/instance-records.ts";
import { toInstanceRecord } from "../../instances/instance-rows.ts";
import { isAnswered, isRestarted, REPEATED } from "../../instances/repeated-change.ts";
import { toNumber } from "../../rows.ts";
import { integerArray } from "../array-literals.ts";
import type { Connection } from "../connection/connection.ts";
import type { PostgresClient, PostgresQueryable } from "../connection/driver.ts";
import { inTransactionOf } from "../connection/transaction.ts";
import { PostgresReceipts } from "../receipts.ts";
import { changeInstance, type InstanceChangeKind, restartInstanceWith } from "../sql/instances/instance-changes.ts";
import {
  DEPENDENT_TABLES,
  deleteInstance,
  findDeletedInstances,
  forgetDeletedInstances,
  giveUpSlot,
  purgeInstances,
  sweepDependents,
} from "../sql/instances/instance-deletes.ts";
import { dropProgress } from "../sql/instances/instance-history.ts";
import type { SchemaPrefix, Statement } from "../sql/statement.ts";
import { PostgresAwaitedEnds } from "./awaited-ends.ts";
import { endingHookColumns } from "./instance-columns.ts";
import { PostgresInstanceViews } from "./instance-views.ts";

/** How many dependents are deleted in one transaction. */
const MOST_ROWS = 5000;

/** How an operator, or the time, ends an instance. */
type AwaitedEnding =
  | { readonly status: "terminated" | "deleted" }
  | { readonly status: "errored"; readonly error: string };

/** Operators' changes of instances. */
export class PostgresInstanceOperations extends PostgresInstanceViews {
  protected readonly receipts: PostgresReceipts;
  protected readonly awaited: PostgresAwaitedEnds;

  constructor(connection: Connection, clock: Clock, schema: SchemaPrefix) {
    super(connection, clock, schema);
    this.receipts = new PostgresReceipts(connection, clock, schema);
    this.awaited = new PostgresAwaitedEnds(connection, clock, schema);
  }

  pause(instance: InstanceTarget, by: string | null = null): Promise<InstanceChange> {
    const { only } = instance;
    const more = [only?.ref ?? null, only?.run ?? null, by];
    return this.#once(instance, (on) => this.#change("pause", instance, { more, on }));
  }

  resume(instance: InstanceTarget): Promise<InstanceChange> {
    return this.#once(instance, (on) => this.#change("resume", instance, { on }));
  }

  terminate(instance: InstanceTarget, hook?: (run: number) => HookInsert): Promise<InstanceChange> {
    return this.#once(instance, (on) => this.#end("terminate", instance, hook, on));
  }

  rollBack(instance: InstanceTarget, hook?: (run: number) => HookInsert): Promise<InstanceChange> {
    return this.#once(instance, (on) => this.#end("rollBack", instance, hook, on));
  }

  async timeOut({ instance, ref, run, error, hook }: TimedOutRun): Promise<InstanceChange> {
    const { namespace, name, id } = instance;
    const hooks = endingHookColumns([{ ref, ...(hook && { hook }) }]);
    const values = [this.now(), namespace, name, id, ref, run, ...hooks, error];
    const end = (on?: PostgresClient) =>
      this.#changeWhole(changeInstance(this.schema, "timeOut", { hook: true, later: on !== undefined }), values, on);
    const change = await end();
    return change.changed ? change : this.#endAwaited(change, { status: "errored", error }, end, undefined);
  }

  restart(instance: InstanceTarget, request?: RestartRequest): Promise<InstanceChange> {
    return this.#once(instance, (on) => this.#restart(instance, request, on), isRestarted);
  }

  delete(instance: InstanceTarget): Promise<InstanceChange> {
    return this.#once(instance, async (on) => {
      const change = await this.#delete(instance, on);
      if (change.changed) return change;
      const [found = null] = await this.findOn([instance], on);
      const remove = (client: PostgresClient) => this.#delete(instance, client);
      return this.#endAwaited({ changed: false, instance: found }, { status: "deleted" }, remove, on);
    });
  }

  /** With a receipt, that and the change are one transaction. */
  async #once(
    { namespace, receipt }: InstanceTarget,
    change: (on?: PostgresClient) => Promise<InstanceChange>,
    isDone: (change: InstanceChange) => boolean = isAnswered,
  ): Promise<InstanceChange> {
    if (receipt === undefined) return change();
    return this.receipts.transaction(async (client) => {
      const receipted = [{ namespace, receipt }];
      if ((await this.receipts.write(receipted, client)).length === 0) return REPEATED;
      const changed = await change(client);
      if (!isDone(changed)) await this.receipts.withdraw(receipted, client);
      return changed;
    });
  }

  /**
   * The hook is made for a run, and the change is for that run only. So the statement is complete when it is sent, and the line
   * whose slot it frees isn't held while the hook is made. If the instance has got another run by then, it is read again.
   */
  async #end(
    kind: "terminate" | "rollBack",
    instance: InstanceTarget,
    hook: ((run: number) => HookInsert) | undefined,
    on: PostgresClient | undefined,
  ): Promise<InstanceChange> {
    const change = await this.#endNow(kind, instance, hook, on);
    if (change.changed) return change;
    return this.#endAwaited(
      change,
      { status: "terminated" },
      (client) => this.#endNow(kind, instance, hook, client),
      on,
    );
  }

  /** If others wait for the end of an instance, it was left alone: then this ends it and tells them. */
  async #endAwaited(
    unchanged: InstanceChange,
    ending: AwaitedEnding,
    end: (client: PostgresClient) => Promise<InstanceChange>,
    on: PostgresClient | undefined,
  ): Promise<InstanceChange> {
    const { instance } = unchanged;
    if (instance === null || !(await this.awaited.find([instance.ref], on)).has(instance.ref)) {
      return ending.status === "deleted" ? { changed: false, instance: null } : unchanged;
    }
    const endIn = async (client: PostgresClient) => {
      const change = await end(client);
      const { namespace, name, id, ref, run } = change.instance ?? instance;
      const ended = change.changed && (ending.status === "deleted" || change.instance?.status === ending.status);
      return { ends: ended ? [{ namespace, name, id, ref, run, ...ending }] : [], result: change };
    };
    const { result, woken } = await this.awaited.end([instance.ref], endIn, on);
    return { ...result, woken };
  }

  async #endNow(
    kind: "terminate" | "rollBack",
    instance: InstanceTarget,
    hook: ((run: number) => HookInsert) | undefined,
    on: PostgresClient | undefined,
  ): Promise<InstanceChange> {
    if (hook === undefined) return this.#change(kind, instance, { on });
    const { namespace, name, id, only } = instance;
    for (;;) {
      const [found = null] = only === undefined ? await this.findOn([instance], on) : [];
      const ended = only ?? found;
      if (ended === null || (found !== null && found.finishedAt !== null)) return { changed: false, instance: found };
      const hooks = endingHookColumns([{ ref: ended.ref, hook: hook(ended.run) }]);
      const values = [this.now(), namespace, name, id, ended.ref, ended.run, ...hooks];
      const statement = changeInstance(this.schema, kind, { hook: true, later: on !== undefined });
      const change = await this.#changeWhole(statement, values, on);
      if (only !== undefined || change.instance !== null) return change;
    }
  }

  async #restart(
    instance: InstanceTarget,
    request: RestartRequest | undefined,
    on: PostgresClient | undefined,
  ): Promise<InstanceChange> {
    const { statuses = null, params = null, keys = null, version = null, kept } = request ?? {};
    const newKeys = [keys !== null, keys?.slotKey ?? null, keys?.rateKey ?? null];
    const { namespace, name, id, only } = instance;
    const wanted = [only?.ref ?? null, only?.run ?? null];
    if (kept === undefined) {
      return this.#change("restart", instance, { more: [statuses, params, ...newKeys, ...wanted, version], on });
    }
    const values = [
      this.now(),
      namespace,
      name,
      id,
      integerArray(kept.positions),
      params,
      kept.run,
      kept.events === "all",
      ...wanted,
      integerArray(kept.places.map((place) => place ?? 0)),
      version,
    ];
    const statement = restartInstanceWith(this.schema, { later: on !== undefined });
    return toChange((await this.connection.run(statement, values, on)).rows[0]);
  }

  async #delete(
    { namespace, name, id, only }: InstanceTarget,
    on: PostgresClient | undefined,
  ): Promise<InstanceChange> {
    const values = [namespace, name, id, only?.ref ?? null, only?.run ?? null];
    if (on !== undefined) await this.run(giveUpSlot, values, on);
    return this.#changeWhole(deleteInstance(this.schema), [this.now(), ...values], on);
  }

  /** With `runWhole`, because these statements lock a line last, and are never sent often. */
  async #changeWhole(statement: Statement, values: unknown[], on: PostgresClient | undefined): Promise<InstanceChange> {
    const { connection } = this;
    const { rows } = await (on === undefined
      ? connection.runWhole(statement, values)
      : connection.run(statement, values, on));
    return toChange(rows[0]);
  }

  async purge(namespace: string, limit: number): Promise<number> {
    const { rows } = await this.run(purgeInstances, [this.now(), namespace, limit]);
    return toNumber(rows[0]?.count) + (await this.#sweep(limit));
  }

  async dropProgress({ ref, run, type, name, count, parent, from }: ProgressRange): Promise<void> {
    await this.run(dropProgress, [ref, run, from, type, name, count, parent]);
  }

  /** Deletes a limited number of dependents of deleted instances. Returns how many instances it looked at. */
  async #sweep(limit: number): Promise<number> {
    return inTransactionOf(this.connection, async (client) => {
      const { rows } = await this.run(findDeletedInstances, [this.now(), limit], client);
      const refs = rows.map((row) => row.ref as string);
      let room = MOST_ROWS;
      for (const table of DEPENDENT_TABLES) {
        if (refs.length === 0 || room === 0) return refs.length;
        room -= (await this.run(sweepDependents(table), [refs, room], client)).rowCount ?? 0;
      }
      if (room > 0) await this.run(forgetDeletedInstances, [this.now(), refs], client);
      return refs.length;
    });
  }

  async #change(
    kind: InstanceChangeKind,
    { namespace, name, id, only }: InstanceTarget,
    {
      more = [only?.ref ?? null, only?.run ?? null],
      on,
    }: { readonly more?: readonly unknown[]; readonly on?: PostgresQueryable | undefined } = {},
  ): Promise<InstanceChange> {
    const values = [this.now(), namespace, name, id, ...more];
    const statement = changeInstance(this.schema, kind, { later: on !== undefined });
    return toChange((await this.connection.run(statement, values, on)).rows[0]);
  }
}

function toChange(row: Record<string, unknown> | undefined): InstanceChange {
  if (row === undefined) return { changed: false, instance: null };
  return { changed: row.changed === true, instance: toInstanceRecord(row) };
}
