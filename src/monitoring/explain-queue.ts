import { listsName } from "../queue/describe-worker.ts";
import { ownerOfToken } from "../queue/owner.ts";
import type { Store } from "../store/store.ts";
import type { ListedWorker } from "../store/workers/stored-workers.ts";
import type { ExplainedStep, WaitingReason } from "./explanation.ts";

/** Clocks that differ by less aren't worth a word. */
const LEAST_DIFFERENCE_MS = 1000;

/** A claimable row, whose owner and due time are known. */
export interface QueuedWork {
  readonly namespace: string;
  readonly kind: "hooks" | "workflows";
  readonly name: string;
  readonly lock: string | null;
  /** The database's time. */
  readonly now: number;
  readonly availableAt: number;
  /** Since when it has been due, if it is. */
  readonly dueSince: number;
}

/** A worker holds it, and its lease hasn't run out. */
export async function explainHeld(
  store: Store,
  { namespace, lock, availableAt }: QueuedWork & { readonly lock: string },
  step: (ExplainedStep & { readonly since: Date }) | null,
): Promise<WaitingReason> {
  const id = ownerOfToken(lock);
  const worker = (await store.workers.list(namespace)).find((one) => one.id === id);
  const { host = null, alive = null } = worker ?? {};
  return { reason: "running", worker: id, host, alive, leaseUntil: new Date(availableAt), step };
}

/** It is due: is there a worker that will claim it? Null if there is. A worker of this process may not be listed yet. */
export async function explainUnclaimed(store: Store, work: QueuedWork): Promise<WaitingReason | null> {
  const alive = (await store.workers.list(work.namespace)).filter((worker) => worker.alive);
  if (alive.some((worker) => runs(worker, work))) return null;
  if (alive.length > 0) return { reason: "noWorker", name: work.name, workers: alive.length };
  return store.work.attended ? null : { reason: "noDispatcher" };
}

export function explainDue({ dueSince, lock }: QueuedWork): WaitingReason {
  return { reason: "due", since: new Date(dueSince), lostBy: lock === null ? null : ownerOfToken(lock) };
}

function runs({ work }: ListedWorker, { namespace, kind, name }: QueuedWork): boolean {
  return listsName(work[namespace]?.[kind], name);
}

/**
 * How far this process's clock was ahead of the database's, which read its own between these two times; null if not by much.
 */
export function clockAhead(from: number, to: number, databaseTime: number): number | null {
  if (from - databaseTime > LEAST_DIFFERENCE_MS) return from - databaseTime;
  return databaseTime - to > LEAST_DIFFERENCE_MS ? to - databaseTime : null;
}
