import type { ProcessorSource } from "../queue/processor.ts";
import type { Work } from "../queue/work.ts";
import type { Store } from "../store/store.ts";
import { earliest } from "./schedules/schedule-source.ts";
import type { WorkflowRuntime } from "./workflow-runtime.ts";

/** The timeouts of instances of some namespaces in one database. They take no slot: a full worker can't delay them. */
export class TimeoutSource implements ProcessorSource {
  readonly kind = "instance";
  readonly tendsOnly = true;
  readonly store: Store;
  readonly namespaces: readonly string[];
  readonly #runtimes: readonly WorkflowRuntime[];

  constructor(store: Store, runtimes: readonly WorkflowRuntime[]) {
    this.store = store;
    this.namespaces = runtimes.map(({ namespace }) => namespace);
    this.#runtimes = runtimes;
  }

  handles(): boolean {
    return false;
  }

  toWork(): never {
    throw new Error("A timeout can't be claimed as work.");
  }

  async claim(): Promise<Work[]> {
    return [];
  }

  nextWake(): Promise<number | null> {
    return earliest(this.#runtimes.map(({ timeouts }) => timeouts.nextWake()));
  }

  tend(): Promise<number | null> {
    return earliest(this.#runtimes.map(({ timeouts }) => timeouts.tend()));
  }

  async renew(): Promise<Set<Work>> {
    return new Set();
  }

  async giveBack(): Promise<void> {}

  async expireLeases(): Promise<number> {
    return 0;
  }

  async purge(): Promise<boolean> {
    return false;
  }
}
