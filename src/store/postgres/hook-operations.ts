import { type HookLinePlace, type HookLineQuestion, placesBefore, usedUpStart } from "../hooks/hook-lines.ts";
import type {
  HookFilter,
  HookRecord,
  HookReference,
  HookSearch,
  HookStatistics,
  SearchedHook,
} from "../hooks/hook-records.ts";
import { toHookRecord, toLinePlace, toSearchedHook, toStatistics } from "../hooks/hook-rows.ts";
import type { CancelTarget } from "../hooks/hook-statements.ts";
import { MOST_AHEAD } from "../instances/instance-records.ts";
import { endOfPrefix } from "../text-order.ts";
import { integerArray, textArray } from "./array-literals.ts";
import { isUniqueViolation } from "./errors.ts";
import { readHookLine } from "./sql/hooks/hook-lines.ts";
import {
  cancelHooks,
  discardHooks,
  findHooks,
  getHook,
  hookStatistics,
  listHooks,
  purgeHooks,
  redriveHooks,
  searchHooks,
} from "./sql/hooks/hook-operations.ts";
import { PostgresStatements } from "./statements.ts";

/** Operators' reads and changes of hooks. */
export class PostgresHookOperations extends PostgresStatements {
  async get({ namespace, id }: HookReference): Promise<HookRecord | null> {
    const { rows } = await this.run(getHook, [namespace, id]);
    return rows[0] ? toHookRecord(rows[0]) : null;
  }

  async placeInLine(question: HookLineQuestion): Promise<HookLinePlace> {
    const before = placesBefore(question);
    const classes = integerArray(before.map((place) => place.class));
    const times = integerArray(before.map((place) => place.availableAt));
    const ids = textArray(before.map((place) => place.id));
    const values = [question.lineKey, classes, times, ids, MOST_AHEAD, ...usedUpStart(question)];
    const { rows } = await this.run(readHookLine, values);
    return toLinePlace(rows[0] ?? {});
  }

  async list(filter: HookFilter): Promise<HookRecord[]> {
    const statement = listHooks(this.schema, filter.status, filter.order, { paged: filter.after !== null });
    const values = [filter.namespace, filter.after, filter.limit];
    const { rows } = await this.connection.run(statement, values);
    return rows.map(toHookRecord);
  }

  async find(namespace: string, ids: readonly string[]): Promise<HookRecord[]> {
    if (ids.length === 0) return [];
    const { rows } = await this.run(findHooks, [namespace, ids]);
    return rows.map(toHookRecord);
  }

  async search(search: HookSearch): Promise<SearchedHook[]> {
    const { namespace, limit, after, idPrefix, status, name, createdFrom, createdBefore } = search;
    const range = [idPrefix, idPrefix === null ? null : endOfPrefix(idPrefix)];
    const values = [namespace, limit, after, ...range, status, name, createdFrom, createdBefore];
    const { rows } = await this.connection.run(searchHooks(this.schema, search), values);
    return rows.map(toSearchedHook);
  }

  async statistics(namespace: string): Promise<HookStatistics> {
    const { rows } = await this.run(hookStatistics, [this.now(), namespace]);
    return toStatistics(rows[0] ?? {});
  }

  async redrive(namespace: string, ids: readonly string[]): Promise<string[]> {
    try {
      const { rows } = await this.run(redriveHooks, [this.now(), namespace, ids]);
      return rows.map((row) => row.id as string);
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      if (ids.length <= 1) return []; // a trigger took its key meanwhile
      const redriven: string[] = [];
      for (const id of ids) redriven.push(...(await this.redrive(namespace, [id])));
      return redriven;
    }
  }

  async discard(namespace: string, ids: readonly string[]): Promise<string[]> {
    const { rows } = await this.run(discardHooks, [namespace, ids]);
    return rows.map((row) => row.id as string);
  }

  async cancel(namespace: string, target: CancelTarget): Promise<{ cancelled: string[]; running: string[] }> {
    const { rows } =
      "id" in target
        ? await this.connection.run(cancelHooks(this.schema, "id"), [namespace, target.id])
        : await this.connection.run(cancelHooks(this.schema, "key"), [namespace, target.key, target.name]);
    const idsWhere = (cancelled: boolean) =>
      rows.filter((row) => row.cancelled === cancelled).map((row) => row.id as string);
    return { cancelled: idsWhere(true), running: idsWhere(false) };
  }

  async purge(namespace: string, limit: number): Promise<number> {
    const { rowCount } = await this.run(purgeHooks, [this.now(), namespace, limit]);
    return rowCount ?? 0;
  }
}
