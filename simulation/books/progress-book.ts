import type { NewEntry, ProgressRange } from "../../src/store/instances/instance-records.ts";
import { decodeValue } from "../../src/values/index.ts";
import type { WorkflowStepContext } from "../../src/workflows/define/step.ts";
import { KEPT_PROGRESS } from "../names.ts";
import type { World } from "../world.ts";
import { isEnding, type RunAccount, stepOf, type WrittenEntry } from "./instance-account.ts";
import type { InstanceBook } from "./instance-book.ts";

/** The progress that steps emit: the number of earlier values. */
export interface Told {
  readonly told: number;
}

/** For this long after a step's end, followers of an instance must be able to read its progress. */
const FOLLOWED_MS = 10_000;

/**
 * The ledger of progress: it is stored in order, nothing acknowledged is lost, and it is dropped only some time after its step.
 */
export class ProgressBook {
  readonly #world: World;
  readonly #book: InstanceBook;

  constructor(world: World, book: InstanceBook) {
    this.#world = world;
    this.#book = book;
  }

  /** A function that emitted progress knows that it is stored. */
  acknowledged(process: string, { idempotencyKey, attempt }: WorkflowStepContext, told: number): void {
    const [ref, run, ...step] = idempotencyKey.split("/") as [string, string, ...string[]];
    const journal = this.#book.accounts.get(ref)?.runs.get(Number(run))?.journal ?? [];
    const stored = journal.some(
      (entry) =>
        isProgress(entry) &&
        stepOf(entry) === step.join("/") &&
        entry.attempt === attempt &&
        entry.lock.startsWith(`${process}#`) &&
        toldBy(entry) === told,
    );
    if (!stored) this.#violate("nothing accepted is lost", `${told} of ${idempotencyKey}, attempt ${attempt}`);
  }

  /** It was written, after what is in the journal of its step. */
  entered(label: string, entry: NewEntry, lock: string, earlier: readonly WrittenEntry[]): void {
    const { attempt } = entry;
    if (earlier.some((one) => one.kind === "failed" && one.attempt >= attempt)) {
      this.#violate("an attempt that has ended tells nothing", `${label}, attempt ${attempt}`);
    }
    const before = earlier.filter((one) => isProgress(one) && one.attempt === attempt && one.lock === lock).length;
    if (toldBy(entry) === before) return;
    this.#violate("progress comes in its order", `${label}, attempt ${attempt}: ${entry.value} after ${before}`);
  }

  dropped(range: ProgressRange): void {
    const account = this.#book.accounts.get(range.ref);
    if (account === undefined || account.state === "gone") return;
    const { journal } = account.runs.get(range.run) as RunAccount;
    const step = stepOf(range);
    const label = `${range.ref}/${range.run}/${step}`;
    if (range.name === KEPT_PROGRESS) this.#violate("progress is kept where that is asked for", label);
    const ending = journal.find((entry) => isEnding(entry) && stepOf(entry) === step);
    if (ending === undefined) this.#violate("progress is dropped when its step is done", label);
    else if (this.#world.now - ending.at < FOLLOWED_MS) {
      this.#violate("progress stays for those who follow", `${label} ended ${this.#world.now - ending.at} ms ago`);
    }
    for (const entry of journal.slice(range.from - 1)) {
      if (isProgress(entry) && stepOf(entry) === step) entry.dropped = true;
    }
    this.#book.touched.add(range.ref);
  }

  #violate(invariant: string, details: string): void {
    this.#world.violate(invariant, details);
  }
}

export function isProgress({ kind }: NewEntry): boolean {
  return kind === "progress";
}

function toldBy({ value }: NewEntry): number {
  return (decodeValue(value as string) as Told).told;
}
