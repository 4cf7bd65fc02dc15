import { type AttemptFailure, solitudeAfter, type Work } from "../queue/work.ts";
import { dueAt } from "../store/hooks/due-time.ts";
import type { ClaimedHook } from "../store/hooks/hook-records.ts";
import { fromRelay } from "../store/hooks/relay.ts";
import type { Store } from "../store/store.ts";

/**
 * Applies a keyed trigger that could not be applied in the application's own transaction. The trigger and the end of the relay
 * are one transaction, so it happens once. It is never given up: after a lost owner, another worker takes it over.
 */
export class RelayWork implements Work {
  readonly hook: ClaimedHook;
  readonly #store: Store;
  #abandoned = false;

  constructor(hook: ClaimedHook, store: Store) {
    this.hook = hook;
    this.#store = store;
  }

  get recovered(): boolean {
    return this.hook.recoveries > 0;
  }

  get solitudeMs(): number | null {
    return solitudeAfter(this.hook.recoveries);
  }

  get description(): string {
    return `relay ${this.hook.namespace} ${this.hook.id}`;
  }

  async execute(onEnd: () => void): Promise<AttemptFailure | null> {
    const { namespace, payload, createdAt, claimedAt } = this.hook;
    onEnd();
    if (this.#abandoned) return null;
    const trigger = fromRelay(namespace, payload, createdAt);
    const relayed = await this.#store.engine.transaction(async (transaction) => {
      const [result] = await transaction.settleHooks([this.#settlement({ kind: "completed", keepMs: 0 })]);
      if (result === "lost") return false;
      await transaction.insertHooks([trigger]);
      return true;
    });
    if (relayed) this.#store.work.post({ namespace, delayMs: dueAt(trigger, claimedAt) - claimedAt });
    return null;
  }

  abandon(): void {
    this.#abandoned = true;
  }

  async release(): Promise<void> {
    await this.#store.hooks.settle(this.#settlement({ kind: "released" }));
  }

  #settlement<Outcome>(outcome: Outcome) {
    const { namespace, id, lock } = this.hook;
    return { namespace, id, lock, keyed: false, outcome };
  }
}
