import type { Clock } from "../../clock.ts";
import { StoreError } from "../../errors.ts";
import type { TakenRelay } from "../engine.ts";
import { HOOK_KEYS, type HookAdmitRequest, MOST_HOOK_KEYS } from "../hooks/hook-lines.ts";
import type { ClaimedHook, HookCount, HookInsert, HookLease, HookReference } from "../hooks/hook-records.ts";
import { toClaimedHook, toLease } from "../hooks/hook-rows.ts";
import type { HookStatements, InsertResult } from "../hooks/hook-statements.ts";
import type { ClaimRequest, QueueScope, WakeQuestion } from "../queue/claim-request.ts";
import { hookLanes } from "../queue/lanes.ts";
import { toNumber } from "../rows.ts";
import { integerArray, textArray } from "./array-literals.ts";
import { ClaimProgress, claimLanes } from "./claim-lanes.ts";
import type { Companion } from "./connection/accompanied-query.ts";
import type { Connection } from "./connection/connection.ts";
import { askDedicated, type Carrier, type DedicatedConnection } from "./connection/dedicated-connection.ts";
import type { PostgresQueryable, PostgresResult } from "./connection/driver.ts";
import { withinSavepoint } from "./connection/transaction.ts";
import { isUniqueViolation } from "./errors.ts";
import { hookColumns, leaseColumns, referenceColumns } from "./hook-columns.ts";
import { PostgresHookSettlements } from "./hook-settlements.ts";
import { byReference, inOrder } from "./instances/locking-order.ts";
import { askNextWake } from "./next-wake.ts";
import { findTriggeredHooks, insertHooks, insertKeyedHooks, insertNewHooks } from "./sql/hooks/hook-inserts.ts";
import { claimHooks, countHooks, renewHooks } from "./sql/hooks/hook-leases.ts";
import { admitHooks, forgetHookStarts } from "./sql/hooks/hook-lines.ts";
import { takeRelays } from "./sql/hooks/hook-outcomes.ts";
import { expireLeases, findLeased, leaseTokens } from "./sql/queue.ts";
import type { SchemaPrefix } from "./sql/statement.ts";

type Row = Record<string, unknown>;

/** Hooks that are due later than this are found by polling, and not announced. */
const ANNOUNCED_AHEAD_MS = 60_000;

const MOST_FORGOTTEN = 1000;
/** How hooks are triggered, claimed and renewed. */
export class PostgresHookStatements extends PostgresHookSettlements implements HookStatements {
  readonly #progress: ClaimProgress;
  readonly #dedicated: DedicatedConnection & Carrier;

  constructor(connection: Connection, clock: Clock, schema: SchemaPrefix, dedicated: DedicatedConnection & Carrier) {
    super(connection, clock, schema);
    this.#progress = new ClaimProgress(clock);
    this.#dedicated = dedicated;
  }

  async insert(hooks: readonly HookInsert[], on?: PostgresQueryable): Promise<InsertResult[]> {
    if (hooks.length === 0) return [];
    const carried = this.#dedicated.carry?.(
      hooks.filter((hook) => this.#isDueSoon(hook)).map(({ namespace }) => namespace),
    );
    const keyed = hooks.some((hook) => hook.key !== null);
    return keyed ? this.#insertKeyed(hooks, on, carried) : this.#insertPlain(hooks, on, carried);
  }

  /**
   * Inserts in a transaction that can't be run again. If other transactions are inserting the same hooks, the insert is tried
   * again from a savepoint: rolling back to it releases the locks of a deadlock and keeps the transaction's earlier work.
   */
  async insertWithin(transaction: PostgresQueryable, hooks: readonly HookInsert[]): Promise<InsertResult[]> {
    if (hooks.every(({ key, ownId }) => key === null && !ownId)) return this.insert(hooks, transaction);
    return withinSavepoint(transaction, () => this.insert(hooks, transaction));
  }

  /** In a transaction that does what they say. */
  async takeRelays(transaction: PostgresQueryable, { namespace, id, lock }: HookLease): Promise<TakenRelay[]> {
    const { rows } = await this.run(takeRelays, [namespace, id, lock], transaction);
    return rows.map((row) => ({ payload: row.payload as string, createdAt: toNumber(row.created_at) }));
  }

  async claim(request: ClaimRequest): Promise<ClaimedHook[]> {
    const send = (values: unknown[]) => this.run(claimHooks, [this.now(), ...values]);
    return (await claimLanes("hook", request, this.#progress, send)).map(toClaimedHook);
  }

  async admit({ namespace, hooks, room, lock, leaseMs, after }: HookAdmitRequest): Promise<ClaimedHook[]> {
    if (room <= 0 || hooks.length === 0) return [];
    const limits = [
      textArray(hooks.map(({ name }) => name)),
      integerArray(hooks.map((hook) => hook.limits.slots)),
      integerArray(hooks.map((hook) => hook.limits.starts?.limit ?? null)),
      integerArray(hooks.map((hook) => hook.limits.starts?.periodMs ?? null)),
    ];
    const values = [this.now(), namespace, ...limits, room, lock, leaseMs, after, MOST_HOOK_KEYS];
    const { rows } = await this.connection.runWhole(admitHooks(this.schema), values);
    return rows.map(toClaimedHook);
  }

  async forgetStarts(keptMs: number): Promise<number> {
    const values = [this.now(), HOOK_KEYS.from, HOOK_KEYS.to, keptMs, MOST_FORGOTTEN];
    return (await this.run(forgetHookStarts, values)).rowCount ?? 0;
  }

  async renew(leases: readonly HookLease[], leaseMs: number): Promise<HookLease[]> {
    if (leases.length === 0) return [];
    const values = [this.now(), leaseMs, ...leaseColumns(leases)];
    const { rows } = await askDedicated(this.#dedicated, (on) => this.run(renewHooks, values, on));
    return rows.map(toLease);
  }

  nextWake(scopes: readonly QueueScope[], { takeOver, inLine, ...question }: WakeQuestion): Promise<number | null> {
    const lanes = hookLanes(scopes, takeOver, inLine);
    return askNextWake("hook", lanes, question, this.#progress.horizon, (query, values) =>
      this.run(query, [this.now(), ...values]),
    );
  }

  async leaseTokens(namespaces: readonly string[]): Promise<string[]> {
    const { rows } = await this.run(leaseTokens("hook"), [namespaces]);
    return rows.map((row) => row.lock as string);
  }

  async count(counts: readonly HookCount[]): Promise<boolean[]> {
    if (counts.length === 0) return [];
    const values = [
      ...leaseColumns(counts),
      counts.map(({ attempts }) => attempts),
      counts.map(({ recoveries }) => recoveries),
      counts.map(({ begins }) => begins),
    ];
    const { rows } = await this.run(countHooks, values);
    const written = new Set(rows.map((row) => `${row.namespace} ${row.id} ${row.lock}`));
    return counts.map(({ namespace, id, lock }) => written.has(`${namespace} ${id} ${lock}`));
  }

  async findLeased(namespaces: readonly string[], locks: readonly string[]): Promise<HookLease[]> {
    if (locks.length === 0) return [];
    const { rows } = await this.run(findLeased("hook"), [namespaces, locks]);
    return rows.map(toLease);
  }

  async expireLeases(namespaces: readonly string[], locks: readonly string[]): Promise<number> {
    if (locks.length === 0) return 0;
    const { rowCount } = await this.run(expireLeases("hook"), [this.now(), namespaces, locks]);
    return rowCount ?? 0;
  }

  /** Whether to notify other processes: the hook is due soon, and this process hasn't claimed it. */
  #isDueSoon({ lease, processAt }: HookInsert): boolean {
    return lease === null && (processAt === null || processAt < this.clock.now() + ANNOUNCED_AHEAD_MS);
  }

  async #insertPlain(
    hooks: readonly HookInsert[],
    on?: PostgresQueryable,
    carried?: Companion | null,
  ): Promise<InsertResult[]> {
    const { rows } =
      (await this.#insertNew(hooks, on, carried)) ??
      (await this.run(insertHooks, [this.now(), ...hookColumns(inOrder(hooks, byReference))], on, carried));
    if (rows.length < hooks.length) return this.#insertResults(hooks, rows, on);
    const at = toNumber(rows[0]?.now);
    return hooks.map(({ id }) => ({ result: "inserted", id, at }));
  }

  /** Null if these aren't the common case, or were written before with the reply lost. */
  async #insertNew(
    hooks: readonly HookInsert[],
    on?: PostgresQueryable,
    carried?: Companion | null,
  ): Promise<PostgresResult | null> {
    const lease = hooks[0]?.lease ?? null;
    if (!hooks.every((hook) => isPlain(hook) && hook.lease?.lock === lease?.lock)) return null;
    const sorted = inOrder(hooks, byReference);
    const columns = [
      ...referenceColumns(sorted),
      textArray(sorted.map(({ name }) => name)),
      textArray(sorted.map(({ payload }) => payload)),
    ];
    try {
      const values = [this.now(), ...columns, lease?.lock ?? null, lease?.leaseMs ?? null];
      return await this.run(insertNewHooks, values, on, carried);
    } catch (error) {
      if (isUniqueViolation(error) && on === undefined) return null;
      throw error;
    }
  }

  async #insertKeyed(
    hooks: readonly HookInsert[],
    on?: PostgresQueryable,
    carried?: Companion | null,
  ): Promise<InsertResult[]> {
    const sorted = inOrder(hooks, byReference);
    const values = [
      this.now(),
      ...hookColumns(sorted),
      sorted.map((hook) => hook.key),
      sorted.map((hook) => hook.triggers),
      sorted.map((hook) => hook.triggeredAt),
      sorted.map((hook) => hook.debounce?.delayMs ?? null),
      sorted.map((hook) => hook.debounce?.maxWaitMs ?? null),
    ];
    try {
      const { rows } = await this.run(insertKeyedHooks, values, on, carried);
      return await this.#insertResults(hooks, rows, on);
    } catch (error) {
      // Another transaction inserted the same id after the statement looked for it. The next try finds it.
      if (!isUniqueViolation(error) || on !== undefined) throw error;
      throw new StoreError("store.unavailable", "Two triggers with the same id were written at the same time.", {
        cause: error,
        transient: true,
      });
    }
  }

  /** `written` has each trigger that had an effect, and the hook that holds it now. */
  async #insertResults(
    hooks: readonly HookInsert[],
    written: readonly Row[],
    on?: PostgresQueryable,
  ): Promise<InsertResult[]> {
    const rowOf = new Map(written.map((row) => [`${row.namespace} ${row.trigger}`, row]));
    const effects = hooks.map((hook) => takeRow(rowOf, hook));
    const others = hooks.filter((_, index) => effects[index] === undefined);
    const known = others.length === 0 ? new Map<string, Row>() : await this.#findTriggered(others, on);
    return hooks.map((hook, index) => {
      const row = effects[index];
      if (row === undefined) return this.#knownResult(hook, known.get(`${hook.namespace} ${hook.id}`));
      const id = row.id as string;
      return { result: id === hook.id ? "inserted" : "collapsed", id, at: toNumber(row.now) };
    });
  }

  async #findTriggered(hooks: readonly HookInsert[], on?: PostgresQueryable): Promise<Map<string, Row>> {
    const names = [hooks.map(({ name }) => name), hooks.map(({ key }) => key)];
    const { rows } = await this.run(findTriggeredHooks, [...referenceColumns(hooks), ...names], on);
    return new Map(rows.map((row) => [`${row.namespace} ${row.trigger}`, row]));
  }

  /**
   * The trigger was written before with the reply lost, or the caller's id exists. A row with this trigger's lease is its own.
   */
  #knownResult(hook: HookInsert, row: Row | undefined): InsertResult {
    if (row === undefined) return { result: "existing", id: hook.id, at: this.clock.now() }; // it has run meanwhile
    const ours = hook.lease !== null && row.lock === hook.lease.lock;
    return { result: ours ? "inserted" : "existing", id: row.id as string, at: toNumber(row.created_at) };
  }
}

/** A row belongs to one trigger: of two with the same id in one batch, the first had the effect. */
function takeRow(rowOf: Map<string, Row>, { namespace, id }: HookReference): Row | undefined {
  const row = rowOf.get(`${namespace} ${id}`);
  rowOf.delete(`${namespace} ${id}`);
  return row;
}

function isPlain({ ownId, retries, trace, processAt, line }: HookInsert): boolean {
  return !ownId && line === undefined && retries === null && trace === null && processAt === null;
}
