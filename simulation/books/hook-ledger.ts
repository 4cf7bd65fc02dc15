import type { SettleResult } from "../../src/store/hooks/hook-records.ts";
import type { World } from "../world.ts";
import type { Run, RunBook } from "./run-book.ts";

/** What handlers have written in the transactions that completed their hooks: one row for each, and none for others. */
export class HookLedger {
  readonly #world: World;
  readonly #runs: RunBook;
  /** By idempotency key: how often it was committed. More than once only if its trigger was sent again after its end. */
  readonly #committed = new Map<string, number>();
  /** Those whose commit arrived after the owner had given it up. */
  readonly #late = new Set<string>();

  constructor(world: World, runs: RunBook) {
    this.#world = world;
    this.#runs = runs;
  }

  get size(): number {
    return this.#committed.size;
  }

  has(key: string): boolean {
    return this.#committed.has(key);
  }

  /** The function of a transaction is called. An owner that has checked may not know about a late commit yet. */
  begins(run: Run): void {
    if (run.transaction === "none") run.transaction = "begun";
    if (!this.#runs.completions.has(run.key) || this.#late.has(run.key)) return;
    this.#violate(`the function of ${run.key} is called once more after its commit`);
  }

  /** Its handler learns that it is committed. */
  told(run: Run): void {
    run.transaction = "committed";
    if (!this.#committed.has(run.key)) this.#violate(`${run.key} is said to be committed, and isn't`);
  }

  /** A transaction was committed that settled a hook as its last statement. */
  committed(key: string, result: SettleResult, late: boolean): void {
    if (result === "lost") return this.#violate(`${key} was committed by an owner that had lost it`);
    this.#committed.set(key, (this.#committed.get(key) ?? 0) + 1);
    if (late) this.#late.add(key);
  }

  check(rows: ReadonlyMap<unknown, number>): void {
    for (const [key, times] of rows) {
      const expected = this.#committed.get(key as string) ?? 0;
      if (times !== expected) this.#violate(`${key} was written ${times} times, and committed ${expected} times`);
    }
    for (const key of this.#committed.keys()) if (!rows.has(key)) this.#violate(`${key} is completed without its row`);
    for (const { key, transaction } of this.#runs.runs) {
      if (transaction === "none" || !this.#runs.completions.has(key) || this.#committed.has(key)) continue;
      const otherwise = this.#runs.runs.some(
        (run) => run.key === key && run.transaction === "none" && run.ending === "succeeded",
      );
      if (!otherwise) this.#violate(`${key} is completed, but not by its transaction`);
    }
  }

  #violate(details: string): void {
    this.#world.violate("transactions of hooks are written exactly once", details);
  }
}
