import type { Clock } from "../clock.ts";
import { pause } from "../clock.ts";
import { PerdureError, StoreError } from "../errors.ts";
import type { FlushMeter } from "../monitoring/meters/meter.ts";

export interface GroupCommitOptions<Item, Result> {
  readonly clock: Clock;
  /** Writes all items atomically, and returns a result for each. Sending it again must be harmless. */
  readonly flush: (items: Item[], sending: Sending) => Promise<Result[]>;
  readonly flushesInFlight: number;
  /** An item's size, counted against `maxRows` and `maxBytes`. */
  readonly measure: (item: Item) => { rows: number; bytes: number };
  readonly maxRows?: number;
  readonly maxBytes?: number;
  /** How long a flush is sent again while the database is unavailable, before its callers get the error. */
  readonly patienceMs?: number;
  /** Counts flushes, their sizes and their durations. */
  readonly meter?: FlushMeter;
}

export interface Sending {
  /** Whether the same items were sent before, so that the database may have written them. */
  readonly resent: boolean;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

const FIRST_RESEND_MS = 10;
const LONGEST_RESEND_MS = 500;

/**
 * One write for many callers. Calls during a flush go into the next one, so an idle database gets a write at once, and
 * a busy one gets batches that grow with the load.
 *
 * - A transient error sends the flush again, whole: its items carry their own ids.
 * - An error of the database as a whole fails every item of the flush.
 * - Any other error splits the flush in two, until the item that caused it fails alone.
 */
export class GroupCommit<Item, Result> {
  readonly #options: Required<Omit<GroupCommitOptions<Item, Result>, "meter">>;
  readonly #meter: FlushMeter | undefined;
  #queue: Waiting<Item, Result>[] = [];
  #inFlight = 0;
  #scheduled = false;
  #idle: (() => void)[] = [];

  constructor(options: GroupCommitOptions<Item, Result>) {
    this.#options = { maxRows: 500, maxBytes: 4 * 1024 * 1024, patienceMs: 30_000, ...options };
    this.#meter = options.meter;
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ item, resolve, reject });
      this.#schedule();
    });
  }

  /** Resolves when everything that was added has been written or has failed. */
  async idle(): Promise<void> {
    if (this.#queue.length === 0 && this.#inFlight === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** The flush starts at the end of this turn of the event loop, so that all calls of one turn go together. */
  #schedule(): void {
    if (this.#scheduled || this.#inFlight >= this.#options.flushesInFlight) return;
    this.#scheduled = true;
    this.#options.clock.defer(() => {
      this.#scheduled = false;
      if (this.#queue.length > 0 && this.#inFlight < this.#options.flushesInFlight) void this.#run(this.#takeBatch());
    });
  }

  async #run(batch: Waiting<Item, Result>[]): Promise<void> {
    this.#inFlight++;
    if (this.#queue.length > 0) this.#schedule();
    await this.#write(batch);
    this.#inFlight--;
    if (this.#queue.length > 0) {
      this.#schedule();
    } else if (this.#inFlight === 0) {
      for (const resolve of this.#idle.splice(0)) resolve();
    }
  }

  #takeBatch(): Waiting<Item, Result>[] {
    let rows = 0;
    let bytes = 0;
    let count = 0;
    for (const { item } of this.#queue) {
      const size = this.#options.measure(item);
      rows += size.rows;
      bytes += size.bytes;
      if (count > 0 && (rows > this.#options.maxRows || bytes > this.#options.maxBytes)) break;
      count++;
    }
    return this.#queue.splice(0, count);
  }

  async #write(batch: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#send(batch.map(({ item }) => item));
      for (let index = 0; index < batch.length; index++) batch[index]?.resolve(results[index] as Result);
    } catch (error) {
      if (batch.length === 1 || concernsAll(error)) {
        for (const waiting of batch) waiting.reject(error);
        return;
      }
      const middle = batch.length >> 1;
      await this.#write(batch.slice(0, middle));
      await this.#write(batch.slice(middle));
    }
  }

  async #send(items: Item[]): Promise<Result[]> {
    const { clock, flush, patienceMs } = this.#options;
    const giveUpAt = clock.monotonic() + patienceMs;
    let resent = false;
    for (let delay = FIRST_RESEND_MS; ; delay = Math.min(delay * 2, LONGEST_RESEND_MS)) {
      const startedAt = clock.monotonic();
      try {
        const results = await flush(items, { resent });
        this.#meter?.flushed(items.length, clock.monotonic() - startedAt);
        return results;
      } catch (error) {
        if (this.#meter !== undefined) this.#meter.failures++;
        if (!isTransient(error) || clock.monotonic() + delay > giveUpAt) throw error;
        await pause(clock, delay);
        resent = true;
      }
    }
  }
}

function isTransient(error: unknown): boolean {
  return error instanceof StoreError && error.transient;
}

/** An error of no item in particular: each would fail alone, too. */
function concernsAll(error: unknown): boolean {
  const codes = ["store.closed", "store.not_migrated"];
  return isTransient(error) || (error instanceof PerdureError && codes.includes(error.code));
}
