import { StoreError } from "../../src/errors.ts";
import type { Moment } from "../simulation-options.ts";
import type { Lane, World } from "../world.ts";
import type { Fault, Faults } from "./faults.ts";
import type { SimulatedDatabase } from "./simulated-database.ts";

export interface WireOptions {
  readonly world: World;
  readonly database: SimulatedDatabase;
  readonly faults: Faults;
  readonly lane: Lane;
  /** Called when a call has arrived, when it is done, and when it was answered. */
  readonly interpose: ((call: string, moment: Moment) => Promise<void> | void) | undefined;
  /** Makes the process stand still for a while. */
  readonly stall: () => void;
  /** Ends the process. */
  readonly crash: (reason: string) => void;
}

/** A call that has arrived. */
export interface Sent {
  readonly fault: Fault;
  readonly sentAt: number;
}

const IN_TIME_MS = 1000;
/** How long a process waits for a claim. The database may still execute it later. */
const CLAIM_TIMEOUT_MS = 10_000;

/**
 * What lies between a process and the database: every call takes its time, and may go wrong in every way that a network allows.
 */
export class Wire {
  /** Whether all calls so far were answered in time. */
  unharmed = true;
  readonly #options: WireOptions;

  constructor(options: WireOptions) {
    this.#options = options;
  }

  crash(reason: string): void {
    this.#options.crash(reason);
  }

  /** A call that its process gives up when it takes too long. */
  claim<Result>(name: string, call: () => Promise<Result>, record: (result: Result) => void): Promise<Result> {
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.#options.world.note(this.#options.lane.name, `${name} is given up`);
        reject(unavailable());
      };
      this.call(name, call, record, giveUp).then(resolve, reject);
    });
  }

  async call<Result>(
    name: string,
    call: () => Promise<Result>,
    record: (result: Result) => void = () => {},
    giveUp?: () => void,
  ): Promise<Result> {
    const { world, database, lane, faults } = this.#options;
    const sent = await this.arrive(name, giveUp);
    const { fault } = sent;
    await this.#interpose(name, "arrived");
    if (lane.closed && this.#options.interpose !== undefined) return never();
    const breaks = fault === "broken" || fault === "crash-middle";
    try {
      const result = await database.run(call, record, breaks ? faults.statements() : null);
      world.note(lane.name, `${name} -> ${summary(result)}${fault === "none" ? "" : ` (${fault})`}`);
      await this.#interpose(name, "done");
      const answer = await this.reply(sent, result, unavailable);
      void this.#interpose(name, "answered");
      return answer;
    } catch (error) {
      world.note(lane.name, `${name} failed: ${error instanceof Error ? error.message : String(error)} (${fault})`);
      if (fault === "crash-middle") this.crash("in the middle of a call");
      return this.fail(error);
    }
  }

  /** While it lacks the right to write to journals. */
  refuseJournal(commits: readonly { readonly entries: readonly unknown[] }[]): void {
    const { world, database } = this.#options;
    if (world.now >= database.journalRefusedUntil || commits.every(({ entries }) => entries.length === 0)) return;
    this.unharmed = false;
    throw new StoreError("store.rejected", "simulated: no permission to write to journals", { transient: false });
  }

  async #interpose(name: string, moment: Moment): Promise<void> {
    await this.#options.interpose?.(name, moment);
  }

  /** The way there. Rejects if the database can't be reached; what a dead process has sent may arrive or not. */
  async arrive(name: string, giveUp?: () => void): Promise<Sent> {
    const { world, database, lane, faults } = this.#options;
    if (lane.closed) return never();
    const sent = { fault: faults.draw(), sentAt: world.now };
    const { fault } = sent;
    if (fault !== "none" || world.now < database.unavailableUntil) this.unharmed = false;
    if (fault === "stall") this.#options.stall();
    const diesWithProcess = world.random.chance(0.5);
    const way = fault === "late" ? faults.slowness() : faults.latency();
    if (giveUp !== undefined && way > CLAIM_TIMEOUT_MS) void world.delay(lane, CLAIM_TIMEOUT_MS).then(giveUp);
    await world.delay(database.lane, way);
    if (lane.closed && diesWithProcess) return never();
    if (fault === "crash-before") {
      this.crash(`before ${name}`);
      return never();
    }
    if (fault === "refused") {
      world.note(lane.name, `${name} is refused`);
      return this.fail(new StoreError("store.rejected", "simulated: refused", { transient: false }));
    }
    if (fault !== "unavailable" && world.now >= database.unavailableUntil) return sent;
    world.note(lane.name, `${name} failed: the database is away`);
    return this.fail(unavailable());
  }

  /** The way back. */
  async reply<Result>({ fault, sentAt }: Sent, result: Result, lost: () => StoreError): Promise<Result> {
    const { world, lane, faults } = this.#options;
    if (world.now - sentAt > IN_TIME_MS) this.unharmed = false;
    if (fault === "crash-after" || fault === "crash-middle") this.crash("before an answer");
    await world.delay(lane, fault === "slow" ? faults.slowness() : faults.latency());
    if (fault === "lost") throw lost();
    return result;
  }

  async fail(error: unknown): Promise<never> {
    const { world, lane, faults } = this.#options;
    await world.delay(lane, faults.latency());
    throw error;
  }
}

export function unavailable(): StoreError {
  return new StoreError("store.unavailable", "simulated: the connection broke", { transient: true });
}

export function never(): Promise<never> {
  return new Promise(() => {});
}

function summary(result: unknown): string {
  if (!Array.isArray(result)) return JSON.stringify(result);
  return `[${result.map((item) => describeItem(item)).join(", ")}]`;
}

function describeItem(item: unknown): string {
  if (typeof item !== "object" || item === null) return String(item);
  const { id, result, attempts, lock } = item as Record<string, unknown>;
  return [result, id, lock, attempts === undefined ? undefined : `attempt ${attempts}`]
    .filter((part) => part !== undefined)
    .join(" ");
}
