import { callSafely } from "../call-safely.ts";
import type { ProcessorSource } from "../queue/processor.ts";
import type { UnclaimedWatch } from "../queue/unclaimed-watch.ts";
import type { Work, WorkClaim } from "../queue/work.ts";
import type { ClaimedHook, HookLease } from "../store/hooks/hook-records.ts";
import { RELAY } from "../store/hooks/relay.ts";
import { JOB } from "../store/jobs/job-records.ts";
import type { QueueScope, WakeQuestion } from "../store/queue/claim-request.ts";
import type { Store } from "../store/store.ts";
import { loggedError } from "../values/index.ts";
import { HookBatches } from "./hook-batches.ts";
import type { StuckHook } from "./hook-settings.ts";
import { HookWork } from "./hook-work.ts";
import type { RegisteredHooks } from "./registered-hooks.ts";
import { RelayWork } from "./relay-work.ts";

const PURGE_BATCH = 1000;

/** Work of a row that is a hook, or is beside hooks. */
type RowWork = Work & { readonly hook: ClaimedHook };

/** Makes work of the row by which a job is found. */
type ToJob = (row: ClaimedHook) => RowWork;

/** The hooks of some namespaces in one database, as work. */
export class HookSource implements ProcessorSource {
  readonly kind = "hook";
  readonly carriesBeats = true;
  readonly store: Store;
  readonly namespaces: readonly string[];
  readonly #hooks: ReadonlyMap<string, RegisteredHooks>;
  readonly #batches: HookBatches;
  readonly #watch: UnclaimedWatch | undefined;
  readonly #toJob: ToJob | undefined;
  #scopes: QueueScope[];

  constructor(store: Store, hooks: readonly RegisteredHooks[], watch?: UnclaimedWatch, toJob?: ToJob) {
    this.store = store;
    this.#watch = watch;
    this.#toJob = toJob;
    this.#batches = new HookBatches(store.clock);
    this.#hooks = new Map(hooks.map((one) => [one.namespace, one]));
    this.namespaces = [...this.#hooks.keys()];
    this.#scopes = hooks.map(({ namespace, claimable }) => ({
      namespace,
      names: [...claimable, RELAY, ...(toJob ? [JOB] : [])],
    }));
  }

  /** Including the library's own: operators' processes find in the workers' rows what is run. */
  registered(namespace: string): readonly string[] {
    return this.#hooks.get(namespace)?.claimable ?? [];
  }

  handles(namespace: string, name: string): boolean {
    return this.#hooks.get(namespace)?.find(name) !== undefined;
  }

  toWork(hook: ClaimedHook): RowWork {
    if (hook.name === RELAY) return new RelayWork(hook, this.store);
    if (hook.name === JOB && this.#toJob !== undefined) return this.#toJob(hook);
    const hooks = this.#hooks.get(hook.namespace) as RegisteredHooks;
    return new HookWork(hook, this.store, hooks, this.#batches, (stuck) => this.#tell(hooks, [stuck]));
  }

  async claim(request: WorkClaim): Promise<Work[]> {
    const scopes = this.#scopes;
    if (scopes.length > 1) this.#scopes = [...scopes.slice(1), scopes[0] as QueueScope]; // each namespace is the first in turn
    const claimed = await this.store.hooks.statements.claim({ ...request, scopes });
    const work = claimed.map((hook) => this.toWork(hook));
    for (const one of work) {
      if (one.recovered && one instanceof HookWork)
        this.#tell(this.#hooks.get(one.hook.namespace) as RegisteredHooks, [one.toLost()]);
    }
    return work;
  }

  nextWake(question: WakeQuestion): Promise<number | null> {
    return this.store.hooks.statements.nextWake(this.#scopes, { ...question, unclaimed: this.#watch?.question });
  }

  async renew(work: readonly Work[], leaseMs: number): Promise<Set<Work>> {
    const ours = work.filter((one): one is RowWork => "hook" in one);
    const leases = ours.filter((one) => !isSettled(one)).map(({ hook }) => hook);
    const held = leases.length === 0 ? [] : await this.store.hooks.statements.renew(leases, leaseMs);
    const references = new Set(held.map(({ namespace, id }) => `${namespace} ${id}`));
    return new Set(ours.filter((one) => isSettled(one) || references.has(`${one.hook.namespace} ${one.hook.id}`)));
  }

  async giveBack(locks: readonly string[]): Promise<void> {
    const leased = await this.store.hooks.statements.findLeased(this.namespaces, locks);
    const release = (lease: HookLease) =>
      this.store.hooks.settle({ ...lease, keyed: true, outcome: { kind: "released" } });
    await Promise.all(leased.map(release));
    for (const namespace of new Set(leased.map((lease) => lease.namespace))) {
      this.store.work.post({ namespace, delayMs: 0 });
    }
  }

  async expireLeases(isGone: (token: string) => boolean): Promise<number> {
    const { statements } = this.store.hooks;
    const tokens = await statements.leaseTokens(this.namespaces);
    return statements.expireLeases(this.namespaces, tokens.filter(isGone));
  }

  async purge(): Promise<boolean> {
    let more = false;
    for (const namespace of this.namespaces) {
      more = (await this.store.hooks.statements.purge(namespace, PURGE_BATCH)) === PURGE_BATCH || more;
    }
    return more;
  }

  #tell({ namespace, settings }: RegisteredHooks, events: readonly StuckHook[]): void {
    const report = { namespace, timeoutMinutes: settings.stuckTimeoutMinutes, events };
    const { logger, stackTraces } = this.store;
    const { onStuck } = settings;
    if (onStuck === null) {
      logger.warn("Queued stuck hooks again.", { namespace, hooks: events.map(({ hookId }) => hookId) });
      return;
    }
    callSafely(
      () => onStuck(report),
      (error) => logger.error("onStuckProcessingHooks threw.", { namespace, error: loggedError(error, stackTraces) }),
    );
  }
}

/** Its handler still runs, and no other worker may run it. */
function isSettled(work: Work): boolean {
  return work instanceof HookWork && work.settled;
}
