import type { HookInsert } from "../../hooks/hook-records.ts";
import {
  BOUND_CHILDREN,
  type EndNotice,
  endedParentTrigger,
  hasBoundChildren,
  noticeId,
  readWaiters,
  toStoredWaiter,
  type WaitRequest,
  type WaitResult,
} from "../../instances/instance-records.ts";
import { toNumber } from "../../rows.ts";
import { compareText } from "../../text-order.ts";
import { integerArray, textArray } from "../array-literals.ts";
import type { PostgresClient } from "../connection/driver.ts";
import { inTransactionOf } from "../connection/transaction.ts";
import { insertNewHooks } from "../sql/hooks/hook-inserts.ts";
import { awaitEnds, findAwaited, lockAwaited, tellWaiters, writeWaiters } from "../sql/instances/waiters.ts";
import { PostgresStatements } from "../statements.ts";
import { nameColumns } from "./instance-columns.ts";

type Row = Record<string, unknown>;

/** Ends instances in a transaction; gives the ends of those that it has ended. */
type EndIn<Result> = (
  client: PostgresClient,
) => Promise<{ readonly ends: readonly EndNotice[]; readonly result: Result }>;

interface EndedInstances<Result> {
  readonly result: Result;
  /** The refs of those that waited, and are due now. */
  readonly woken: readonly string[];
}

/** Thrown to begin a transaction again: another waiter has come, and may have to be locked before the rest. */
class WaitersChanged extends Error {}

/**
 * The ends of instances that others wait for. Statements that end instances leave those alone: such an end must lock its
 * waiters too, and locks are taken in the order of refs. So it is a transaction of its own: lock the instance and its waiters
 * in order, end the instance with the same statement as any other, and tell the waiters.
 */
export class PostgresAwaitedEnds extends PostgresStatements {
  async register(requests: readonly WaitRequest[]): Promise<WaitResult[]> {
    const waiters = requests.map(({ waiter }) => JSON.stringify(toStoredWaiter(waiter)));
    const names = nameColumns(requests.map(({ instance }) => instance));
    const { rows } = await this.run(awaitEnds, [...names, textArray(waiters)]);
    const found = new Map(rows.map((row) => [toNumber(row.index), toWaitResult(row)]));
    return requests.map((_, index) => found.get(index + 1) ?? { result: "missing" });
  }

  /** Those of these instances that others wait for. */
  async find(refs: readonly string[], on?: PostgresClient): Promise<ReadonlySet<string>> {
    const { rows } = await this.run(findAwaited, [textArray(refs)], on);
    return new Set(rows.map((row) => row.ref as string));
  }

  /** Ends instances and tells those that wait for them, in one transaction. */
  async end<Result>(
    refs: readonly string[],
    endIn: EndIn<Result>,
    on?: PostgresClient,
  ): Promise<EndedInstances<Result>> {
    for (;;) {
      try {
        return on === undefined
          ? await inTransactionOf(this.connection, (client) => this.#end(refs, endIn, client))
          : await this.#end(refs, endIn, on);
      } catch (error) {
        if (!(error instanceof WaitersChanged)) throw error;
      }
    }
  }

  async #end<Result>(
    refs: readonly string[],
    endIn: EndIn<Result>,
    client: PostgresClient,
  ): Promise<EndedInstances<Result>> {
    const { rows } = await this.run(lockAwaited, [textArray(refs)], client);
    const targets = rows.filter((row) => row.awaited === true);
    if (targets.some((row) => row.waiters !== row.waiters_before)) throw new WaitersChanged();
    const waiters = new Map<string, string>();
    for (const { ref, waiters: text } of targets) if (text !== null) waiters.set(ref as string, text as string);
    await this.#write(new Map([...waiters.keys()].map((ref) => [ref, null])), client);
    const { ends, result } = await endIn(client);
    const told = ends.filter(({ ref }) => waiters.has(ref));
    const woken = await this.#tell(told, waiters, client);
    for (const { ref } of told) waiters.delete(ref);
    await this.#write(waiters, client);
    return { result, woken };
  }

  async #write(waiters: ReadonlyMap<string, string | null>, client: PostgresClient): Promise<void> {
    if (waiters.size === 0) return;
    await this.run(writeWaiters, [textArray([...waiters.keys()]), textArray([...waiters.values()])], client);
  }

  async #tell(
    ends: readonly EndNotice[],
    waiters: ReadonlyMap<string, string>,
    client: PostgresClient,
  ): Promise<readonly string[]> {
    if (ends.length === 0) return [];
    const notices = ends.flatMap((end) => {
      const payload = JSON.stringify(end);
      return readWaiters(waiters.get(end.ref) ?? null).map((waiter) => ({ end, waiter, payload }));
    });
    const columns = [
      textArray(notices.map(({ waiter: [ref] }) => ref)),
      integerArray(notices.map(({ waiter: [, run] }) => run)),
      textArray(notices.map(({ end, waiter: [, , type] }) => `${noticeId(end)} ${type}`)),
      textArray(notices.map(({ waiter: [, , type] }) => type)),
      textArray(notices.map(({ payload }) => payload)),
    ];
    const { rows } = await this.run(tellWaiters, [this.now(), ...columns], client);
    const woken = rows.map((row) => row.ref as string);
    const parents = ends.filter(({ ref }) => hasBoundChildren(readWaiters(waiters.get(ref) ?? null)));
    if (parents.length === 0) return woken;
    await this.#endChildren(parents.map(endedParentTrigger), client);
    return [...woken, BOUND_CHILDREN.ref];
  }

  /** In the order of ids, in which all hooks are inserted. */
  async #endChildren(hooks: HookInsert[], client: PostgresClient): Promise<void> {
    hooks.sort((left, right) => compareText(left.id, right.id));
    const texts = (column: (hook: HookInsert) => string) => textArray(hooks.map(column));
    const columns = [texts((hook) => hook.namespace), texts((hook) => hook.id), texts((hook) => hook.name)];
    const payloads = texts(({ payload }) => payload);
    await this.run(insertNewHooks, [this.now(), ...columns, payloads, null, null], client);
  }
}

function toWaitResult(row: Row): WaitResult {
  const [namespace, name, id, ref] = [row.namespace, row.name, row.id, row.ref] as string[];
  const ended = { namespace, name, id, ref, run: toNumber(row.run) } as Omit<EndNotice, "status">;
  if (row.outcome === "complete") {
    return { result: "ended", end: { ...ended, status: "complete", output: row.output as string } };
  }
  if (row.outcome === "errored")
    return { result: "ended", end: { ...ended, status: "errored", error: row.error as string } };
  return row.outcome === "terminated"
    ? { result: "ended", end: { ...ended, status: "terminated" } }
    : { result: "waiting" };
}
