import type { TakenRelay } from "../engine.ts";
import type { ForeignStatement } from "../foreign-transaction.ts";
import type { Sending } from "../group-commit.ts";
import type { HookAdmitRequest, HookLinePlace, HookLineQuestion } from "../hooks/hook-lines.ts";
import { delayOf, isUnwanted } from "../hooks/hook-outcome.ts";
import type {
  ClaimedHook,
  HookCount,
  HookFilter,
  HookInsert,
  HookLease,
  HookRecord,
  HookReference,
  HookSearch,
  HookSettlement,
  HookStatistics,
  SearchedHook,
  SettleResult,
} from "../hooks/hook-records.ts";
import {
  toClaimedHook,
  toHookRecord,
  toLease,
  toSearchedHook,
  toSettleResult,
  toStatistics,
} from "../hooks/hook-rows.ts";
import type { CancelTarget, HookStatements, InsertResult } from "../hooks/hook-statements.ts";
import type { ClaimRequest, QueueScope, WakeQuestion } from "../queue/claim-request.ts";
import { hookLanes } from "../queue/lanes.ts";
import { endOfPrefix } from "../text-order.ts";
import type { SqliteAccess, SqliteDriver } from "./drivers/driver.ts";
import { SqliteHookAdmission } from "./hook-admission.ts";
import { findDue, findNextWake } from "./queue-reads.ts";
import {
  DISCARD_HOOK,
  GET_HOOK,
  HOOK_STATISTICS,
  listHooks,
  PURGE_HOOKS,
  REDRIVE_HOOK,
  searchHooks,
} from "./sql/hooks-operate.ts";
import {
  CLAIM_HOOKS,
  COUNT_HOOK,
  DELETE_COMPLETED_HOOKS,
  FIND_DUE_HOOKS,
  FIND_LOST_HOOKS,
  FIND_SETTLED_HOOK,
  RENEW_HOOK,
  SETTLE_HOOK,
} from "./sql/hooks-run.ts";
import {
  CANCEL_TARGETS,
  cancelNextTriggers,
  cancelPendingHooks,
  FIND_TRIGGERED_HOOK,
  hookValues,
  INSERT_HOOK,
  INSERT_KEYED_HOOK,
  keyedHookValues,
} from "./sql/hooks-trigger.ts";
import { expireLeases, findLeased, leaseTokens, nextWake } from "./sql/queue.ts";

type Row = Record<string, unknown>;

const DUE = { due: FIND_DUE_HOOKS, lostOnce: FIND_LOST_HOOKS };
const NEXT_WAKE = {
  plain: nextWake("perdure_hook", { unclaimed: false }),
  unclaimed: nextWake("perdure_hook", { unclaimed: true }),
};
const LEASE_TOKENS = leaseTokens("perdure_hook");
const FIND_LEASED = findLeased("perdure_hook");
const EXPIRE_LEASES = expireLeases("perdure_hook");

/** A batch is a loop of prepared statements in one transaction: without a network between, that is the fastest there is. */
export class SqliteHookStatements implements HookStatements {
  readonly #access: SqliteAccess;
  readonly #driver: SqliteDriver;
  readonly #admission: SqliteHookAdmission;

  constructor(access: SqliteAccess) {
    this.#access = access;
    this.#admission = new SqliteHookAdmission(access);
    this.#driver = access.driver;
  }

  async insert(hooks: readonly HookInsert[]): Promise<InsertResult[]> {
    return hooks.length === 0 ? [] : this.#access.write(() => this.insertNow(hooks));
  }

  /** Inside a transaction that is already open. */
  insertNow(hooks: readonly HookInsert[]): InsertResult[] {
    const now = this.#access.now();
    return hooks.map((hook) => (hook.key === null ? this.#insertPlain(hook, now) : this.#insertKeyed(hook, now)));
  }

  async claim(request: ClaimRequest): Promise<ClaimedHook[]> {
    const lanes = hookLanes(request.scopes, request.takeOver);
    if (lanes.length === 0 || request.limit <= 0) return [];
    const { mostLost } = request;
    const find = (limit: number, now: number) => findDue(this.#driver, DUE, { lanes, limit, mostLost, now });
    // Looking first keeps idle claimers from taking the write lock.
    const due = await this.#access.read(() => find(1, this.#access.now()));
    if (due.length === 0) return [];
    return this.#access.write(() => {
      const now = this.#access.now();
      return this.#claimFound(find(request.limit, now), request, now);
    });
  }

  admit(request: HookAdmitRequest): Promise<ClaimedHook[]> {
    return this.#admission.admit(request);
  }

  forgetStarts(keptMs: number): Promise<number> {
    return this.#admission.forgetStarts(keptMs);
  }

  async renew(leases: readonly HookLease[], leaseMs: number): Promise<HookLease[]> {
    if (leases.length === 0) return [];
    return this.#access.write(() => {
      const until = this.#access.now() + leaseMs;
      return leases.filter(
        ({ namespace, id, lock }) => this.#driver.run(RENEW_HOOK, [until, namespace, id, lock]) === 1,
      );
    });
  }

  async settle(settlements: readonly HookSettlement[], sending?: Sending): Promise<SettleResult[]> {
    if (settlements.length === 0) return [];
    return this.#access.write(() => this.settleNow(settlements, { resent: sending?.resent ?? true }));
  }

  /**
   * Inside a transaction that is already open. A hook that was settled before is `lost`, unless this settlement is sent again.
   */
  settleNow(settlements: readonly HookSettlement[], { resent }: Sending): SettleResult[] {
    const now = this.#access.now();
    const deleted = this.#deleteCompleted(settlements);
    return settlements.map((settlement) => {
      const { namespace, lock, id } = settlement;
      if (deleted.has(`${namespace} ${lock} ${id}`)) return "deleted";
      return this.#settleOne(settlement, now) ?? (resent ? this.#findSettled(settlement) : "lost");
    });
  }

  foreignInsert(hook: HookInsert): ForeignStatement {
    const now = this.#access.now();
    return hook.key === null
      ? { text: INSERT_HOOK, parameters: hookValues(hook, now) }
      : { text: INSERT_KEYED_HOOK, parameters: keyedHookValues(hook, now) };
  }

  /** Inside of a transaction that is open already. Here relays need no order: only a simulated PostgreSQL has them. */
  takeRelayNow({ namespace, id, lock }: HookLease): TakenRelay[] {
    const relay = this.#driver.all(GET_HOOK, [namespace, id])[0];
    const settlement = { namespace, id, lock, keyed: false, outcome: { kind: "completed", keepMs: 0 } } as const;
    const [result] = this.settleNow([settlement], { resent: false });
    if (relay === undefined || result === "lost") return [];
    return [{ payload: relay.payload as string, createdAt: Number(relay.created_at) }];
  }

  nextWake(scopes: readonly QueueScope[], { takeOver, inLine, ...question }: WakeQuestion): Promise<number | null> {
    return findNextWake(this.#access, NEXT_WAKE, hookLanes(scopes, takeOver, inLine), question);
  }

  async leaseTokens(namespaces: readonly string[]): Promise<string[]> {
    const rows = await this.#access.read(() => this.#driver.all(LEASE_TOKENS, [JSON.stringify(namespaces)]));
    return rows.map((row) => row.lock as string);
  }

  async count(counts: readonly HookCount[]): Promise<boolean[]> {
    if (counts.length === 0) return [];
    return this.#access.write(() =>
      counts.map(({ namespace, id, lock, attempts, recoveries, begins }) => {
        return this.#driver.run(COUNT_HOOK, [attempts, recoveries, Number(begins), namespace, id, lock]) === 1;
      }),
    );
  }

  async findLeased(namespaces: readonly string[], locks: readonly string[]): Promise<HookLease[]> {
    const parameters = [JSON.stringify(namespaces), JSON.stringify(locks)];
    return (await this.#access.read(() => this.#driver.all(FIND_LEASED, parameters))).map(toLease);
  }

  async expireLeases(namespaces: readonly string[], locks: readonly string[]): Promise<number> {
    if (locks.length === 0) return 0;
    const parameters = [this.#access.now(), JSON.stringify(namespaces), JSON.stringify(locks)];
    return this.#access.write(() => this.#driver.run(EXPIRE_LEASES, parameters));
  }

  async get({ namespace, id }: HookReference): Promise<HookRecord | null> {
    const [row] = await this.#access.read(() => this.#driver.all(GET_HOOK, [namespace, id]));
    return row ? toHookRecord(row) : null;
  }

  placeInLine(question: HookLineQuestion): Promise<HookLinePlace> {
    return this.#admission.placeInLine(question);
  }

  async list(filter: HookFilter): Promise<HookRecord[]> {
    const { namespace, status, after, order, limit } = filter;
    const statement = listHooks(status, order, { paged: after !== null });
    const parameters = [namespace, limit, ...(after === null ? [] : [after])];
    const rows = await this.#access.read(() => this.#driver.all(statement, parameters));
    return rows.map(toHookRecord);
  }

  async find(namespace: string, ids: readonly string[]): Promise<HookRecord[]> {
    const rows = await this.#access.read(() => ids.flatMap((id) => this.#driver.all(GET_HOOK, [namespace, id])));
    return rows.map(toHookRecord);
  }

  async search(search: HookSearch): Promise<SearchedHook[]> {
    const { namespace, status, name, idPrefix, createdFrom, createdBefore, after, order, limit, errors } = search;
    const statement = searchHooks({
      order,
      paged: after !== null,
      prefixed: idPrefix !== null,
      failed: status === "failed",
    });
    const range = [idPrefix, idPrefix === null ? null : endOfPrefix(idPrefix)];
    const parameters = [namespace, limit, after, ...range, status, name, createdFrom, createdBefore, Number(errors)];
    return (await this.#access.read(() => this.#driver.all(statement, parameters))).map(toSearchedHook);
  }

  async statistics(namespace: string): Promise<HookStatistics> {
    const [row] = await this.#access.read(() => this.#driver.all(HOOK_STATISTICS, [this.#access.now(), namespace]));
    return toStatistics(row ?? {});
  }

  async redrive(namespace: string, ids: readonly string[]): Promise<string[]> {
    const now = this.#access.now();
    return this.#access.write(() => ids.filter((id) => this.#driver.run(REDRIVE_HOOK, [now, namespace, id]) === 1));
  }

  async discard(namespace: string, ids: readonly string[]): Promise<string[]> {
    return this.#access.write(() => ids.filter((id) => this.#driver.run(DISCARD_HOOK, [namespace, id]) === 1));
  }

  async cancel(namespace: string, target: CancelTarget): Promise<{ cancelled: string[]; running: string[] }> {
    const condition = "id" in target ? CANCEL_TARGETS.id : CANCEL_TARGETS.key;
    const parameters = "id" in target ? [namespace, target.id] : [namespace, target.key, target.name];
    const idOf = (row: Row) => row.id as string;
    return this.#access.write(() => ({
      cancelled: this.#driver.all(cancelPendingHooks(condition), parameters).map(idOf),
      running: this.#driver.all(cancelNextTriggers(condition), parameters).map(idOf),
    }));
  }

  async purge(namespace: string, limit: number): Promise<number> {
    return this.#access.write(() => this.#driver.run(PURGE_HOOKS, [namespace, this.#access.now(), limit]));
  }

  #insertPlain(hook: HookInsert, at: number): InsertResult {
    if (this.#driver.run(INSERT_HOOK, hookValues(hook, at)) === 1) return { result: "inserted", id: hook.id, at };
    return this.#knownResult(hook, at);
  }

  #insertKeyed(hook: HookInsert, at: number): InsertResult {
    const [row] = this.#driver.all(INSERT_KEYED_HOOK, keyedHookValues(hook, at));
    if (row === undefined) return this.#knownResult(hook, at);
    const id = row.id as string;
    return { result: id === hook.id ? "inserted" : "collapsed", id, at };
  }

  /** Sent before, with the reply lost, or an id of the caller's own. A row that carries our lease is ours all the same. */
  #knownResult({ namespace, id, name, key, lease }: HookInsert, now: number): InsertResult {
    const [row] = this.#driver.all(FIND_TRIGGERED_HOOK, [namespace, id, name, key]);
    if (row === undefined) return { result: "existing", id, at: now };
    const ours = lease !== null && row.lock === lease.lock;
    return { result: ours ? "inserted" : "existing", id: row.id as string, at: Number(row.created_at) };
  }

  #claimFound(rows: readonly Row[], { lock, leaseMs }: ClaimRequest, now: number): ClaimedHook[] {
    for (const [namespace, found] of Map.groupBy(rows, (row) => row.namespace as string)) {
      const ids = JSON.stringify(found.map((row) => row.id));
      this.#driver.run(CLAIM_HOOKS, [lock, now + leaseMs, now, namespace, ids]);
    }
    return rows.map((row) => {
      row.recoveries = Number(row.recoveries) + Number(row.lock !== null && Boolean(row.confirmed));
      row.attempts = Number(row.attempts) + Number(!row.in_doubt);
      row.lock = lock;
      row.claimed_at = now;
      return toClaimedHook(row);
    });
  }

  /** Deletes completed hooks without retention, with one statement per owner. All other hooks are settled one by one. */
  #deleteCompleted(settlements: readonly HookSettlement[]): Set<string> {
    const deleted = new Set<string>();
    const unwanted = settlements.filter(({ outcome }) => isUnwanted(outcome));
    for (const [owner, owned] of Map.groupBy(unwanted, ({ namespace, lock }) => `${namespace} ${lock}`)) {
      const { namespace, lock } = owned[0] as HookSettlement;
      const ids = JSON.stringify(owned.map(({ id }) => id));
      for (const row of this.#driver.all(DELETE_COMPLETED_HOOKS, [namespace, ids, lock]))
        deleted.add(`${owner} ${row.id}`);
    }
    return deleted;
  }

  #settleOne({ namespace, id, lock, outcome }: HookSettlement, now: number): SettleResult | null {
    const error = "error" in outcome ? outcome.error : null;
    const [row] = this.#driver.all(SETTLE_HOOK, [outcome.kind, now, delayOf(outcome), error, namespace, id, lock]);
    return row ? toSettleResult(row) : null;
  }

  /** A row without an owner was settled by this call before, and the reply was lost. Otherwise another owner has it. */
  #findSettled({ namespace, id, outcome }: HookSettlement): SettleResult {
    const [settled] = this.#driver.all(FIND_SETTLED_HOOK, [namespace, id]);
    if (settled === undefined) return isUnwanted(outcome) ? "deleted" : "lost";
    return settled.lock === null ? toSettleResult(settled) : "lost";
  }
}
