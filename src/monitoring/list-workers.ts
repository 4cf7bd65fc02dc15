import type { Store } from "../store/store.ts";
import { isEndingHook } from "../workflows/define/terminal-hooks.ts";

/** A worker, as operators see it. */
export interface WorkerSummary {
  /** The owner's name in its leases. */
  readonly id: string;
  /** Whether it has been seen lately, by the database's clock, and its process isn't known to have ended. */
  readonly alive: boolean;
  readonly host: string;
  /** Null where there are no processes. */
  readonly pid: number | null;
  /** The version of Perdure. */
  readonly version: string;
  /** The hooks that it runs. */
  readonly hooks: readonly string[];
  /** The workflows that it runs, by their stored names. */
  readonly workflows: readonly string[];
  /** How many hooks, and how many workflows, it runs at a time. */
  readonly concurrency: { readonly hooks: number; readonly workflows: number };
  readonly startedAt: Date;
  readonly lastSeenAt: Date;
}

/** The workers of a namespace, the one that was seen last first. */
export async function listWorkers(store: Store, namespace: string): Promise<WorkerSummary[]> {
  const workers = await store.workers.list(namespace);
  return workers.map(({ id, alive, host, pid, version, work, concurrency, startedAt, seenAt }) => ({
    id,
    alive,
    host,
    pid,
    version,
    hooks: work[namespace]?.hooks.filter((name) => !isEndingHook(name)) ?? [],
    workflows: work[namespace]?.workflows ?? [],
    concurrency,
    startedAt: new Date(startedAt),
    lastSeenAt: new Date(seenAt),
  }));
}
