import type { ProcessorSource } from "../queue/processor.ts";
import type { Work, WorkClaim } from "../queue/work.ts";
import type { ClaimedInstance } from "../store/instances/instance-records.ts";
import { LEFT_DELAY_MS } from "../store/lines/look-at-line.ts";
import type { QueueScope } from "../store/queue/claim-request.ts";
import type { Store } from "../store/store.ts";
import type { InstanceSource } from "./instance-source.ts";
import type { InstanceWork } from "./instance-work.ts";
import type { WorkflowRuntime } from "./workflow-runtime.ts";

/**
 * The instances with limits, of some namespaces in one database, as work: their lines admit them. Instances without limits have
 * a separate source, so that neither starves the other.
 */
export class LineSource implements ProcessorSource {
  readonly kind = "instance";
  /** An instance that waits for a slot in this worker would hold a slot of its line. */
  readonly needsRoom = true;
  readonly store: Store;
  readonly namespaces: readonly string[];
  readonly #instances: InstanceSource;
  readonly #runtimes: ReadonlyMap<string, WorkflowRuntime>;
  readonly #scopes: readonly QueueScope[];
  /** Whether there are lines that this process may admit from. */
  #limited: boolean;
  #opened = false;
  /** Whether the last look admitted nothing. */
  #inVain = false;

  constructor(instances: InstanceSource, runtimes: readonly WorkflowRuntime[]) {
    this.store = instances.store;
    this.namespaces = instances.namespaces;
    this.#instances = instances;
    this.#runtimes = new Map(runtimes.map((runtime) => [runtime.namespace, runtime]));
    this.#scopes = runtimes.map(({ namespace, workflows }) => ({ namespace, names: workflows.names }));
    this.#limited = runtimes.some(({ workflows }) => workflows.all.some(({ flow }) => flow !== null));
  }

  /** No instance with limits is born claimed: the others in its line come first. */
  handles(): boolean {
    return false;
  }

  toWork(instance: ClaimedInstance, askedAt: number): InstanceWork {
    return this.#instances.toWork(instance, askedAt);
  }

  async claim({ limit: room, lock, leaseMs }: WorkClaim): Promise<Work[]> {
    if (!this.#limited) return [];
    const workflowsOf = (namespace: string) => (this.#runtimes.get(namespace) as WorkflowRuntime).workflows;
    const limitsOf = (namespace: string, name: string) => workflowsOf(namespace).limitsOf(name);
    const versionsOf = (namespace: string, name: string) => workflowsOf(namespace).versionsOf(name);
    const request = { scopes: this.#scopes, limitsOf, versionsOf, room, lock, leaseMs };
    const askedAt = this.store.clock.monotonic();
    const admitted = await this.store.instances.statements.admit(request);
    this.#inVain = admitted.length === 0;
    return admitted.map((instance) => this.toWork(instance, askedAt));
  }

  /**
   * Lines are looked at again while instances of other versions wait in them. After a look in vain this process is late by
   * chance, so that it doesn't always come before one that has these versions.
   */
  async nextWake(): Promise<number | null> {
    if (!this.#limited) return null;
    const remaining = await this.store.instances.statements.nextAdmission(this.#scopes);
    if (!this.#inVain || remaining === null || remaining <= 0 || remaining > LEFT_DELAY_MS) return remaining;
    return remaining + Math.ceil(LEFT_DELAY_MS * this.store.randomness.fraction());
  }

  renew(work: readonly Work[], leaseMs: number): Promise<Set<Work>> {
    return this.#instances.renew(work, leaseMs);
  }

  giveBack(locks: readonly string[]): Promise<void> {
    return this.#instances.giveBack(locks);
  }

  /** `InstanceSource` purges them with all other instances. */
  async expireLeases(): Promise<number> {
    return 0;
  }

  async purge(): Promise<boolean> {
    return false;
  }

  /**
   * A starting process may have other limits than those that blocked the lines, or no limits for a workflow that had some: then
   * its instances are admitted without.
   */
  async survey(): Promise<boolean> {
    if (this.#opened) return false;
    const lines = await this.store.instances.statements.openLines(this.namespaces);
    this.#limited ||= lines;
    this.#opened = true;
    return lines;
  }
}
