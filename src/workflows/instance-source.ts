import type { ProcessorSource } from "../queue/processor.ts";
import type { UnclaimedWatch } from "../queue/unclaimed-watch.ts";
import type { Work, WorkClaim } from "../queue/work.ts";
import type { ClaimedInstance, NamedLease } from "../store/instances/instance-records.ts";
import type { QueueScope, WakeQuestion } from "../store/queue/claim-request.ts";
import type { Store } from "../store/store.ts";
import { InstanceWork } from "./instance-work.ts";
import { findMissingVersions } from "./instances/lists/list-versions.ts";
import { retryDiverged } from "./instances/retry-diverged.ts";
import type { WorkflowRuntime } from "./workflow-runtime.ts";

/** Notices of other processes within this time share one look. */
const GATHER_MS = 20;
const PURGE_BATCH = 100;

/** The workflow instances of some namespaces in one database, as work. */
export class InstanceSource implements ProcessorSource {
  readonly kind = "instance";
  readonly carriesBeats = true;
  readonly store: Store;
  readonly namespaces: readonly string[];
  readonly #runtimes: ReadonlyMap<string, WorkflowRuntime>;
  readonly #watch: UnclaimedWatch | undefined;
  #scopes: QueueScope[];
  #looking = false;

  constructor(store: Store, runtimes: readonly WorkflowRuntime[], watch?: UnclaimedWatch) {
    this.store = store;
    this.#watch = watch;
    this.#runtimes = new Map(runtimes.map((runtime) => [runtime.namespace, runtime]));
    this.namespaces = [...this.#runtimes.keys()];
    this.#scopes = runtimes.map(({ namespace, workflows }) => ({ namespace, names: [...workflows.versionNames] }));
  }

  registered(namespace: string): readonly string[] {
    return this.#runtimes.get(namespace)?.workflows.names ?? [];
  }

  /** `name` is a `versionName`. */
  handles(namespace: string, name: string): boolean {
    return this.#runtimes.get(namespace)?.workflows.versionNames.has(name) === true;
  }

  toWork(instance: ClaimedInstance, askedAt: number): InstanceWork {
    return new InstanceWork(instance, askedAt, this.#runtimes.get(instance.namespace) as WorkflowRuntime);
  }

  async claim(request: WorkClaim): Promise<Work[]> {
    const scopes = this.#scopes;
    if (scopes.length > 1) this.#scopes = [...scopes.slice(1), scopes[0] as QueueScope]; // each namespace is the first in turn
    const askedAt = this.store.clock.monotonic();
    const claimed = await this.store.instances.statements.claim({ ...request, scopes });
    return claimed.map((instance) => this.toWork(instance, askedAt));
  }

  nextWake(question: WakeQuestion): Promise<number | null> {
    for (const { progressDrops } of this.#runtimes.values()) progressDrops.sweep();
    return this.store.instances.statements.nextWake(this.#scopes, { ...question, unclaimed: this.#watch?.question });
  }

  async renew(work: readonly Work[], leaseMs: number): Promise<Set<Work>> {
    const byRef = new Map(
      work.filter((one) => one instanceof InstanceWork).map((one) => [one.execution.lease.ref, one] as const),
    );
    const leases = Array.from(byRef.values(), ({ execution }) => execution.lease);
    const changes = new Map(Array.from(byRef.values(), (one) => [one, one.execution.pauseChanges]));
    const held = new Set<Work>();
    const askedAt = this.store.clock.monotonic();
    for (const renewed of await this.store.instances.statements.renew(leases, leaseMs)) {
      const one = byRef.get(renewed.ref) as InstanceWork;
      one.execution.observe(renewed, askedAt, changes.get(one) as number);
      held.add(one);
    }
    return held;
  }

  async giveBack(locks: readonly string[]): Promise<void> {
    const { statements } = this.store.instances;
    const leased = await statements.findLeased(this.namespaces, locks);
    const release = (lease: NamedLease) =>
      this.store.instances.commit({ ...lease, position: 1, limited: true, entries: [], outcome: { kind: "released" } });
    await Promise.all(leased.map(release));
    if (leased.length === 0) return;
    for (const namespace of this.namespaces) this.store.work.post({ namespace, delayMs: 0 });
  }

  async expireLeases(isGone: (token: string) => boolean): Promise<number> {
    const { statements } = this.store.instances;
    const tokens = await statements.leaseTokens(this.namespaces);
    return statements.expireLeases(this.namespaces, tokens.filter(isGone));
  }

  async purge(): Promise<boolean> {
    const { statements } = this.store.instances;
    for (const namespace of this.namespaces) if ((await statements.purge(namespace, PURGE_BATCH)) > 0) return true;
    return false;
  }

  /** Held instances may have new events. */
  heard(): void {
    if (this.#looking) return;
    this.#looking = true;
    this.store.clock.setTimer(() => {
      this.#looking = false;
      for (const { live } of this.#runtimes.values()) {
        for (const execution of live.values()) if (execution.listening) execution.look();
      }
    }, GATHER_MS);
  }

  /**
   * Reports unfinished instances of workflows and versions that this process doesn't have; it leaves them alone. Tries those again
   * that wait for matching code.
   */
  async survey(): Promise<boolean> {
    for (const runtime of this.#runtimes.values()) {
      await retryDiverged(runtime);
      await this.#reportMissingVersions(runtime);
      const { namespace, workflows } = runtime;
      const unknown = await this.store.instances.statements.unknownNames({ namespace, names: workflows.names });
      if (unknown.length === 0) continue;
      this.store.logger.warn(
        "There are unfinished instances of workflows that this process doesn't have. It leaves them alone.",
        {
          namespace,
          workflows: unknown,
        },
      );
    }
    return false;
  }

  async #reportMissingVersions(runtime: WorkflowRuntime): Promise<void> {
    const versions = await findMissingVersions(runtime);
    if (versions.length === 0) return;
    this.store.logger.warn(
      "There are unfinished instances on versions of workflows that this process doesn't have. It leaves them alone: keep each version " +
        "registered until its instances are finished, or restart them on the newest. `unfinished` counts at most the 500 oldest.",
      { namespace: runtime.namespace, versions },
    );
  }
}
