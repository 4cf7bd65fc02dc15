import type { NewEntry, WaitRequest, WaitResult } from "../../src/store/instances/instance-records.ts";
import { noticeId, noticeType } from "../../src/store/instances/instance-records.ts";
import { pathOf } from "../../src/workflows/execution/steps/step-path.ts";
import type { World } from "../world.ts";
import { type InstanceAccount, isEnding, type RunAccount, runOf, stepOf } from "./instance-account.ts";
import type { InstanceBook } from "./instance-book.ts";

/** Of what isn't an event of a caller's: it has no number. */
const NO_NUMBER = 0;

/** The ledger of runs that wait for the ends of instances: each end is told to all of them, once, in the same write. */
export class WaiterBook {
  readonly #world: World;
  readonly #book: InstanceBook;
  /** By the ref of the instance that is waited for. */
  readonly #waiters = new Map<string, WaitRequest["waiter"][]>();

  constructor(world: World, book: InstanceBook) {
    this.#world = world;
    this.#book = book;
  }

  awaited(requests: readonly WaitRequest[], results: readonly WaitResult[]): void {
    for (const [index, { instance, waiter }] of requests.entries()) {
      const account = this.#book.find(instance);
      const told = (results[index] as WaitResult).result;
      const expected = account === undefined ? "missing" : account.state === "live" ? "waiting" : "ended";
      if (told !== expected) this.#violate("ends are told as they are", `${instance.id} is ${expected}, not ${told}`);
      if (told !== "waiting" || account === undefined) continue;
      const waiters = this.#waiters.get(account.ref) ?? [];
      const known = waiters.some((one) => JSON.stringify(one) === JSON.stringify(waiter));
      if (!known) this.#waiters.set(account.ref, [...waiters, waiter]);
    }
  }

  /** An instance has ended, or was deleted before; the write says whom it woke. */
  ended({ ref, run }: InstanceAccount, woken: readonly string[] = []): void {
    const waiters = (this.#waiters.get(ref) ?? []).filter((waiter) => this.#isPresent(waiter));
    this.#waiters.delete(ref);
    const expected = waiters.map((waiter) => waiter.ref);
    if (expected.toSorted().join() !== woken.toSorted().join()) {
      this.#violate("an end wakes all who wait for it", `the end of ${ref} woke ${woken}, not ${expected}`);
    }
    for (const waiter of waiters) {
      const account = this.#book.accounts.get(waiter.ref) as InstanceAccount;
      const eventId = `${noticeId({ ref, run })} ${waiter.type}`;
      this.#book.events.arrived(account, { n: NO_NUMBER, eventId, process: "", type: waiter.type });
    }
  }

  /** A wait has ended: with the end that it was told of, or with one that it found. */
  entered({ events }: RunAccount, label: string, entry: NewEntry): void {
    if (entry.event === null) return;
    const event = events.find(({ sequence }) => sequence === entry.event);
    if (event?.type !== typeOf(entry)) return this.#violate("no event is made up", `${label} got ${entry.event}`);
    if (event.receivedBy !== null) this.#violate("an event is received once", `${event.type} by ${label}, again`);
    event.receivedBy = label;
  }

  /** An instance was parked by an owner that had seen everything up to `wakes`: no end that it waits for may be there. */
  parked(account: InstanceAccount, wakes: number): void {
    const { journal, events } = runOf(account);
    for (const entry of journal.filter(({ kind, type }) => kind === "waiting" && type === "result")) {
      if (journal.some((one) => isEnding(one) && stepOf(one) === stepOf(entry))) continue;
      const told = events.find(({ type, receivedBy }) => type === typeOf(entry) && receivedBy === null);
      if (told === undefined || told.sequence > wakes) continue;
      this.#violate(
        "no event is lost",
        `${account.ref}/${account.run}/${stepOf(entry)} waits on, although it was told of the end`,
      );
    }
  }

  #isPresent({ ref, run }: WaitRequest["waiter"]): boolean {
    const account = this.#book.accounts.get(ref);
    return account?.state === "live" && account.run === run;
  }

  #violate(invariant: string, details: string): void {
    this.#world.violate(invariant, details);
  }
}

function typeOf({ name, count }: Pick<NewEntry, "name" | "count">): string {
  return noticeType(pathOf({ type: "result", name, count, parent: null }));
}
