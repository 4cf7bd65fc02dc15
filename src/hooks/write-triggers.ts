import { isUnanswered } from "../errors.ts";
import { dueAt } from "../store/hooks/due-time.ts";
import type { ClaimedHook, HookInsert } from "../store/hooks/hook-records.ts";
import type { InsertResult } from "../store/hooks/hook-statements.ts";
import type { Reservation } from "../store/queue/work-board.ts";
import type { Store } from "../store/store.ts";

/** The hook of a trigger: with a key, the hook that took the trigger in. */
export interface TriggeredHook {
  readonly id: string;
}

/** Writes triggers, all or none, and starts or announces them. */
export async function writeTriggers(store: Store, triggers: readonly HookInsert[]): Promise<TriggeredHook[]> {
  const plan = new TriggerPlan(store, triggers);
  try {
    return plan.committed(await store.hooks.insert(plan.writes));
  } catch (error) {
    plan.cancel(error);
    throw error;
  }
}

/**
 * The rows of some triggers, and the callbacks after their commit. If a worker of this process has room, a row is born claimed
 * and starts as soon as it is committed: no claim, no wake. All other rows are announced to the workers.
 */
export class TriggerPlan {
  readonly writes: readonly HookInsert[];
  readonly #store: Store;
  readonly #reservations: readonly (Reservation<"hook"> | null)[];

  constructor(store: Store, triggers: readonly HookInsert[]) {
    this.#store = store;
    this.#reservations = triggers.map((trigger) => reserve(store, trigger));
    this.writes = triggers.map((trigger, index) => {
      const reservation = this.#reservations[index];
      return reservation ? { ...trigger, lease: { lock: reservation.lock, leaseMs: reservation.leaseMs } } : trigger;
    });
  }

  committed(results: readonly InsertResult[]): TriggeredHook[] {
    for (const [index, result] of results.entries()) this.#follow(index, result);
    return results.map(({ id }) => ({ id }));
  }

  /** The write failed, and rows may have been written nevertheless: those that were born claimed are released. */
  cancel(error: unknown): void {
    const unanswered = isUnanswered(error);
    for (const [index, reservation] of this.#reservations.entries()) {
      if (reservation === null) continue;
      reservation.cancel(unanswered ? () => this.#giveBack(this.writes[index] as HookInsert, reservation) : undefined);
    }
  }

  async #giveBack({ namespace, id }: HookInsert, { lock }: Reservation<"hook">): Promise<boolean> {
    const settlement = { namespace, id, lock, keyed: false, outcome: { kind: "released" } } as const;
    const result = await this.#store.hooks.settle(settlement);
    if (result === "pending") this.#store.work.post({ namespace, delayMs: 0 });
    return result !== "lost";
  }

  #follow(index: number, { result, at }: InsertResult): void {
    const write = this.writes[index] as HookInsert;
    const reservation = this.#reservations[index] ?? null;
    if (reservation !== null && result === "inserted") {
      reservation.start(bornClaimed(write, reservation, at));
      return;
    }
    reservation?.cancel();
    this.#store.work.post({ namespace: write.namespace, delayMs: dueAt(write, at) - at });
  }
}

/** Triggers that may collapse into another hook, may exist already, or stand in line are left to a claim. */
function reserve(
  store: Store,
  { namespace, name, key, ownId, processAt, line }: HookInsert,
): Reservation<"hook"> | null {
  const mayStartHere = key === null && !ownId && processAt === null && line === undefined;
  return mayStartHere ? store.work.reserve("hook", namespace, name) : null;
}

function bornClaimed(write: HookInsert, { lock }: Reservation<"hook">, at: number): ClaimedHook {
  const { namespace, id, name, key, ownId, payload, retries, trace } = write;
  const history = {
    attempts: 1,
    recoveries: 0,
    inDoubt: false,
    triggers: 1,
    createdAt: at,
    lastAttemptAt: null,
    dueAt: at,
    claimedAt: at,
    lineKey: null,
  };
  return { namespace, id, name, key, ownId, payload, retries, trace, lock, ...history };
}
