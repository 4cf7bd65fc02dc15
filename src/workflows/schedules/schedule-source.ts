import type { ProcessorSource } from "../../queue/processor.ts";
import type { Work } from "../../queue/work.ts";
import type { Store } from "../../store/store.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import { ScheduleKeeper } from "./schedule-keeper.ts";

/** The schedules of some namespaces in one database. They take no slot: they only create instances at their times. */
export class ScheduleSource implements ProcessorSource {
  readonly kind = "instance";
  readonly tendsOnly = true;
  readonly store: Store;
  readonly namespaces: readonly string[];
  readonly #keepers: readonly ScheduleKeeper[];

  constructor(store: Store, runtimes: readonly WorkflowRuntime[]) {
    this.store = store;
    this.namespaces = runtimes.map(({ namespace }) => namespace);
    this.#keepers = runtimes.map((runtime) => new ScheduleKeeper(runtime));
  }

  async prepare(): Promise<void> {
    for (const keeper of this.#keepers) await keeper.prepare();
  }

  handles(): boolean {
    return false;
  }

  toWork(): never {
    throw new Error("A schedule can't be claimed as work.");
  }

  async claim(): Promise<Work[]> {
    return [];
  }

  nextWake(): Promise<number | null> {
    return earliest(this.#keepers.map((keeper) => keeper.nextWake()));
  }

  tend(): Promise<number | null> {
    return earliest(this.#keepers.map((keeper) => keeper.tend()));
  }

  heard(): void {
    for (const keeper of this.#keepers) keeper.heard();
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

/** The first of these times. */
export async function earliest(asked: readonly Promise<number | null>[]): Promise<number | null> {
  const known = (await Promise.all(asked)).filter((remaining) => remaining !== null);
  return known.length === 0 ? null : Math.min(...known);
}
