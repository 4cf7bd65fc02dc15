import type { World } from "../world.ts";
import { type InstanceAccount, runOf } from "./instance-account.ts";
import type { InstanceBook } from "./instance-book.ts";

/** Within this time, an instance whose values can't be read is tried again. */
const TRIED_AGAIN_MS = 60_000;

/** As of an instance that waits for code that can read its values. */
interface ToldStatus {
  readonly status: string;
  readonly unreadable?: unknown;
}

/** Which processes have newer code: only they can read what they write, until all processes have it. */
export class VersionBook {
  /** Whether some processes have newer code. */
  mixed = false;
  /** Whether all processes have it now. */
  rolledOut = false;
  /** How often a process got a value that it can't read. */
  refusals = 0;
  readonly #world: World;
  readonly #book: InstanceBook;

  constructor(world: World, book: InstanceBook) {
    this.#world = world;
    this.#book = book;
  }

  isNewer(process: string | undefined): boolean {
    return this.mixed && process !== undefined && Number(process.slice(1)) % 2 === 0;
  }

  /** Whether this process can't read what newer ones write. */
  isOlder(process: string): boolean {
    return this.mixed && !this.rolledOut && !this.isNewer(process);
  }

  hasNewerParams({ n }: Pick<InstanceAccount, "n">): boolean {
    return n !== null && this.isNewer(this.#book.creates.get(n)?.process);
  }

  /** Whether a newer process has written the value of this entry of a journal. */
  isNewerEntry(account: InstanceAccount, run: number, position: number): boolean {
    const entry = account.runs.get(run)?.journal[position - 1];
    if (entry === undefined || entry.type !== "do" || entry.kind !== "completed" || entry.value === null) return false;
    return this.isNewer(entry.lock.split("#")[0]);
  }

  isNewerEvent(account: InstanceAccount, run: number, eventSequence: number): boolean {
    const event = account.runs.get(run)?.events.find(({ sequence }) => sequence === eventSequence);
    return event !== undefined && this.isNewer(event.process);
  }

  /** Whether its present run has a value that only newer code can read. */
  isUnreadable(account: InstanceAccount): boolean {
    const { journal, events } = runOf(account);
    return (
      this.hasNewerParams(account) ||
      journal.some((_, index) => this.isNewerEntry(account, account.run, index + 1)) ||
      events.some(({ sequence }) => this.isNewerEvent(account, account.run, sequence))
    );
  }

  /** Whether its last owner couldn't read it, and leaves it with all its events to other processes. */
  isHeldUp(account: InstanceAccount): boolean {
    return account.lock !== null && this.isOlder(account.lock.split("#")[0] as string) && this.isUnreadable(account);
  }

  /** What a status must say of an instance, if nothing happens to it meanwhile: compare with what it said before. */
  describe(account: InstanceAccount): string {
    const { journal, events } = runOf(account);
    const { state, run, held, lock, availableAt, paused, wakes } = account;
    return JSON.stringify([state, run, held, lock, availableAt, paused, wakes, journal.length, events.length]);
  }

  /** An operator who asks an older process learns why an instance waits. */
  told(process: string, account: InstanceAccount, before: string, { status, unreadable }: ToldStatus): void {
    if (!this.isOlder(process) || this.describe(account) !== before || status !== "waiting") return;
    const { availableAt, ref } = account;
    if (availableAt === null || availableAt > this.#world.now + TRIED_AGAIN_MS / 2) return;
    if (!this.isUnreadable(account) || unreadable !== undefined) return;
    this.#world.violate("operators are told why an instance waits", `${process} told nothing of ${ref}`);
  }
}
