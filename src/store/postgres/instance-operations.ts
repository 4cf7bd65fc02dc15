import type { HookInsert, HookScope } from "../hook-records.ts";
import type {
  HistoryEntry,
  HistoryFilter,
  InstanceChange,
  InstanceFilter,
  InstanceName,
  InstancePosition,
  InstanceRecord,
  PastRun,
  ProgressRange,
} from "../instance-records.ts";
import { toHistoryEntry, toInstancePosition, toInstanceRecord, toPastRun } from "../instance-rows.ts";
import { toNumber } from "../rows.ts";
import { textArray } from "./array-literals.ts";
import type { PostgresQueryable } from "./driver.ts";
import { hookColumns } from "./hook-columns.ts";
import { nameColumns } from "./instance-columns.ts";
import { changeInstance, type InstanceChangeKind } from "./sql/change-instance.ts";
import { deleteBelongings } from "./sql/delete-belongings.ts";
import { deleteInstance } from "./sql/delete-instance.ts";
import { dropProgress } from "./sql/drop-progress.ts";
import { findInstances } from "./sql/find-instances.ts";
import { freeSlot } from "./sql/free-slot.ts";
import { insertHooks } from "./sql/insert-hooks.ts";
import { listInstances } from "./sql/list-instances.ts";
import { readHistory } from "./sql/read-history.ts";
import { readPastRuns } from "./sql/read-past-runs.ts";
import { readPositions } from "./sql/read-positions.ts";
import { unknownNames } from "./sql/unknown-names.ts";
import { PostgresStatements } from "./statements.ts";
import { inTransaction } from "./transaction.ts";

/** How people look at instances, and what they do to them. */
export class PostgresInstanceOperations extends PostgresStatements {
  pause(instance: InstanceName): Promise<InstanceChange> {
    return this.#change("pause", instance);
  }

  resume(instance: InstanceName): Promise<InstanceChange> {
    return this.#change("resume", instance);
  }

  async terminate(instance: InstanceName, hook?: (run: number) => HookInsert): Promise<InstanceChange> {
    if (hook === undefined) return this.#change("terminate", instance);
    const client = await this.connection.checkOut();
    return inTransaction(client, async () => {
      const change = await this.#change("terminate", instance, client);
      if (change.instance === null || !change.changed) return change;
      await this.run(insertHooks, [this.now(), ...hookColumns([hook(change.instance.run)])], client);
      return change;
    });
  }

  restart(instance: InstanceName): Promise<InstanceChange> {
    return this.#change("restart", instance);
  }

  /** Two statements: the second sees what was written while the first waited for the row. */
  async delete({ namespace, name, id }: InstanceName): Promise<InstanceChange> {
    const client = await this.connection.checkOut();
    return inTransaction(client, async () => {
      const { rows } = await this.run(deleteInstance, [namespace, name, id], client);
      if (rows[0] === undefined) return { changed: false, instance: null };
      const instance = toInstanceRecord(rows[0]);
      await this.run(deleteBelongings, [instance.ref], client);
      if (rows[0].held_slot !== null) await this.run(freeSlot, [this.now(), rows[0].held_slot], client);
      return { changed: true, instance };
    });
  }

  async find(instances: readonly InstanceName[]): Promise<(InstanceRecord | null)[]> {
    if (instances.length === 0) return [];
    const { rows } = await this.run(findInstances, nameColumns(instances));
    const found = new Map(rows.map((row) => [toNumber(row.place), toInstanceRecord(row)]));
    return instances.map((_, index) => found.get(index + 1) ?? null);
  }

  async positions(refs: readonly string[]): Promise<(InstancePosition | null)[]> {
    if (refs.length === 0) return [];
    const { rows } = await this.run(readPositions, [textArray(refs)]);
    const found = new Map(rows.map((row) => [toNumber(row.place), toInstancePosition(row)]));
    return refs.map((_, index) => found.get(index + 1) ?? null);
  }

  async list(filter: InstanceFilter): Promise<InstanceRecord[]> {
    const { namespace, name, createdFrom, createdBefore, after, limit } = filter;
    const statement = listInstances(this.schema, filter.status, filter.order);
    const values = [namespace, name, createdFrom, createdBefore, after, limit];
    const { rows } = await this.connection.run(statement, values);
    return rows.map(toInstanceRecord);
  }

  async history({ ref, run, after, order, limit, dropped = false }: HistoryFilter): Promise<HistoryEntry[]> {
    const values = [ref, run, after?.run ?? null, after?.position ?? null, limit, dropped];
    const { rows } = await this.connection.run(readHistory(this.schema, order), values);
    return rows.map(toHistoryEntry);
  }

  async pastRuns(ref: string): Promise<PastRun[]> {
    const { rows } = await this.run(readPastRuns, [ref]);
    return rows.map(toPastRun);
  }

  async dropProgress({ ref, run, type, name, count, parent, from }: ProgressRange): Promise<void> {
    await this.run(dropProgress, [ref, run, from, type, name, count, parent]);
  }

  async unknownNames({ namespace, names }: HookScope): Promise<string[]> {
    const { rows } = await this.run(unknownNames, [namespace, names]);
    return rows.map((row) => row.name as string);
  }

  async #change(
    kind: InstanceChangeKind,
    { namespace, name, id }: InstanceName,
    on?: PostgresQueryable,
  ): Promise<InstanceChange> {
    const values = [this.now(), namespace, name, id];
    const { rows } = await this.connection.run(changeInstance(this.schema, kind), values, on);
    return rows[0] === undefined
      ? { changed: false, instance: null }
      : { changed: rows[0].changed === true, instance: toInstanceRecord(rows[0]) };
  }
}
