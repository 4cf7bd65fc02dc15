import type { InstanceCommit, InstanceCommitResult } from "../../src/store/instances/instance-records.ts";
import { LEDGER } from "../names.ts";
import type { World } from "../world.ts";
import { stepOf } from "./instance-account.ts";

/** What steps have written in their own transactions: as many rows as committed steps, and one for each. */
export class LedgerBook {
  readonly #world: World;
  /** Of steps that were committed in their transaction. */
  readonly #committed = new Set<string>();
  /** Of these, the ones whose commit arrived when its owner had given it up. */
  readonly #late = new Set<string>();

  constructor(world: World) {
    this.#world = world;
  }

  /** A transaction was committed, with this as its last statement. */
  committed({ ref, run, entries }: InstanceCommit, { result }: InstanceCommitResult, late: boolean): void {
    if (result === "superseded") this.#violate(`${ref} was committed by an owner that had lost it`);
    const entry = entries.at(-1);
    if (!entry?.name.startsWith(LEDGER) || entry.kind !== "completed") return;
    const key = `${ref}/${run}/${stepOf(entry)}`;
    this.#committed.add(key);
    if (late) this.#late.add(key);
  }

  /** Whether its owner may have looked before the commit arrived, and call the function again, which is refused in the end. */
  cameLate(key: string): boolean {
    return this.#late.has(key);
  }

  check(keys: ReadonlyMap<unknown, number>): void {
    for (const [key, times] of keys) {
      if (times > 1) this.#violate(`${key} was written ${times} times`);
      if (!this.#committed.has(key as string)) this.#violate(`${key} was written without its step`);
    }
    for (const key of this.#committed) if (!keys.has(key)) this.#violate(`${key} was committed without its row`);
  }

  #violate(details: string): void {
    this.#world.violate("transactions of steps are written exactly once", details);
  }
}
