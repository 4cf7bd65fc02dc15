import { findUnclaimed } from "../queue/unclaimed-watch.ts";
import { RELAY } from "../store/hooks/relay.ts";
import type { DueName } from "../store/queue/unclaimed.ts";
import type { Store } from "../store/store.ts";

/** How many rows are read of each lane. */
const DEPTH = 10_000;

/** Hooks or instances that are due under a name that no live worker runs. */
export interface UnclaimedWork {
  readonly kind: "hook" | "workflow";
  readonly name: string;
  /** How many are due: at least this many, if there are over ten thousand. */
  readonly due: number;
  /** Since when the first of them has been due. */
  readonly since: Date;
}

/** The names of a namespace under which something is due and which no live worker runs. */
export async function listUnclaimed(store: Store, namespace: string): Promise<UnclaimedWork[]> {
  const names: DueName[] = [];
  const unclaimed = {
    namespaces: [namespace],
    depth: DEPTH,
    found: (due: readonly DueName[]) => void names.push(...due),
  };
  await store.hooks.statements.nextWake([{ namespace, names: [RELAY] }], { takeOver: false, unclaimed });
  if (names.length === 0) return [];
  return findUnclaimed(await store.workers.list(namespace), names).map(({ kind, name, rows, since }) => ({
    kind: kind === "hook" ? "hook" : "workflow",
    name,
    due: rows,
    since: new Date(since),
  }));
}
