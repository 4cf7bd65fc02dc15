import type { EventInsert, EventInsertResult, NewEntry } from "../../src/store/instances/instance-records.ts";
import { decodeValue } from "../../src/values/index.ts";
import type { EventRecord } from "../checks/instance-records.ts";
import type { World } from "../world.ts";
import {
  type EventAccount,
  type InstanceAccount,
  isEnding,
  type RunAccount,
  runOf,
  stepOf,
} from "./instance-account.ts";
import type { InstanceBook } from "./instance-book.ts";

/** The ledger of events: each is received once, in the order of sending, or is still there. */
export class EventBook {
  readonly records: Map<number, EventRecord> = new Map();
  readonly #world: World;
  readonly #book: InstanceBook;
  /** Who had an instance when its events couldn't be read, by ref. */
  readonly #overlooked = new Map<string, string>();

  constructor(world: World, book: InstanceBook) {
    this.#world = world;
    this.#book = book;
  }

  sent(events: readonly EventInsert[], results: readonly EventInsertResult[]): void {
    for (const [index, event] of events.entries()) this.#sentOne(event, results[index] as EventInsertResult);
  }

  /** A wait has ended, or is written down. */
  entered(run: RunAccount, label: string, entry: NewEntry, deadline: number | null): void {
    const type = typeOfWait(entry.name);
    const first = run.events.find((event) => event.type === type && event.receivedBy === null);
    if (entry.kind === "received") this.#received(run, label, entry, first);
    if (entry.kind !== "timedOut" || first === undefined || deadline === null || first.at >= deadline) return;
    this.#violate("no event is lost", `${label} has timed out, although #${first.n} had come`);
  }

  /** The owner of an instance couldn't read its events: it gives the instance back for a while, with all of them. */
  overlooked(ref: string): void {
    const { held, lock } = this.#book.accounts.get(ref) ?? {};
    if (held === true && typeof lock === "string") this.#overlooked.set(ref, lock);
  }

  /**
   * An instance was parked by an owner that had seen everything up to `wakes`: none of the events that it waits for may be
   * stored.
   */
  parked(account: InstanceAccount, wakes: number): void {
    if (account.lock !== null && this.#overlooked.get(account.ref) === account.lock) return;
    const { journal, events } = runOf(account);
    const label = `${account.ref}/${account.run}`;
    for (const entry of journal) {
      if (entry.kind !== "waiting" || entry.type !== "waitForEvent") continue;
      const step = stepOf(entry);
      if (journal.some((one) => isEnding(one) && stepOf(one) === step)) continue;
      const event = events.find(({ type, receivedBy }) => type === typeOfWait(entry.name) && receivedBy === null);
      if (event === undefined || event.sequence > wakes || event.at > Number(entry.dueAt)) continue;
      this.#violate("no event is lost", `${label}/${step} waits on, although #${event.n} is there`);
    }
  }

  #received(
    { events }: RunAccount,
    label: string,
    { event: sequence }: NewEntry,
    first: EventAccount | undefined,
  ): void {
    const event = events.find((one) => one.sequence === sequence);
    if (event === undefined) return this.#violate("no event is made up", `${label} got ${sequence}`);
    if (event.receivedBy !== null) {
      return this.#violate("an event is received once", `#${event.n}: by ${event.receivedBy}, and by ${label}`);
    }
    if (event !== first) this.#violate("events come in their order", `${label} got #${event.n} before #${first?.n}`);
    event.receivedBy = label;
  }

  #sentOne(event: EventInsert, { result }: EventInsertResult): void {
    const { n } = decodeValue(event.payload) as { n: number };
    const record = this.records.get(n) as EventRecord;
    const account = this.#book.find(event);
    if (account === undefined) {
      if (result !== "missing") this.#violate("events are for what there is", `#${n} was ${result}`);
      return;
    }
    const finished = account.state !== "live";
    const { events } = runOf(account);
    const known = events.some(({ eventId }) => eventId === event.eventId);
    const pending = events.filter(({ receivedBy }) => receivedBy === null).length;
    const full = pending >= (event.maxPending ?? Number.POSITIVE_INFINITY);
    if (result !== (known ? "known" : finished ? "finished" : full ? "full" : "sent")) {
      this.#violate("an event that is sent again counts once", `#${n} is ${result}, as ${event.eventId}`);
      return;
    }
    if (result === "finished" || result === "full") return;
    record.holder = account;
    if (known) return;
    if (events.some((one) => one.process === record.process && one.n > n)) {
      this.#violate("events come in their order", `#${n} of ${record.process} was overtaken`);
    }
    const { process } = record;
    const { eventId, type } = event;
    this.arrived(account, { n, eventId, process, type });
  }

  /** An event was stored with an instance. */
  arrived(account: InstanceAccount, event: Pick<EventAccount, "n" | "eventId" | "process" | "type">): void {
    const { now } = this.#world;
    account.wakes++;
    runOf(account).events.push({ ...event, sequence: account.wakes, at: now, receivedBy: null });
    if (!account.held && !account.paused && account.started) {
      account.availableAt = Math.min(account.availableAt as number, now);
    }
    this.#book.touched.add(account.ref);
  }

  #violate(invariant: string, details: string): void {
    this.#world.violate(invariant, details);
  }
}

/** In simulated workflows the name of a wait begins with what it waits for. */
function typeOfWait(name: string): string {
  return name.split(" ")[0] as string;
}
