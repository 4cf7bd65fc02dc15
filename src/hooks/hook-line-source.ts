import type { ProcessorSource } from "../queue/processor.ts";
import type { Work, WorkClaim } from "../queue/work.ts";
import type { HookAdmitRequest } from "../store/hooks/hook-lines.ts";
import type { ClaimedHook } from "../store/hooks/hook-records.ts";
import type { QueueScope, WakeQuestion } from "../store/queue/claim-request.ts";
import type { Store } from "../store/store.ts";
import type { HookSource } from "./hook-source.ts";
import type { RegisteredHooks } from "./registered-hooks.ts";

/**
 * How often to look at lines that are held up: other processes announce freed slots, but no process announces that a rate
 * allows another start.
 */
const HELD_UP_MS = 1000;
/** Starts are kept for the longest period of a rate. */
const LONGEST_PERIOD_MS = 365 * 86_400_000;

/** The hooks with limits, of some namespaces in one database, as work: they are admitted, not claimed. */
export class HookLineSource implements ProcessorSource {
  readonly kind = "hook";
  /** A hook that waits for a slot in this worker would hold a slot of its line. */
  readonly needsRoom = true;
  readonly store: Store;
  readonly namespaces: readonly string[];
  readonly #source: HookSource;
  readonly #hooks: readonly RegisteredHooks[];
  readonly #scopes: readonly QueueScope[];
  /** Whether there are hooks that this process may admit. */
  #limited: boolean;
  #surveyed = false;
  /** Whether the last look admitted nothing. */
  #inVain = false;
  /** The key that was served last, by namespace: the next look begins after it. */
  readonly #after = new Map<string, string>();

  constructor(source: HookSource, hooks: readonly RegisteredHooks[]) {
    this.store = source.store;
    this.namespaces = source.namespaces;
    this.#source = source;
    this.#hooks = hooks;
    this.#scopes = hooks.map(({ namespace, names }) => ({ namespace, names }));
    this.#limited = hooks.some((one) =>
      one.limits.some(({ limits }) => limits.slots !== null || limits.starts !== null),
    );
  }

  /** No hook with limits is born claimed: the others in its line come first. */
  handles(): boolean {
    return false;
  }

  toWork(hook: ClaimedHook): Work {
    return this.#source.toWork(hook);
  }

  async claim({ limit, lock, leaseMs }: WorkClaim): Promise<Work[]> {
    if (!this.#limited) return [];
    const admitted: ClaimedHook[] = [];
    for (const hooks of this.#hooks) {
      const room = limit - admitted.length;
      if (room <= 0) break;
      admitted.push(...(await this.#admit(hooks, { room, lock, leaseMs })));
    }
    this.#inVain = admitted.length === 0;
    return admitted.map((hook) => this.toWork(hook));
  }

  async nextWake({ takeOver }: WakeQuestion): Promise<number | null> {
    if (!this.#limited) return null;
    const remaining = await this.store.hooks.statements.nextWake(this.#scopes, { takeOver, inLine: true });
    if (!this.#inVain || remaining === null || remaining > 0) return remaining;
    return Math.ceil(HELD_UP_MS * (1 + this.store.randomness.fraction()));
  }

  renew(work: readonly Work[], leaseMs: number): Promise<Set<Work>> {
    return this.#source.renew(work, leaseMs);
  }

  giveBack(locks: readonly string[]): Promise<void> {
    return this.#source.giveBack(locks);
  }

  /** `HookSource` does it for all hooks. */
  async expireLeases(): Promise<number> {
    return 0;
  }

  async purge(): Promise<boolean> {
    if (!this.#limited) return false;
    const periods = this.#hooks.flatMap(({ limits }) => limits.map(({ limits: { starts } }) => starts?.periodMs ?? 0));
    const longestMs = Math.max(...periods, 0);
    const keptMs = longestMs === 0 ? LONGEST_PERIOD_MS : longestMs;
    return (await this.store.hooks.statements.forgetStarts(keptMs)) > 0;
  }

  /** A process whose hooks have no limits finds out once whether hooks are left in lines. */
  async survey(): Promise<boolean> {
    if (this.#surveyed) return false;
    const remaining = await this.store.hooks.statements.nextWake(this.#scopes, { takeOver: false, inLine: true });
    this.#limited ||= remaining !== null;
    this.#surveyed = true;
    return remaining !== null;
  }

  async #admit(
    { namespace, limits }: RegisteredHooks,
    lease: Pick<HookAdmitRequest, "room" | "lock" | "leaseMs">,
  ): Promise<ClaimedHook[]> {
    const after = this.#after.get(namespace) ?? "";
    const admitted = await this.store.hooks.statements.admit({ namespace, hooks: limits, after, ...lease });
    const full = admitted.length === lease.room;
    this.#after.set(namespace, full ? (admitted.at(-1)?.lineKey ?? "") : "");
    return admitted;
  }
}
