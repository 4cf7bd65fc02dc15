import type { InstanceCommit, NewEntry } from "../../src/store/instances/instance-records.ts";
import type { World } from "../world.ts";
import { type InstanceAccount, isEnding, runOf, stepOf } from "./instance-account.ts";
import type { InstanceBook } from "./instance-book.ts";

/** Code that continues by itself may begin waits after its instance was released. */
const GOES_ON_BY_ITSELF: readonly string[] = ["late"];

/**
 * The ledger of waits: no wait ends before its time, by the database's clock, and an owner that parks an instance stores the
 * deadlines of its waits.
 */
export class WaitBook {
  readonly #world: World;
  readonly #book: InstanceBook;
  /** By ref: the waits that its present owner has begun, and when they may end at the earliest. */
  readonly #begun = new Map<string, Map<string, number>>();
  /** By ref: the first commit of its present owner that failed, as far as that owner knows. */
  readonly #unwritten = new Map<string, { readonly lock: string; readonly label: string }>();

  constructor(world: World, book: InstanceBook) {
    this.#world = world;
    this.#book = book;
  }

  /**
   * The token with which a process runs the code of an instance; null if it has lost it already, or may still run the code of a
   * run that was restarted since.
   */
  lockOf(process: string, name: { name: string; id: string }): string | null {
    const { held = false, lock = null, disowned = null } = this.#book.find(name) ?? {};
    if (disowned?.startsWith(`${process}#`)) return null;
    return held && lock?.startsWith(`${process}#`) ? lock : null;
  }

  /** The code of an owner calls a wait. Returns when it may end at the earliest. Calls of former owners don't count. */
  called(lock: string | null, name: { name: string; id: string }, step: string, milliseconds: number): number {
    const account = this.#book.find(name);
    if (lock === null || account === undefined || !account.held || account.lock !== lock) return 0;
    const written = runOf(account).journal.filter((entry) => stepOf(entry) === step);
    if (written.some(isEnding)) return 0;
    const deadline = written.findLast(({ kind }) => kind === "waiting")?.dueAt ?? null;
    if (deadline !== null) return deadline;
    const earliest = this.#world.now + milliseconds;
    const begun = this.#begun.get(account.ref) ?? new Map<string, number>();
    this.#begun.set(account.ref, begun);
    if (!begun.has(step) && account.rollingBack === null) begun.set(step, earliest);
    return earliest;
  }

  /** The code learns that a wait has ended without an event. */
  ended(step: string, earliest: number): void {
    if (this.#world.now >= earliest) return;
    this.#world.violate("no wait ends early", `${step} is over ${earliest - this.#world.now} ms too early`);
  }

  /** A commit failed. Until it is written, nothing that its owner did afterwards may be written: waits may begin again. */
  unwritten(commit: InstanceCommit): void {
    const { ref, lock } = commit;
    if (this.#unwritten.get(ref)?.lock !== lock) this.#unwritten.set(ref, { lock, label: labelOf(commit) });
  }

  written(commit: InstanceCommit): void {
    if (this.#unwritten.get(commit.ref)?.label === labelOf(commit)) this.#unwritten.delete(commit.ref);
  }

  /** It has another owner: waits that the former owner had begun begin again, unless they are stored. */
  claimed(ref: string): void {
    this.#begun.delete(ref);
  }

  /** What a deadline is counted from is at least as late as the call. */
  entered({ ref }: InstanceAccount, label: string, entry: NewEntry, at: number): void {
    const earliest = this.#begun.get(ref)?.get(stepOf(entry));
    if (earliest === undefined) return;
    const end = entry.kind === "waiting" ? entry.dueAt : entry.kind === "received" ? null : at;
    if (end === null || end >= earliest) return;
    this.#world.violate("no wait ends early", `${label} is ${entry.kind}, ${earliest - end} ms too early`);
  }

  /** Its owner has released it in good order: the next owner must not begin the same waits again. */
  letGo(account: InstanceAccount): void {
    const { ref, run, name, lock, rollingBack } = account;
    if (rollingBack !== null || GOES_ON_BY_ITSELF.includes(name)) return;
    if (lock !== null && this.#unwritten.get(ref)?.lock === lock) return;
    const written = new Set(runOf(account).journal.map(stepOf));
    for (const step of this.#begun.get(ref)?.keys() ?? []) {
      if (!written.has(step)) this.#world.violate("a wait keeps its deadline", `${ref}/${run}/${step} was forgotten`);
    }
  }
}

/** The same for a commit that is sent again. */
function labelOf({ run, lock, position, entries, outcome }: InstanceCommit): string {
  return JSON.stringify([run, lock, position, entries, outcome.kind]);
}
