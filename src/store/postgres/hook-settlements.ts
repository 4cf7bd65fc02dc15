import type { Sending } from "../group-commit.ts";
import { delayOf, isUnwanted } from "../hooks/hook-outcome.ts";
import type { HookSettlement, SettleResult } from "../hooks/hook-records.ts";
import { toSettleResult } from "../hooks/hook-rows.ts";
import { textArray } from "./array-literals.ts";
import type { PostgresQueryable } from "./connection/driver.ts";
import { leaseColumns, referenceColumns } from "./hook-columns.ts";
import { PostgresHookOperations } from "./hook-operations.ts";
import { byReference } from "./instances/locking-order.ts";
import {
  deleteClaimedHooks,
  deleteCompletedHooks,
  deleteFinishedHooks,
  findSettledHooks,
  settleHooks,
} from "./sql/hooks/hook-outcomes.ts";

/** From how many claims on the hooks of a flush are deleted by one statement that names the token of each. */
const MOST_CLAIMS = 3;

/** How hooks are settled. */
export class PostgresHookSettlements extends PostgresHookOperations {
  /**
   * In a transaction, which isn't sent again, every result must be exact, so rows are updated: a deletion doesn't tell whether
   * it was lost.
   */
  async settle(
    settlements: readonly HookSettlement[],
    { resent = true }: Partial<Sending> = {},
    on?: PostgresQueryable,
  ): Promise<SettleResult[]> {
    const results = new Map<HookSettlement, SettleResult>();
    if (on !== undefined) {
      await this.#update(settlements, results, { resent: false }, on);
    } else {
      const unwanted = settlements.filter(({ outcome }) => isUnwanted(outcome));
      const again = [
        ...(await this.#deleteCompleted(unwanted, { keyed: false }, results)),
        ...(await this.#deleteCompleted(unwanted, { keyed: true }, results)),
      ];
      const others = settlements.filter(({ outcome }) => !isUnwanted(outcome));
      await this.#update([...others, ...again], results, { resent });
    }
    return settlements.map((settlement) => results.get(settlement) ?? "lost");
  }

  /** Returns those that still exist: their keys were triggered meanwhile, or they have another owner. */
  async #deleteCompleted(
    completed: readonly HookSettlement[],
    { keyed }: { keyed: boolean },
    results: Map<HookSettlement, SettleResult>,
  ): Promise<HookSettlement[]> {
    const settlements = completed.filter((settlement) => settlement.keyed === keyed).sort(byReference);
    if (settlements.length === 0) return [];
    const deleted = keyed ? await this.#deleteEach(settlements, true) : await this.#deleteByClaim(settlements);
    for (const settlement of settlements) results.set(settlement, "deleted");
    if (deleted === settlements.length) return [];
    // A missing row was deleted by the first sending, whose reply was lost.
    const { rows } = await this.run(findSettledHooks, referenceColumns(settlements));
    const left = new Set(rows.map((row) => `${row.namespace} ${row.id}`));
    return settlements.filter(({ namespace, id }) => left.has(`${namespace} ${id}`));
  }

  /** A flush has the hooks of a few claims, of one or two namespaces. */
  async #deleteByClaim(settlements: readonly HookSettlement[]): Promise<number> {
    const claims = Map.groupBy(settlements, ({ namespace, lock }) => `${namespace} ${lock}`);
    if (claims.size > MOST_CLAIMS) return this.#deleteEach(settlements, false);
    let deleted = 0;
    for (const claimed of claims.values()) {
      const { namespace, lock } = claimed[0] as HookSettlement;
      const ids = textArray(claimed.map(({ id }) => id));
      deleted += (await this.run(deleteClaimedHooks, [namespace, ids, lock])).rowCount ?? 0;
    }
    return deleted;
  }

  async #deleteEach(settlements: readonly HookSettlement[], keyed: boolean): Promise<number> {
    const statement = deleteCompletedHooks(this.schema, { keyed });
    return (await this.connection.run(statement, leaseColumns(settlements))).rowCount ?? 0;
  }

  async #update(
    settlements: readonly HookSettlement[],
    results: Map<HookSettlement, SettleResult>,
    { resent }: Sending,
    on?: PostgresQueryable,
  ): Promise<void> {
    if (settlements.length === 0) return;
    const values = [
      this.now(),
      ...leaseColumns(settlements),
      settlements.map(({ outcome }) => outcome.kind),
      settlements.map(({ outcome }) => delayOf(outcome)),
      settlements.map(({ outcome }) => ("error" in outcome ? outcome.error : null)),
    ];
    const { rows } = await this.run(settleHooks, values, on);
    const written = new Map(rows.map((row) => [`${row.namespace} ${row.id}`, toSettleResult(row)]));
    if (written.size < settlements.length && resent) {
      // A row without an owner was settled by the first sending, whose reply was lost. Otherwise another worker owns it.
      const settled = await this.run(findSettledHooks, referenceColumns(settlements));
      for (const row of settled.rows) {
        const reference = `${row.namespace} ${row.id}`;
        if (!written.has(reference)) written.set(reference, row.lock === null ? toSettleResult(row) : "lost");
      }
    }
    const toDelete: HookSettlement[] = [];
    for (const settlement of settlements) {
      const result = written.get(`${settlement.namespace} ${settlement.id}`) ?? "lost";
      const unwanted = result === "completed" && isUnwanted(settlement.outcome);
      if (unwanted) toDelete.push(settlement);
      results.set(settlement, unwanted ? "deleted" : result);
    }
    if (toDelete.length > 0) await this.run(deleteFinishedHooks, referenceColumns(toDelete), on);
  }
}
