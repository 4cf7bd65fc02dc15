import { type AttemptFailure, solitudeAfter, type Work } from "../queue/work.ts";
import type { EngineTransaction } from "../store/engine.ts";
import { dueAt } from "../store/hooks/due-time.ts";
import type { ClaimedHook, HookInsert } from "../store/hooks/hook-records.ts";
import { mergeTriggers } from "../store/hooks/merge-triggers.ts";
import { type RelayedCall, toTrigger } from "../store/hooks/relay.ts";
import type { EventInsert, EventInsertResult } from "../store/instances/instance-records.ts";
import type { Store } from "../store/store.ts";

/** When a relay is tried again after an error of the database. */
const RETRY_MS = 1000;

/**
 * Makes the change that a call in the application's own transaction could not make there. The calls and the end of their relays
 * are one transaction, so each happens once, and those of one group happen in the order of the calls. A relay is never given
 * up: if its owner is lost, another worker takes over.
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
    const { namespace, claimedAt } = this.hook;
    onEnd();
    if (this.#abandoned) return null;
    const { triggers, events, results } = await this.#store.engine.transaction(
      (transaction) => this.#relay(transaction),
      { internal: true },
    );
    const delays = triggers.map((trigger) => dueAt(trigger, claimedAt) - claimedAt);
    for (const delayMs of delays) this.#store.work.post({ namespace, delayMs });
    if (delays.length === 0) {
      this.#store.work.post({ namespace, delayMs: 0 });
      this.#store.work.announce(namespace); // another process may own the instance that the event is for
    }
    for (const [index, event] of events.entries()) this.#reportLost(event, results[index]);
    return null;
  }

  async #relay(transaction: EngineTransaction) {
    const { namespace } = this.hook;
    const triggers: HookInsert[] = [];
    const events: EventInsert[] = [];
    const refs: string[] = [];
    let triggeredAt = 0; // never earlier than that of the relay before, whatever the server's clock did
    for (const { payload, createdAt } of await transaction.takeRelays(this.hook)) {
      const call = JSON.parse(payload) as RelayedCall;
      triggeredAt = Math.max(triggeredAt, createdAt);
      if (call.kind === "trigger") triggers.push(toTrigger(namespace, call.trigger, triggeredAt));
      else if (call.kind === "event") events.push({ ...call.event, namespace });
      else refs.push(call.ref);
    }
    if (triggers.length > 0) await transaction.insertHooks(mergeTriggers(triggers).merged);
    const results = events.length > 0 ? await transaction.sendEvents(events) : [];
    if (refs.length > 0) await transaction.joinLines(refs);
    return { triggers, events, results };
  }

  /** The sender's transaction has committed, so there is no caller left to tell. */
  #reportLost({ name, id, type }: EventInsert, result: EventInsertResult | undefined): void {
    if (result === undefined || result.result === "sent" || result.result === "known") return;
    this.#store.logger.warn("An event that was sent in a transaction could not be delivered.", {
      workflow: name,
      instance: id,
      type,
      reason: result.result,
    });
  }

  abandon(): void {
    this.#abandoned = true;
  }

  async release(): Promise<void> {
    await this.#store.hooks.settle(this.#settlement({ kind: "released" }));
    this.#store.work.post({ namespace: this.hook.namespace, delayMs: 0 });
  }

  /** Errors of the database count as nothing, and don't keep the relay until its lease ends. */
  async giveBack(): Promise<boolean> {
    await this.#store.hooks.settle(this.#settlement({ kind: "released", delayMs: RETRY_MS }));
    this.#store.work.post({ namespace: this.hook.namespace, delayMs: RETRY_MS });
    return true;
  }

  #settlement<Outcome>(outcome: Outcome) {
    const { namespace, id, lock } = this.hook;
    return { namespace, id, lock, keyed: false, outcome };
  }
}
